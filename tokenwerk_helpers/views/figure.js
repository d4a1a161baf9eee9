// A picture that Python draws: shows the newest PNG and tells Python the page's theme and the screen's density.
const isDark = () => document.body.dataset.jpThemeLight === "false";

// The picture's bytes within its address: fetching a blob takes Chromium 20 milliseconds more.
const base64 = (png) => {
  const bytes = new Uint8Array(png.buffer, png.byteOffset, png.byteLength);
  let text = "";
  for (let start = 0; start < bytes.length; start += 8192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(text);
};

function render({ model, el }) {
  const picture = document.createElement("img");
  picture.className = "tokenwerk-figure";
  picture.dataset.painted = "0";
  el.append(picture);

  const describe = () => {
    picture.alt = model.get("alt");
  };
  const paint = () => {
    const png = model.get("image");
    if (!png || png.byteLength === 0) return;
    picture.width = model.get("width");
    picture.src = `data:image/png;base64,${base64(png)}`;
  };
  const tell = () => {
    const page = { dark: isDark(), density: window.devicePixelRatio };
    if (Object.entries(page).every(([name, value]) => model.get(name) === value)) return;
    model.set(page);
    model.save_changes();
  };

  picture.onload = () => {
    picture.dataset.painted = String(Number(picture.dataset.painted) + 1);
  };
  model.on("change:image", paint);
  model.on("change:alt", describe);
  const theme = new MutationObserver(tell);
  theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  window.addEventListener("resize", tell); // zooming changes the density, too
  describe();
  paint();
  tell();

  return () => {
    theme.disconnect();
    window.removeEventListener("resize", tell);
    model.off("change:image", paint);
    model.off("change:alt", describe);
  };
}

export default { render };
