// Measures how long a message takes from this page to the kernel and back, one at a time.
const ROUNDS = 21;
const PATIENCE = 4000; // milliseconds without an answer
const CALM = 500; // milliseconds for the page to settle, so that its own drawing is not measured

function render({ model, el }) {
  const line = document.createElement("div");
  line.className = "tokenwerk-caption";
  line.setAttribute("role", "status");
  line.setAttribute("aria-live", "polite");
  const button = document.createElement("button");
  button.className = "jupyter-widgets jupyter-button widget-button tokenwerk-pulse";
  button.style.width = "auto";
  button.textContent = model.get("again");
  el.append(line, button);

  let times = [];
  let asked = 0;
  let deadline = null;

  const ask = () => {
    clearTimeout(deadline);
    deadline = setTimeout(giveUp, PATIENCE);
    asked = performance.now();
    model.set("question", model.get("question") + 1);
    model.save_changes();
  };
  const hear = () => {
    if (model.get("answer") !== model.get("question")) return;
    times.push(performance.now() - asked);
    if (times.length < ROUNDS) ask();
    else report();
  };
  const report = () => {
    clearTimeout(deadline);
    // The first message after a pause pays for waking everything up.
    const sorted = times.slice(1).sort((a, b) => a - b);
    const median = Math.round(sorted[Math.floor(sorted.length / 2)]);
    const slow = Math.round(sorted[Math.floor(sorted.length * 0.9)]);
    const text = model.get("report").replace("{median}", median).replace("{slow}", slow);
    line.textContent = text;
    line.dataset.median = String(median);
    button.disabled = false;
  };
  const giveUp = () => {
    line.textContent = model.get("silence");
    button.disabled = false;
  };
  const begin = () => {
    times = [];
    button.disabled = true;
    line.textContent = model.get("measuring");
    ask();
  };

  model.on("change:answer", hear);
  button.addEventListener("click", begin);
  line.textContent = model.get("measuring");
  const start = setTimeout(begin, CALM);
  return () => {
    clearTimeout(start);
    clearTimeout(deadline);
    model.off("change:answer", hear);
  };
}

export default { render };
