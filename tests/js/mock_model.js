// Stands in for the widget model that JupyterLab hands to a view: get, set, on, off, send, save_changes.

// Bytes travel as { base64 }; they arrive as a DataView at an odd address, as parts of a message do.
function unwire(value) {
  if (Array.isArray(value)) return value.map(unwire);
  if (!value || typeof value !== "object") return value;
  if (!("base64" in value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unwire(item)]));
  const raw = atob(value.base64);
  const bytes = Uint8Array.from(` ${raw}`, (letter) => letter.charCodeAt(0));
  return new DataView(bytes.buffer, 1, raw.length);
}

class MockModel {
  constructor(state) {
    this.state = unwire(state);
    this.handlers = new Map();
    this.unsaved = {};
    this.saved = [];
    this.sent = [];
  }

  get(name) {
    return this.state[name];
  }

  set(name, value) {
    this.state[name] = value;
    this.unsaved[name] = value;
    this.tell(name);
  }

  // What the kernel does: all values first, then the news of each.
  update(changes) {
    Object.assign(this.state, unwire(changes));
    for (const name of Object.keys(changes)) this.tell(name);
  }

  tell(name) {
    for (const handler of this.handlers.get(`change:${name}`) ?? []) handler();
  }

  send(content) {
    this.sent.push(content);
  }

  // A message of the kernel's own, with the bytes that came along.
  hear(content, buffers) {
    for (const handler of this.handlers.get("msg:custom") ?? []) handler(content, unwire(buffers));
  }

  save_changes() {
    // As JupyterLab does on the way out: whatever cannot be cloned is lost.
    this.saved.push(structuredClone(this.unsaved));
    this.unsaved = {};
  }

  on(event, handler) {
    this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler]);
  }

  off(event, handler) {
    this.handlers.set(event, (this.handlers.get(event) ?? []).filter((one) => one !== handler));
  }

  get listening() {
    return [...this.handlers.values()].flat().length;
  }
}

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

// Load the module from its text and show one view of it. As in anywidget, what it gives is the widget or makes it.
async function mount(state, source) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  window.view = await import(address);
  window.model = new MockModel(state);
  window.el = document.createElement("div");
  document.body.append(window.el);
  const given = window.view.default;
  window.widget = typeof given === "function" ? await given() : given;
  window.forget = await window.widget.initialize?.({ model: window.model });
  window.cleanup = await window.widget.render({ model: window.model, el: window.el });
  await nextFrame();
  await nextFrame();
}
