// A line of text that screen readers announce when it changes. Text only: never HTML.
function render({ model, el }) {
  const line = document.createElement("div");
  el.append(line);
  el.lang = model.get("lang");
  const show = () => {
    const role = model.get("role");
    line.className = `tokenwerk-${role === "alert" ? "message" : "caption"}`;
    line.setAttribute("role", role);
    line.setAttribute("aria-live", role === "alert" ? "assertive" : "polite");
    line.textContent = model.get("value");
    line.hidden = role === "alert" && !model.get("value");
  };
  model.on("change:value", show);
  model.on("change:role", show);
  show();
  return () => {
    model.off("change:value", show);
    model.off("change:role", show);
  };
}

export default { render };
