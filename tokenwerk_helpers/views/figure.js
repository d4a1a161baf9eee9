// A picture that Python draws: shows the newest PNG and tells Python which theme the page has.
const isDark = () => document.body.dataset.jpThemeLight === "false";

function render({ model, el }) {
  const picture = document.createElement("img");
  picture.className = "tokenwerk-figure";
  picture.dataset.painted = "0";
  el.append(picture);
  let address = null;

  const describe = () => {
    picture.alt = model.get("alt");
  };
  const paint = () => {
    const png = model.get("image");
    if (!png || png.byteLength === 0) return;
    const old = address;
    address = URL.createObjectURL(new Blob([png], { type: "image/png" }));
    picture.onload = () => {
      if (old) URL.revokeObjectURL(old);
      picture.dataset.painted = String(Number(picture.dataset.painted) + 1);
    };
    picture.width = model.get("width");
    picture.src = address;
  };
  const followTheme = () => {
    if (model.get("dark") === isDark()) return;
    model.set("dark", isDark());
    model.save_changes();
  };

  model.on("change:image", paint);
  model.on("change:alt", describe);
  const theme = new MutationObserver(followTheme);
  theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  describe();
  paint();
  followTheme();

  return () => {
    theme.disconnect();
    model.off("change:image", paint);
    model.off("change:alt", describe);
    if (address) URL.revokeObjectURL(address);
  };
}

export default { render };
