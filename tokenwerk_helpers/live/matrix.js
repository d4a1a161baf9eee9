// One matrix, or several as small multiples, on one canvas. Python sends numbers, labels, colours and words;
// here they are laid out, painted, pointed at and clicked. Labels are only ever text, never HTML.
// The sizes it has in common with the still stand in matrix_sizes.py and are put before this text.

const HATCH_PITCH = 8;
const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// ---- numbers as text ------------------------------------------------------------------------------------

function special(value) {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "∞" : "−∞";
}

// Round half to even like Python's format(), so that picture, still and sentence agree: 0.125 -> 0.12.
// Exact for float32 numbers: 24 bits times 10 ** digits still fit into a double.
export function fixed(value, digits) {
  if (!Number.isFinite(value)) return special(value);
  const scaled = Math.abs(value) * 10 ** digits;
  if (scaled > 2 ** 52) return value.toExponential(digits).replace(/-/g, "−");
  let whole = Math.floor(scaled);
  const rest = scaled - whole;
  if (rest > 0.5 || (rest === 0.5 && whole % 2 === 1)) whole += 1;
  const text = (whole / 10 ** digits).toFixed(digits);
  return value < 0 && whole > 0 ? `−${text}` : text;
}

// A number for the line of words: two digits more than in the cell, and never a tiny one that reads as zero.
export function spoken(value, digits) {
  if (!Number.isFinite(value)) return special(value);
  if (value === 0) return "0";
  const more = (digits < 0 ? 2 : digits) + 2;
  if (Math.abs(value) >= 10 ** -more) return fixed(value, more);
  const [mantissa, exponent] = value.toExponential(1).split("e-");
  return `${mantissa.replace("-", "−")}·10⁻${[...exponent].map((digit) => SUPERSCRIPT[digit]).join("")}`;
}

function limitText(value, digits) {
  const text = fixed(value, Math.max(digits, 2));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function inWords(template, fields) {
  return template.replace(/\{(row|column|value|panel)\}/g, (_, name) => fields[name]);
}

// Letters as a reader sees them, so that a cut never splits an emoji or an umlaut of two code points.
function graphemes(text) {
  return Intl.Segmenter ? Array.from(new Intl.Segmenter().segment(text), (one) => one.segment) : [...text];
}

// ---- arrays from the wire -------------------------------------------------------------------------------

function bytesOf({ data }) {
  // A copy, since a Float32Array must start at a multiple of four and a message part need not.
  return ArrayBuffer.isView(data)
    ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
    : data.slice(0);
}

function rangeOf(values, allowed) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value) || (allowed && !allowed[i])) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? [0, 1] : [low, high];
}

// The range of the colours: as asked for, or that of all visible finite cells and zero. A diverging range is
// widened until zero is its middle. The still twin follows the same rule (matrix.py).
function colourLimits(asked, kind, values, allowed) {
  let [low, high] = asked ?? rangeOf(values, allowed);
  if (kind === "diverging") {
    const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return [-reach, reach];
  }
  if (asked) return asked;
  low = Math.min(low, 0);
  return [low, high > low ? high : low + 1];
}

// The mask, one byte for each cell of each panel; a mask of two axes holds for all panels.
function maskOf(wire, [panels, rows, columns]) {
  if (!wire) return null;
  const given = new Uint8Array(bytesOf(wire));
  const cells = rows * columns;
  if (given.length === panels * cells) return given;
  if (given.length !== cells) return null;
  const all = new Uint8Array(panels * cells);
  for (let panel = 0; panel < panels; panel++) all.set(given, panel * cells);
  return all;
}

// ---- layout: sizes and places in page pixels ------------------------------------------------------------

// How the column labels stand over cells of this size: flat if they fit, else tilted, thinned when crowded.
function columnLabels(widths, cell) {
  const widest = Math.max(...widths);
  if (widest <= cell - 4) return { size: LABEL_SIZE, angle: 0, step: 1, height: LABEL_SIZE + 3, overhang: 0 };
  const roomy = (LABEL_SIZE * 1.1) / Math.sin(Math.PI / 4) <= cell;
  const size = roomy ? LABEL_SIZE : SMALL_LABEL_SIZE;
  const scale = size / LABEL_SIZE;
  if (widest <= FLAT_LABELS) {
    return { size, angle: 0, step: Math.ceil((widest * scale + 5) / cell), height: size + 3, overhang: 0 };
  }
  const angle = roomy ? Math.PI / 4 : Math.PI / 3;
  const step = Math.ceil((size * 1.1) / Math.sin(angle) / cell);
  const kept = widths.map((width, column) => (column % step ? 0 : width * scale));
  const reach = kept.map((width, column) => width * Math.cos(angle) - (widths.length - column - 0.5) * cell);
  return {
    size, angle, step,
    height: Math.max(...kept) * Math.sin(angle) + size * 0.7,
    overhang: Math.max(0, ...reach) + size * 0.4,
  };
}

// Panels in lines of `perLine`, with the largest cells that fit.
function fit(spec, perLine, width, ratio, left) {
  const { panels, rows, columns } = spec;
  const lines = Math.ceil(panels / perLine);
  const headerOver = (height) =>
    (spec.titled ? TITLE_SIZE + 6 : 0) + Math.max(height, CAPTION_LINE * spec.captions.length) + 6;
  let labels = { height: LABEL_SIZE, overhang: 0 };
  let cell, gap, header;
  // Cells depend on the room labels take, labels on the size of the cells: settle in a few rounds.
  for (let round = 0; round < 4; round++) {
    gap = Math.max(GAP, labels.overhang + 4);
    header = headerOver(labels.height);
    const free = width - left - PADDING - labels.overhang - (perLine - 1) * gap;
    const across = free / (perLine * columns.length);
    const down = (spec.maxHeight - lines * (header + GAP)) / (lines * rows.length);
    const labelled = lines * (header + GAP + rows.length * LABELLED_CELL) <= STRETCH * spec.maxHeight;
    cell = Math.min(spec.maxCell, across, Math.max(down, labelled ? LABELLED_CELL : 4));
    cell = Math.max(SMALLEST_CELL, Math.floor(cell * ratio) / ratio);
    labels = columnLabels(columns, cell);
  }
  gap = Math.max(GAP, labels.overhang + 4);
  // A title wider than its panel sets the panels further apart.
  const pitch = Math.max(columns.length * cell + gap, spec.titleWidth + GAP);
  const last = Math.max(columns.length * cell, spec.titleWidth) + labels.overhang + PADDING;
  const right = left + (perLine - 1) * pitch + last;
  return { perLine, lines, cell, labels, header: headerOver(labels.height), pitch, left, right };
}

function isBetter(one, other, width) {
  const [tooWide, otherTooWide] = [one, other].map(({ right }) => Math.max(0, right - width - 0.5));
  if (tooWide !== otherTooWide) return tooWide < otherTooWide;
  if (one.cell !== other.cell) return one.cell > other.cell;
  // Of equal cells the fewest lines; of equal lines the fullest last one: 4 + 4 rather than 5 + 3.
  return one.lines < other.lines || (one.lines === other.lines && one.perLine < other.perLine);
}

// `spec`: panels, rows and columns (label widths), captions (widths), titled, titleWidth, maxCell, maxHeight.
export function layout(spec, width, ratio) {
  const left = PADDING + Math.max(...spec.rows, ...spec.captions) + 7;
  let best = null;
  for (let perLine = 1; perLine <= spec.panels; perLine++) {
    const plan = fit(spec, perLine, width, ratio, left);
    if (!best || isBetter(plan, best, width)) best = plan;
  }
  const { cell, perLine, lines, pitch, header, labels } = best;
  const [panelWidth, panelHeight] = [spec.columns.length * cell, spec.rows.length * cell];
  const snap = (length) => Math.round(length * ratio) / ratio;
  const places = Array.from({ length: spec.panels }, (_, panel) => ({
    x: snap(left + (panel % perLine) * pitch),
    y: snap(PADDING + header + Math.floor(panel / perLine) * (header + panelHeight + GAP)),
  }));
  const bottom = places[places.length - 1].y + panelHeight;
  const rowSize = cell >= LABEL_SIZE + 1 ? LABEL_SIZE : SMALL_LABEL_SIZE;
  return {
    ...best, places, panelWidth, panelHeight, bottom, rowSize,
    rowStep: Math.ceil((rowSize * 1.08) / cell),
  };
}

// ---- colours --------------------------------------------------------------------------------------------

// The 256 colours as pixels of ImageData (little endian: alpha, blue, green, red).
function pixelsOf(table) {
  const bytes = new Uint8Array(bytesOf({ data: table }));
  return Uint32Array.from({ length: bytes.length / 3 }, (_, i) =>
    (255 << 24) | (bytes[3 * i + 2] << 16) | (bytes[3 * i + 1] << 8) | bytes[3 * i]);
}

// All colours of a table in a row, for the legend.
function stripOf(pixels) {
  const strip = Object.assign(document.createElement("canvas"), { width: pixels.length, height: 1 });
  const pen = strip.getContext("2d");
  const image = pen.createImageData(pixels.length, 1);
  new Uint32Array(image.data.buffer).set(pixels);
  pen.putImageData(image, 0, 0);
  return strip;
}

function colourIndex(value, [low, high]) {
  return Math.min(255, Math.max(0, Math.floor(((value - low) / (high - low)) * 256)));
}

function hatchPattern(context, colour, ratio) {
  const tile = document.createElement("canvas");
  const size = (tile.width = tile.height = Math.round(HATCH_PITCH * ratio));
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = 0.9 * ratio;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

// Only every `step`-th label has room. One in the foreground is always shown, and those around it make way.
function isLeftOut(index, step, foreground) {
  for (const strong of foreground) {
    if (strong === index) return false;
    if (strong >= 0 && Math.abs(strong - index) < step) return true;
  }
  return index % step !== 0;
}

const isDark = () => document.body.dataset.jpThemeLight === "false";

// ---- the view -------------------------------------------------------------------------------------------

const LAYOUT_TRAITS = ["rows", "columns", "titles", "row_axis", "column_axis", "masked_legend", "digits",
  "kind", "cell_size", "max_height", "legend"];
const WORD_TRAITS = ["words", "masked_words", "hint", "alt", "editable", "_clickable"];

class Matrix {
  constructor(model, el) {
    this.model = model;
    this.cursor = null; // { panel, row, column }
    this.widths = new Map();
    this.cuts = new Map();
    this.build(el);
    this.cells = document.createElement("canvas"); // one pixel for each cell
    this.queued = this.waiting = this.everything = false;
    this.ends = [];
    this.listen();
    this.describe();
    this.readArrays();
    this.readTheme();
  }

  build(el) {
    el.classList.add("tokenwerk-matrix");
    const add = (tag, name) => {
      const node = document.createElement(tag);
      node.className = name;
      el.append(node);
      return node;
    };
    this.root = el;
    this.canvas = add("canvas", "tokenwerk-matrix-canvas");
    this.canvas.dataset.painted = "0";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.readout = add("div", "tokenwerk-matrix-readout");
    this.help = add("span", "tokenwerk-matrix-unseen");
    // Each model has this module for itself, so that counting would give every view the same number.
    this.help.id = `tokenwerk-matrix-help-${Math.random().toString(36).slice(2)}`;
    this.canvas.setAttribute("aria-describedby", this.help.id);
    this.voice = add("div", "tokenwerk-matrix-unseen");
    this.voice.setAttribute("aria-live", "polite");
    this.pen = this.canvas.getContext("2d", { alpha: false });
  }

  on(target, event, handler, options) {
    target.addEventListener(event, handler, options);
    this.ends.push(() => target.removeEventListener(event, handler, options));
  }

  listenToModel(names, handler) {
    for (const name of names) {
      this.model.on(`change:${name}`, handler);
      this.ends.push(() => this.model.off(`change:${name}`, handler));
    }
  }

  listen() {
    this.listenToModel(["values", "allowed", "limits"], () => this.readArrays());
    this.listenToModel(["selected", "marked"], () => this.repaint(true));
    this.listenToModel(LAYOUT_TRAITS, () => this.rearrange());
    this.listenToModel(WORD_TRAITS, () => this.describe());
    this.on(this.canvas, "pointerdown", ({ pointerType }) => (this.pointer = pointerType));
    this.on(this.canvas, "pointermove", (event) => event.pointerType !== "touch" && this.hover(this.cellAt(event)));
    this.on(this.canvas, "pointerleave", (event) => event.pointerType === "mouse" && this.hover(null));
    this.on(this.canvas, "blur", () => this.hover(null));
    this.on(this.canvas, "click", (event) => {
      if (["touch", "pen"].includes(this.pointer)) this.tap(this.cellAt(event));
      else this.click(this.cellAt(event));
    });
    // Before JupyterLab, whose own arrow keys would walk from cell to cell of the notebook.
    this.on(window, "keydown", (event) => this.key(event), true);
    const theme = new MutationObserver(() => this.readTheme());
    theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
    const size = new ResizeObserver(() => this.resize());
    size.observe(this.root);
    this.ends.push(() => theme.disconnect(), () => size.disconnect(), () => this.unwatchRatio?.());
    this.watchRatio();
  }

  // Screens differ in density, and a window can be dragged from one to the other.
  watchRatio() {
    const query = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    const changed = () => {
      this.unwatchRatio();
      this.watchRatio();
      this.rearrange();
    };
    query.addEventListener("change", changed);
    this.unwatchRatio = () => query.removeEventListener("change", changed);
  }

  end() {
    this.ended = true;
    for (const end of this.ends) end();
  }

  // ---- what Python says ---------------------------------------------------------------------------------

  readArrays() {
    const wire = this.model.get("values");
    const before = String(this.shape);
    this.shape = wire.shape;
    if (this.cursor && !this.isInside(this.cursor)) this.cursor = null;
    this.values = new Float32Array(bytesOf(wire));
    this.allowed = maskOf(this.model.get("allowed"), this.shape);
    const masked = this.allowed !== null;
    if (before !== String(this.shape) || masked !== this.masked) {
      this.masked = masked;
      this.rearrange();
    } else {
      this.repaint(false);
    }
  }

  readTheme() {
    const { neutral, tables } = this.model.get("_appearance")[isDark() ? "dark" : "light"];
    this.colours = neutral;
    this.tables = {};
    for (const [kind, { table, white }] of Object.entries(tables)) {
      const pixels = pixelsOf(table);
      const inks = Array.from(new Uint8Array(bytesOf({ data: white })), (is) => (is ? "#ffffff" : "#000000"));
      this.tables[kind] = { pixels, inks, strip: stripOf(pixels) };
    }
    this.pattern = null;
    this.repaint(true);
  }

  describe() {
    this.canvas.setAttribute("aria-label", this.model.get("alt"));
    this.help.textContent = this.model.get("hint");
    this.canvas.classList.toggle("tokenwerk-matrix-clickable", this.hasCellsToClick);
    this.say();
  }

  isInside({ panel, row, column }) {
    return panel < this.shape[0] && row < this.shape[1] && column < this.shape[2];
  }

  label(axis, index) {
    return this.model.get(axis)[index] ?? String(index + 1);
  }

  sentence({ panel, row, column }) {
    const [, rows, columns] = this.shape;
    const index = (panel * rows + row) * columns + column;
    const hidden = this.allowed && !this.allowed[index];
    return inWords(this.model.get(hidden ? "masked_words" : "words"), {
      row: this.label("rows", row),
      column: this.label("columns", column),
      value: spoken(this.values[index], this.model.get("digits")),
      panel: this.model.get("titles")[panel] ?? String(panel + 1),
    });
  }

  // ---- where the cursor is ------------------------------------------------------------------------------

  cellAt(event) {
    if (!this.plan) return null;
    const { places, panelWidth, panelHeight, cell, perLine } = this.plan;
    for (const [panel, { x, y }] of places.entries()) {
      const [column, row] = [Math.floor((event.offsetX - x) / cell), Math.floor((event.offsetY - y) / cell)];
      const inside = event.offsetX < x + panelWidth && event.offsetY >= y && event.offsetY < y + panelHeight;
      if (inside && column >= 0) return { panel, row, column };
      // On the labels of a line: a row without a column.
      if (inside && panel % perLine === 0) return { panel, row, column: -1 };
    }
    return null;
  }

  // What is merely hovered is not read out; what keys reach and clicks change is.
  hover(cursor) {
    if (JSON.stringify(cursor) !== JSON.stringify(this.cursor)) this.aloud = false;
    this.point(cursor);
  }

  point(cursor) {
    if (JSON.stringify(cursor) === JSON.stringify(this.cursor)) return;
    this.cursor = cursor;
    this.say();
    this.repaint(true);
  }

  say() {
    const pointed = this.cursor && this.cursor.column >= 0;
    const text = pointed ? this.sentence(this.cursor) : this.model.get("hint");
    if (text !== this.readout.textContent) this.readout.textContent = text;
    if (this.aloud && text !== this.voice.textContent) this.voice.textContent = text;
  }

  key(event) {
    if (event.composedPath()[0] !== this.canvas || event.altKey || event.metaKey) return;
    if (!this.act(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // Do what this key means; false if it means nothing here.
  act({ key, ctrlKey, shiftKey }) {
    const isAct = key === "Enter" || key === " ";
    if (key === "Escape") return this.escape();
    if (isAct && (ctrlKey || (shiftKey && key === "Enter"))) return false; // these run the notebook's cell
    if (isAct) {
      if (!this.cursor) this.move("Home", false);
      this.click(shiftKey ? { ...this.cursor, column: -1 } : this.cursor);
      return true;
    }
    return this.move(key, ctrlKey);
  }

  escape() {
    if (this.model.get("selected") < 0 && !this.cursor) return false;
    this.select(-1);
    this.point(null);
    return true;
  }

  move(key, far) {
    const [panels, rows, columns] = this.shape;
    const start = this.cursor && this.cursor.column >= 0 ? this.cursor : null;
    let { panel, row, column } = start ?? { panel: 0, row: 0, column: 0 };
    const go = {
      ArrowUp: () => (row -= 1),
      ArrowDown: () => (row += 1),
      ArrowLeft: () => (column -= 1),
      ArrowRight: () => (column += 1),
      PageUp: () => (panel -= 1),
      PageDown: () => (panel += 1),
      Home: () => ((column = 0), far && (row = 0)),
      End: () => ((column = columns - 1), far && (row = rows - 1)),
    }[key];
    if (!go || (far && !["Home", "End"].includes(key))) return false;
    if (panels === 1 && key.startsWith("Page")) return false; // leave scrolling to the page
    if (start) go(); // the first key only shows where the cursor is
    // Over the edge lies the neighbouring panel.
    if (column < 0 && panel > 0) [panel, column] = [panel - 1, columns - 1];
    if (column >= columns && panel < panels - 1) [panel, column] = [panel + 1, 0];
    const within = (index, length) => Math.min(length - 1, Math.max(0, index));
    this.aloud = true;
    this.point({ panel: within(panel, panels), row: within(row, rows), column: within(column, columns) });
    return true;
  }

  // Does a click on a cell mean that cell? If not, it means the cell's row.
  get hasCellsToClick() {
    return this.model.get("editable") || this.model.get("_clickable");
  }

  click(cursor) {
    if (!cursor) return;
    if (cursor.column < 0 || !this.hasCellsToClick) {
      this.select(this.model.get("selected") === cursor.row ? -1 : cursor.row);
      return;
    }
    this.aloud = true;
    if (this.model.get("editable")) this.toggle(cursor);
    else this.model.send({ click: [cursor.panel, cursor.row, cursor.column] });
  }

  // Without a mouse a tap points and clicks at once. Another cell of the selected row is only pointed at.
  tap(cell) {
    const isNew = JSON.stringify(cell) !== JSON.stringify(this.cursor);
    const isWalk = isNew && cell?.column >= 0 && !this.hasCellsToClick;
    this.aloud = true;
    this.point(cell);
    if (!isWalk || this.model.get("selected") !== cell.row) this.click(cell);
  }

  select(row) {
    if (this.model.get("selected") === row) return;
    this.model.set("selected", row);
    this.model.save_changes();
  }

  // Allow a hidden cell, hide an allowed one; Python receives the whole new mask.
  toggle({ panel, row, column }) {
    const [panels, rows, columns] = this.shape;
    const wire = this.model.get("allowed");
    const shape = wire ? wire.shape : [rows, columns];
    const data = wire ? new Uint8Array(bytesOf(wire)) : new Uint8Array(rows * columns).fill(1);
    const layer = shape.length === 3 ? Math.min(panel, panels - 1) : 0;
    data[(layer * rows + row) * columns + column] ^= 1;
    this.model.set("allowed", { shape, data });
    this.model.save_changes();
  }

  // ---- layout -------------------------------------------------------------------------------------------

  rearrange() {
    this.plan = null;
    this.repaint(true);
  }

  resize() {
    if (this.root.clientWidth !== this.width || this.missed) this.rearrange();
  }

  // To set a canvas's font costs as much as to write a number, even where it is the same.
  useFont(size, weight = "") {
    const font = `${weight} ${size * this.ratio}px ${this.family}`;
    if (font !== this.fontInUse) this.pen.font = this.fontInUse = font;
  }

  // Width of a text in page pixels at label size.
  measure(text, weight = "") {
    const key = weight + text;
    if (!this.widths.has(key)) {
      this.useFont(LABEL_SIZE, weight);
      this.widths.set(key, this.pen.measureText(text).width / this.ratio);
    }
    return this.widths.get(key);
  }

  // The text, or as much of it as fits and an ellipsis; the whole text stands in the line of words.
  cut(text, room) {
    if (this.measure(text) <= room) return text;
    const key = `${room} ${text}`;
    if (!this.cuts.has(key)) {
      const letters = graphemes(text.slice(0, 200));
      while (letters.length > 1 && this.measure(`${letters.join("")}…`) > room) letters.pop();
      this.cuts.set(key, `${letters.join("")}…`);
    }
    return this.cuts.get(key);
  }

  arrange() {
    const style = getComputedStyle(this.root);
    this.width = this.root.clientWidth;
    if (this.ratio !== window.devicePixelRatio || this.family !== style.fontFamily) {
      [this.ratio, this.family] = [window.devicePixelRatio, style.fontFamily];
      this.pattern = null;
      this.widths.clear();
      this.cuts.clear();
    }
    const [panels, rows, columns] = this.shape;
    const room = Math.min(panels > 1 ? LONGEST_SHARED_LABEL : LONGEST_LABEL, this.width * 0.22);
    const titles = this.model.get("titles");
    const texts = (axis, length) => Array.from({ length }, (_, i) => this.cut(this.label(axis, i), room));
    this.texts = { rows: texts("rows", rows), columns: texts("columns", columns) };
    const axis = (name, arrow) => (this.model.get(name) ? `${this.model.get(name)} ${arrow}` : "");
    this.captions = [axis("column_axis", "→"), axis("row_axis", "↓")].filter((caption) => caption);
    this.plan = layout({
      panels,
      rows: this.texts.rows.map((text) => this.measure(text, "700")), // room to become bold
      columns: this.texts.columns.map((text) => this.measure(text)),
      titled: titles.some((title) => title),
      titleWidth: Math.max(0, ...titles.map((title) => this.measure(title, "600") * 1.1)), // in larger type
      captions: this.captions.map((caption) => this.measure(caption)),
      maxCell: this.model.get("cell_size"),
      maxHeight: this.model.get("max_height"),
    }, this.width, this.ratio);
    this.arrangeLegend();
    this.arrangeCanvas();
  }

  arrangeLegend() {
    const { left, bottom, right } = this.plan;
    const text = this.masked || this.model.get("editable") ? this.model.get("masked_legend") : "";
    const room = 2 * 45 + BAR_WIDTH; // the bar and its limits
    const beside = left + room + 40 + this.measure(text) <= Math.max(this.width, right) - PADDING;
    const x = left + room - 45 <= this.width ? left : PADDING;
    const [barY, maskY] = [bottom + 16, bottom + (beside ? 16 : 36)];
    const shown = this.model.get("legend");
    this.legend = { shown, x, barY, maskY, text, maskX: beside ? x + room : x };
    this.plan.height = shown ? (text ? maskY : barY) + 14 + PADDING : bottom + PADDING;
    const needed = text ? this.legend.maskX + 26 + this.measure(text) : x + room;
    this.plan.fullWidth = Math.ceil(Math.max(right, shown ? needed + PADDING : 0));
  }

  arrangeCanvas() {
    const { fullWidth, height } = this.plan;
    this.fontInUse = null; // a canvas of new size has forgotten it
    this.canvas.width = Math.round(fullWidth * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.canvas.style.width = `${this.canvas.width / this.ratio}px`;
    this.canvas.style.height = `${this.canvas.height / this.ratio}px`;
    // Where a test, or a reader's own script, finds the cells.
    this.canvas.dataset.cell = this.plan.cell;
    this.canvas.dataset.places = JSON.stringify(this.plan.places);
  }

  // ---- painting -----------------------------------------------------------------------------------------

  // Paint at once if this frame has not been painted yet, else once in the next: no frame is painted twice,
  // and none is lost waiting. `everything` is false when only the cells have changed.
  repaint(everything) {
    this.everything ||= everything;
    if (this.queued) return;
    this.queued = true;
    queueMicrotask(() => this.resting !== false && this.paint());
  }

  paint() {
    this.queued = false;
    if (this.ended) return;
    // Not on the page now: painted when it comes back. That may be before the next frame (JupyterLab hides
    // the page for a moment when it changes its theme), which a ResizeObserver never learns.
    const retry = !this.root.clientWidth && !this.missed;
    this.missed = !this.root.clientWidth;
    if (retry) requestAnimationFrame(() => this.resize());
    if (this.missed) return;
    this.resting = false;
    requestAnimationFrame(() => {
      this.resting = true;
      if (this.queued) this.paint();
    });
    if (!this.plan) this.arrange();
    this.say();
    this.limits = colourLimits(this.model.get("limits"), this.model.get("kind"), this.values, this.allowed);
    this.pattern ??= hatchPattern(this.pen, this.colours.masked, this.ratio);
    if (this.everything) this.paintSurroundings();
    this.everything = false;
    this.paintPanels();
    if (this.legend.shown) this.paintLegend();
    this.canvas.dataset.painted = String(Number(this.canvas.dataset.painted) + 1);
  }

  fill(colour, ...area) {
    this.pen.fillStyle = colour;
    this.pen.fillRect(...area.map((length) => Math.round(length * this.ratio)));
  }

  write(text, x, y, { size = LABEL_SIZE, weight = "", align = "left", colour = this.colours.ink } = {}) {
    this.useFont(size, weight);
    this.pen.textAlign = align;
    this.pen.fillStyle = colour;
    this.pen.fillText(text, x * this.ratio, y * this.ratio);
  }

  // Titles, axes and labels: all that stays when only numbers change.
  paintSurroundings() {
    this.pen.textBaseline = "alphabetic";
    this.fill(this.colours.paper, 0, 0, this.plan.fullWidth + 1, this.plan.height + 1);
    for (const [panel, { x, y }] of this.plan.places.entries()) {
      const first = panel % this.plan.perLine === 0;
      const top = y - this.plan.header;
      const title = this.model.get("titles")[panel];
      if (title) this.write(title, x, top + TITLE_SIZE - 1, { size: TITLE_SIZE, weight: "600" });
      if (first) this.paintRowLabels(panel, x - 7, y);
      this.paintColumnLabels(panel, x, y - 7);
    }
  }

  paintRowLabels(panel, right, y) {
    const { cell, rowSize, rowStep, perLine } = this.plan;
    const soft = { colour: this.colours.soft, align: "right" };
    for (const [line, caption] of [...this.captions].reverse().entries()) {
      this.write(caption, right, y - 8 - line * CAPTION_LINE, soft);
    }
    const isLine = this.cursor && Math.floor(this.cursor.panel / perLine) === Math.floor(panel / perLine);
    const [pointed, selected] = [isLine ? this.cursor.row : -1, this.model.get("selected")];
    for (const [row, text] of this.texts.rows.entries()) {
      const strong = row === pointed || row === selected;
      if (isLeftOut(row, rowStep, [pointed, selected])) continue;
      const baseline = y + (row + 0.5) * cell + rowSize * 0.36;
      this.write(text, right, baseline, { size: rowSize, align: "right", weight: strong ? "700" : "" });
    }
  }

  paintColumnLabels(panel, x, y) {
    const { cell, labels } = this.plan;
    const strong = this.cursor && this.cursor.panel === panel ? this.cursor.column : -1;
    for (const [column, text] of this.texts.columns.entries()) {
      if (isLeftOut(column, labels.step, [strong])) continue;
      this.columnLabel(text, x + (column + 0.5) * cell, y, column === strong ? "700" : "");
    }
  }

  columnLabel(text, x, y, weight) {
    const { size, angle } = this.plan.labels;
    if (!angle) {
      this.write(text, x, y, { size, weight, align: "center" });
      return;
    }
    const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
    // The middle of the first letter stands over the middle of the cell.
    const [startX, startY] = [x + size * 0.35 * sin, y];
    this.pen.setTransform(cos, -sin, sin, cos, startX * this.ratio, startY * this.ratio);
    this.write(text, 0, 0, { size, weight });
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
  }

  paintPanels() {
    this.pen.textBaseline = "alphabetic";
    const print = this.printSize();
    for (const [panel, place] of this.plan.places.entries()) {
      this.paintCells(panel, place);
      if (this.allowed) this.paintMask(panel, place);
      if (this.plan.cell >= GRID_FROM) this.paintGrid(place);
      this.paintFrame(place);
      this.paintPrint(panel, place, print);
      this.paintMarks(panel, place);
    }
  }

  cellBlank(index) {
    return !Number.isFinite(this.values[index]) || (this.allowed !== null && !this.allowed[index]);
  }

  // One pixel for each cell, then enlarged without smoothing: as quick for 64 x 64 cells as for four.
  paintCells(panel, { x, y }) {
    const [, rows, columns] = this.shape;
    if (this.cells.width !== columns || this.cells.height !== rows) {
      [this.cells.width, this.cells.height] = [columns, rows];
      this.image = null;
    }
    const pen = (this.cellPen ??= this.cells.getContext("2d"));
    this.image ??= pen.createImageData(columns, rows);
    const pixels = new Uint32Array(this.image.data.buffer);
    const table = this.tables[this.model.get("kind")].pixels;
    const offset = panel * rows * columns;
    for (let i = 0; i < pixels.length; i++) {
      pixels[i] = this.cellBlank(offset + i) ? 0 : table[colourIndex(this.values[offset + i], this.limits)];
    }
    pen.putImageData(this.image, 0, 0);
    this.fill(this.colours.blank, x, y, this.plan.panelWidth, this.plan.panelHeight);
    this.stretch(this.cells, x, y, this.plan.panelWidth, this.plan.panelHeight);
  }

  stretch(image, ...area) {
    this.pen.imageSmoothingEnabled = false;
    this.pen.drawImage(image, ...area.map((length) => Math.round(length * this.ratio)));
  }

  // Hidden cells as hatched paper, neighbours in a row at one stroke.
  paintMask(panel, { x, y }) {
    const [, rows, columns] = this.shape;
    const { cell } = this.plan;
    for (let row = 0; row < rows; row++) {
      const start = (panel * rows + row) * columns;
      for (let column = 0; column < columns; column++) {
        if (this.allowed[start + column]) continue;
        const from = column;
        while (column + 1 < columns && !this.allowed[start + column + 1]) column++;
        const area = [x + from * cell, y + row * cell, (column - from + 1) * cell, cell];
        this.fill(this.colours.paper, ...area);
        this.fill(this.pattern, ...area);
      }
    }
  }

  paintGrid({ x, y }) {
    const [, rows, columns] = this.shape;
    const { cell, panelWidth, panelHeight } = this.plan;
    const thin = Math.max(1, Math.round(this.ratio)) / this.ratio;
    for (let column = 1; column < columns; column++) {
      this.fill(this.colours.grid, x + column * cell - thin, y, thin, panelHeight);
    }
    for (let row = 1; row < rows; row++) {
      this.fill(this.colours.grid, x, y + row * cell - thin, panelWidth, thin);
    }
  }

  outline(colour, x, y, width, height, thickness) {
    const r = this.ratio;
    const line = Math.max(1, Math.round(thickness * r)) / r;
    this.fill(colour, x - line, y - line, width + 2 * line, line);
    this.fill(colour, x - line, y + height, width + 2 * line, line);
    this.fill(colour, x - line, y, line, height);
    this.fill(colour, x + width, y, line, height);
  }

  paintFrame({ x, y }) {
    this.outline(this.colours.frame, x, y, this.plan.panelWidth, this.plan.panelHeight, 1);
  }

  // The type size at which the longest number fits into a cell; 0 if none is readable.
  printSize() {
    const digits = this.model.get("digits");
    if (digits < 0) return 0;
    // The longest number is the smallest or the largest; all digits are as wide as a zero.
    const texts = rangeOf(this.values, this.allowed).map((value) => fixed(value, digits).replace(/\d/g, "0"));
    const width = Math.max(...texts.map((text) => this.measure(text)));
    const size = Math.min(PRINT_SIZE, (LABEL_SIZE * (this.plan.cell - 5)) / width);
    return size >= SMALLEST_PRINT ? size : 0;
  }

  paintPrint(panel, { x, y }, size) {
    const [, rows, columns] = this.shape;
    const { cell } = this.plan;
    const { inks } = this.tables[this.model.get("kind")];
    const digits = this.model.get("digits");
    this.pen.textAlign = "center";
    for (let row = 0, index = panel * rows * columns; row < rows; row++) {
      for (let column = 0; column < columns; column++, index++) {
        const value = this.values[index];
        if ((this.allowed && !this.allowed[index]) || (!size && Number.isFinite(value))) continue;
        const [left, top] = [x + column * cell, y + row * cell];
        if (!Number.isFinite(value)) this.printSpecial(value, left, top);
        else this.print(fixed(value, digits), left, top, size, inks[colourIndex(value, this.limits)]);
      }
    }
  }

  printSpecial(value, x, y) {
    const size = Math.min(PRINT_SIZE * 1.2, this.plan.cell * 0.36);
    if (size < 6) this.drawSpecial(value, x, y);
    else this.print(special(value), x, y, size, this.colours.ink);
  }

  // Centred in a cell whose last pixel belongs to the grid.
  print(text, x, y, size, colour) {
    this.useFont(size);
    this.pen.fillStyle = colour;
    const half = this.plan.cell / 2 - 0.5;
    this.pen.fillText(text, (x + half) * this.ratio, (y + half + size * 0.36) * this.ratio);
  }

  // A small cell without a number: a bar for minus infinity, a plus for infinity, a cross for "not a number".
  drawSpecial(value, x, y) {
    const [{ cell }, r] = [this.plan, this.ratio];
    const [middleX, middleY, arm] = [(x + cell / 2) * r, (y + cell / 2) * r, cell * 0.28 * r];
    this.pen.strokeStyle = this.colours.ink;
    this.pen.lineWidth = Math.max(1, r * 0.8);
    this.pen.beginPath();
    const lean = Number.isNaN(value) ? arm : 0;
    this.pen.moveTo(middleX - arm, middleY - lean);
    this.pen.lineTo(middleX + arm, middleY + lean);
    if (value !== -Infinity) {
      this.pen.moveTo(middleX + lean, middleY - arm);
      this.pen.lineTo(middleX - lean, middleY + arm);
    }
    this.pen.stroke();
  }

  // The selected row, the marked cell and the cell under the cursor.
  paintMarks(panel, { x, y }) {
    const { cell, panelWidth } = this.plan;
    const selected = this.model.get("selected");
    if (selected >= 0 && selected < this.shape[1]) {
      this.outline(this.colours.ink, x, y + selected * cell, panelWidth, cell, 2);
    }
    const [markedPanel, row, column] = this.model.get("marked");
    for (const one of [{ panel: markedPanel, row, column }, this.cursor]) {
      if (one?.panel !== panel || one.column < 0) continue;
      this.frame(x + one.column * cell, y + one.row * cell, cell);
    }
  }

  frame(left, top, cell) {
    this.outline(this.colours.paper, left, top, cell, cell, 3);
    this.outline(this.colours.ink, left, top, cell, cell, 2);
  }

  paintLegend() {
    const { x, barY, maskX, maskY, text } = this.legend;
    const digits = this.model.get("digits");
    const [low, high] = this.limits.map((limit) => limitText(limit, digits));
    this.fill(this.colours.paper, 0, barY - 4, this.plan.fullWidth + 1, this.plan.height - barY + 5);
    const quiet = { size: SMALL_LABEL_SIZE + 1, colour: this.colours.soft };
    this.write(low, x, barY + BAR_HEIGHT, quiet);
    const barX = Math.round(x + (this.measure(low) * (SMALL_LABEL_SIZE + 1)) / LABEL_SIZE + 6);
    this.paintBar(barX, barY);
    this.write(high, barX + BAR_WIDTH + 6, barY + BAR_HEIGHT, quiet);
    if (text) {
      this.fill(this.pattern, maskX, maskY - 1, 18, BAR_HEIGHT + 2);
      this.outline(this.colours.frame, maskX, maskY - 1, 18, BAR_HEIGHT + 2, 1);
      this.write(text, maskX + 25, maskY + BAR_HEIGHT, quiet);
    }
  }

  paintBar(x, y) {
    this.stretch(this.tables[this.model.get("kind")].strip, x, y, BAR_WIDTH, BAR_HEIGHT);
    this.outline(this.colours.frame, x, y, BAR_WIDTH, BAR_HEIGHT, 1);
  }
}

function render({ model, el }) {
  const matrix = new Matrix(model, el);
  el.lang = model.get("lang");
  return () => matrix.end();
}

export default { render };
