// Says that the kernel is gone and puts what stands beside it to rest: a view without a kernel looks alive.
const GONE = ["restarting", "autorestarting", "terminating", "dead"];

export default () => {
  let isGone = false; // for good: a new kernel knows nothing of this view
  const views = new Set();

  const show = ({ line, model }) => {
    line.hidden = !isGone;
    if (!isGone) return;
    line.textContent = model.get("words");
    const el = line.parentElement;
    for (const part of el.parentElement?.children ?? []) {
      if (part === el || part.querySelector(":scope > .tokenwerk-caption, :scope > .tokenwerk-message")) continue;
      part.inert = true;
      part.classList.add("tokenwerk-at-rest");
    }
  };

  function initialize({ model }) {
    const session = model.widget_manager?.context?.sessionContext;
    // ipywidgets' own news of a restart; the layout is a model whose state can be read.
    const hear = () => model.get("layout")?.comm_live === false && lose();
    const hearStatus = (_sender, status) => GONE.includes(status) && lose();
    const hearKernel = (_sender, { oldValue }) => oldValue && lose();
    const lose = () => {
      isGone = true;
      views.forEach(show);
      forget();
    };
    const forget = () => {
      model.off("comm_live_update", hear);
      session?.statusChanged.disconnect(hearStatus);
      session?.kernelChanged.disconnect(hearKernel);
    };
    model.on("comm_live_update", hear);
    session?.statusChanged.connect(hearStatus);
    session?.kernelChanged.connect(hearKernel);
    hear();
    return forget;
  }

  function render({ model, el }) {
    const line = document.createElement("div");
    line.className = "tokenwerk-lifeline";
    line.setAttribute("role", "alert");
    el.append(line);
    const view = { line, model };
    views.add(view);
    show(view);
    return () => views.delete(view);
  }

  return { initialize, render };
};
