// A picture that Python draws: puts the pixels that have changed where they belong, in every view of the figure,
// and tells Python the page's theme and the screen's density.
const isDark = () => document.body.dataset.jpThemeLight === "false";

// A narrow page shrinks a picture so far and no further: its smallest type, of 10.7 pixels, stays above 9.
const SMALLEST = 0.85;

const showAsWide = (canvas, width) => {
  canvas.style.width = `${width}px`;
  canvas.style.minWidth = `${SMALLEST * width}px`;
};

// A copy, since words of 32 bits must start at a multiple of four and a message part need not.
const words = (part) => new Uint32Array(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));

export default () => {
  let picture = null; // what all views show; null until Python has sent a whole one
  const views = new Set();

  const paint = (canvas) => {
    if (!picture) return;
    const { width, height } = picture.pixels;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    showAsWide(canvas, width / picture.density); // a pixel drawn is a pixel of the screen, however odd
    canvas.getContext("2d").putImageData(picture.pixels, 0, 0);
    canvas.dataset.painted = String(Number(canvas.dataset.painted) + 1);
  };

  // `edges` holds begin and end of each run of changed pixels, `colours` the pixels of all runs in a row.
  const change = (edges, colours) => {
    const pixels = new Uint32Array(picture.pixels.data.buffer);
    let from = 0;
    for (let i = 0; i < edges.length; i += 2) {
      const upTo = from + edges[i + 1] - edges[i];
      pixels.set(colours.subarray(from, upTo), edges[i]);
      from = upTo;
    }
  };

  // A whole picture comes as the changes to a page of its paper's colour.
  const hear = ({ width, height, density, paper }, parts) => {
    if (paper !== null) {
      picture = { pixels: new ImageData(width, height) };
      new Uint32Array(picture.pixels.data.buffer).fill(paper);
    }
    if (!picture) return; // the whole one is under way
    picture.density = density;
    change(...parts.map(words));
    views.forEach(paint);
  };

  function initialize({ model }) {
    model.on("msg:custom", hear);
    model.send("all");
    return () => model.off("msg:custom", hear);
  }

  function render({ model, el }) {
    const canvas = document.createElement("canvas");
    canvas.className = "tokenwerk-figure";
    canvas.dataset.painted = "0";
    canvas.setAttribute("role", "img");
    Object.assign(canvas, { width: model.get("width"), height: model.get("height") });
    showAsWide(canvas, model.get("width"));
    el.classList.add("tokenwerk-picture"); // beyond that one scrolls
    el.append(canvas);
    el.lang = model.get("lang");

    const describe = () => canvas.setAttribute("aria-label", model.get("alt"));
    const tell = () => {
      const page = Object.entries({ dark: isDark(), density: window.devicePixelRatio });
      if (page.every(([name, value]) => model.get(name) === value)) return;
      for (const [name, value] of page) model.set(name, value);
      model.save_changes();
    };
    const point = () => canvas.classList.toggle("tokenwerk-clickable", model.get("clickable"));
    canvas.addEventListener("click", ({ offsetX, offsetY }) => {
      const { clientWidth, clientHeight } = canvas; // as shown: a narrow page shrinks the picture
      if (model.get("clickable")) model.send({ click: [offsetX / clientWidth, 1 - offsetY / clientHeight] });
    });
    model.on("change:alt", describe);
    model.on("change:clickable", point);
    const theme = new MutationObserver(tell);
    theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
    window.addEventListener("resize", tell); // zooming changes the density, too
    views.add(canvas);
    describe();
    point();
    paint(canvas);
    tell();

    return () => {
      views.delete(canvas);
      theme.disconnect();
      window.removeEventListener("resize", tell);
      model.off("change:alt", describe);
      model.off("change:clickable", point);
    };
  }

  return { initialize, render };
};
