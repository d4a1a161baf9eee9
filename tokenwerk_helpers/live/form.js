// What ipywidgets' controls lack, for the box this view stands in: names for screen readers, numbers as readers
// write them, and Enter. It shows nothing itself.
const DRESSED = {
  subtree: true,
  childList: true,
  characterData: true,
  attributes: true,
  attributeFilter: ["aria-valuetext"],
};

function setIfOther(node, name, text) {
  if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

// What was typed into a readout, as long as it stands there: no value of its slider yet. Sent, it has a number.
const waiting = new WeakMap();
let sent = 0;

// A slider's handle and its readout get the label as their name, the handle the readout as its value.
function dress(slider) {
  const handle = slider.querySelector(".noUi-handle");
  const label = slider.querySelector(".widget-label")?.textContent.trim();
  const readout = slider.querySelector(".widget-readout");
  if (!handle || !label || !readout) return;
  setIfOther(handle, "aria-label", label);
  setIfOther(readout, "aria-label", label);
  setIfOther(readout, "role", "textbox");
  if (waiting.get(readout)?.text === readout.textContent) return;
  waiting.delete(readout);
  setIfOther(handle, "aria-valuetext", readout.textContent);
}

// What is typed goes to Python as it stands; ipywidgets, which would take "1,5" for 1, does not get to see it.
function listen(box, model, signal) {
  const send = (node, text) => {
    const child = [...box.children].findIndex((one) => one.contains(node));
    sent += 1;
    model.send({ child, text, number: sent });
    return sent;
  };
  const commit = (readout) => {
    const typed = waiting.get(readout);
    if (typed && !typed.number) typed.number = send(readout, typed.text);
  };
  const isReadout = (node) => node.classList?.contains("widget-readout");
  const options = { capture: true, signal };
  const onInput = (event) => {
    const { target } = event;
    if (isReadout(target)) waiting.set(target, { text: target.textContent });
  };
  const onBlur = (event) => {
    if (!isReadout(event.target)) return;
    event.stopPropagation();
    commit(event.target);
  };
  const onKey = (event) => {
    const { target } = event;
    if (event.key !== "Enter" || event.isComposing) return;
    if (isReadout(target)) {
      event.preventDefault();
      event.stopPropagation();
      commit(target);
    } else if (model.get("fields") && target.matches("input")) {
      send(target, target.type === "text" ? target.value : "");
    }
  };
  box.addEventListener("input", onInput, options);
  box.addEventListener("blur", onBlur, options);
  box.addEventListener("keydown", onKey, options);
}

function render({ model, el }) {
  const ended = new AbortController();
  const dressAll = () => {
    for (const slider of el.parentElement.querySelectorAll(".widget-slider")) dress(slider);
  };
  const watcher = new MutationObserver(dressAll);
  let frame = 0;
  // The box takes this element in when it is rendered, and its other children whenever they are ready.
  const arrive = () => {
    if (!el.parentElement) {
      frame = requestAnimationFrame(arrive);
      return;
    }
    watcher.observe(el.parentElement, DRESSED);
    listen(el.parentElement, model, ended.signal);
    dressAll();
  };
  arrive();
  const answer = ({ child, text, number }) => {
    const readout = el.parentElement?.children[child]?.querySelector(".widget-readout");
    if (waiting.get(readout)?.number !== number) return; // typed on, or moved, meanwhile
    waiting.delete(readout);
    readout.textContent = text;
  };
  model.on("msg:custom", answer);
  return () => {
    cancelAnimationFrame(frame);
    watcher.disconnect();
    ended.abort();
    model.off("msg:custom", answer);
  };
}

export default { render };
