// What the tests ask of a page; added to every page before JupyterLab loads. `jupyterapp` is JupyterLab itself.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const panel = () => window.jupyterapp?.shell.currentWidget;
  const kernel = () => panel()?.sessionContext?.session?.kernel;
  const PICTURES = "canvas[data-painted]";

  const onScreen = (node) => {
    const box = node.getBoundingClientRect();
    return box.height > 0 && box.top < innerHeight && box.bottom > 0;
  };

  // The pixels of a view, as they are shown.
  const pixels = (view) => {
    const { width, height } = view;
    if (!width || !height) return null;
    const copy = Object.assign(document.createElement("canvas"), { width, height });
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(view, 0, 0);
    return pen.getImageData(0, 0, width, height).data;
  };

  const checksum = (bytes) => {
    let sum = 0;
    for (const word of new Uint32Array(bytes.buffer)) sum = (Math.imul(sum, 31) + word) | 0;
    return sum;
  };

  // Messages to the kernel that it has not yet done with.
  const underWay = new Set();
  const watched = new WeakSet();
  let echoes = 0; // values the kernel sent back as they came
  const watch = (connection) => {
    if (watched.has(connection)) return;
    watched.add(connection);
    connection.anyMessage.connect((_sender, { msg, direction }) => {
      const isDone = msg.header.msg_type === "status" && msg.content.execution_state === "idle";
      if (direction === "send" && msg.channel === "shell") underWay.add(msg.header.msg_id);
      else if (isDone) underWay.delete(msg.parent_header.msg_id);
      if (msg.content?.data?.method === "echo_update") echoes += 1;
    });
  };
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  window.look = {
    ready: () => {
      const isReady =
        panel()?.context?.isReady && panel().sessionContext?.isReady && kernel()?.status === "idle";
      if (isReady) watch(kernel());
      return Boolean(isReady);
    },
    // Has the kernel answered everything, and is the answer on the screen?
    idle: async () => {
      if (underWay.size) return false;
      await nextFrame();
      await nextFrame();
      return underWay.size === 0;
    },
    // Would closing the page ask whether to save it? JupyterLab writes into it what the kernel tells of itself.
    unsaved: async () => {
      await kernel().info;
      await nextFrame();
      return panel().context.model.dirty;
    },
    save: () => panel().context.save(),
    runAll: () => jupyterapp.commands.execute("notebook:run-all-cells").then(() => null),
    command: ([name, given]) => jupyterapp.commands.execute(name, given).then(() => null),
    endKernels: () => window.jupyterapp?.serviceManager.sessions.shutdownAll(),

    // Has every view on the screen painted? Those elsewhere may wait until they are seen.
    drawn: () =>
      all(PICTURES).filter(onScreen).every((view) => Number(view.dataset.painted) > 0),

    // What cells and live views complain about: tracebacks, stderr, messages, widgets that do not show.
    errors: () => {
      const kinds = ["application/vnd.jupyter.error", "application/vnd.jupyter.stderr"];
      const wrong = kinds.map((kind) => `.jp-OutputArea-output[data-mime-type="${kind}"]`);
      wrong.push(".jupyter-widgets-error-widget", ".tokenwerk-message");
      return all(wrong.join(",")).map((node) => node.textContent.trim()).filter(Boolean);
    },
    echoes: () => echoes,
    toolbar: () => all(".jp-NotebookPanel-toolbar [data-jp-item-name]").map((item) => item.dataset.jpItemName),
    // Anything that lies over the page and wants to be answered.
    popUps: () => all(".jp-Dialog, .Toastify__toast").map((node) => node.innerText),

    // The height a window needs to show the whole notebook.
    height: () => {
      const cells = all(".jp-NotebookPanel-notebook .jp-Cell");
      const outer = document.querySelector(".jp-NotebookPanel-notebook .jp-WindowedPanel-outer");
      const [first, last] = [cells.at(0), cells.at(-1)].map((cell) => cell.getBoundingClientRect());
      return last.bottom - first.top + innerHeight - outer.clientHeight + 30;
    },
    toTop: () => {
      document.querySelector(".jp-NotebookPanel-notebook .jp-WindowedPanel-outer").scrollTop = 0;
    },
    withOutput: () =>
      all(".jp-Notebook .jp-CodeCell")
        .filter((cell) => cell.querySelector(".jp-OutputArea-output"))
        .map((cell) => Number(cell.dataset.windowedListIndex)),

    // ---- one explorer (the element) ----
    caption: (explorer) => all(".tokenwerk-caption", explorer).map((node) => node.textContent).join("\n"),
    // Changes with every pixel of every view; null while a view has not painted.
    picture: (explorer) => {
      const views = all(PICTURES, explorer);
      const sums = views.map((view) => (Number(view.dataset.painted) > 0 ? pixels(view) : null));
      return sums.includes(null) ? null : sums.map(checksum).join(" ");
    },
    // The brightness of each view's corner, 0 to 255: paper is bright, a dark page is dark.
    papers: (explorer) => all(PICTURES, explorer).map(pixels).map((bytes) => (bytes ? bytes[0] : null)),
    // Views without words for those who do not see them.
    wordless: (explorer) =>
      all(PICTURES, explorer).filter((view) => !view.getAttribute("aria-label")).length,
    // Press a key many times, faster than the kernel can answer.
    burst: async (handle, { key, presses, pause }) => {
      for (let press = 0; press < presses; press++) {
        handle.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    },
    // Outputs of a cell that are wider than the place they have.
    sticksOut: (number) =>
      all(`.jp-Notebook .jp-Cell[data-windowed-list-index="${number}"] .jp-OutputArea-output`)
        .filter((output) => output.scrollWidth > output.clientWidth + 1)
        .map((output) => `${output.scrollWidth} > ${output.clientWidth}: ${output.innerText.slice(0, 60)}`),
  };
})();
