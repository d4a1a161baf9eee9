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

  // Messages to the kernel that it has not yet done with; the last answer wakes those who wait for it.
  const underWay = new Set();
  const waiting = [];
  let lastWord = 0; // when the kernel was last heard
  const watched = new WeakSet();
  let echoes = 0; // values the kernel sent back as they came
  const watch = (connection) => {
    if (watched.has(connection)) return;
    watched.add(connection);
    underWay.clear(); // what was asked of an earlier kernel nobody answers any more
    echoes = 0;
    connection.anyMessage.connect((_sender, { msg, direction }) => {
      if (direction === "recv") lastWord = performance.now();
      const isDone = msg.header.msg_type === "status" && msg.content.execution_state === "idle";
      if (direction === "send" && msg.channel === "shell") underWay.add(msg.header.msg_id);
      else if (isDone) underWay.delete(msg.parent_header.msg_id);
      if (!underWay.size) waiting.splice(0).forEach((wake) => wake());
      if (msg.content?.data?.method === "echo_update") echoes += 1;
    });
  };
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  // Resolves when the kernel has answered everything; false if time is up.
  const idle = async (patience) => {
    if (underWay.size) await Promise.race([new Promise((resolve) => waiting.push(resolve)), pause(patience)]);
    return !underWay.size;
  };

  // Resolves when the kernel has answered everything and the answer is on the screen; false if time is up.
  const answered = async (patience) => {
    const end = performance.now() + patience;
    while (performance.now() < end) {
      await idle(patience);
      await nextFrame();
      await nextFrame();
      if (!underWay.size) return true; // an answer may let the next value go, which a slider held back
    }
    return false;
  };

  const isAwake = (handle) => !handle.closest("[disabled]");
  const isVisible = (handle) => handle.getClientRects().length > 0;
  const pressed = (handle, key) =>
    handle.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

  const isSame = (one, other) => one.picture === other?.picture && one.caption === other?.caption;

  // Changes whenever a view of the explorer is painted or its caption says something else; null before the first paint.
  const signs = (explorer) => {
    const paints = all(PICTURES, explorer).map((view) => Number(view.dataset.painted));
    return paints.every((count) => count > 0) ? `${paints} ${look.caption(explorer)}` : null;
  };

  const look = {
    ready: () => {
      const isReady =
        panel()?.context?.isReady && panel().sessionContext?.isReady && kernel()?.status === "idle";
      if (isReady) watch(kernel());
      return Boolean(isReady);
    },
    answered,
    // Has long work come to its end: everything answered, and for so long not a word from the kernel?
    atRest: async ({ still, patience }) => {
      const end = performance.now() + patience;
      while ((await answered(patience)) && performance.now() < end) {
        const silence = performance.now() - lastWord;
        if (silence >= still) return true;
        await pause(still - silence);
      }
      return false;
    },
    // Would closing the page ask whether to save it? JupyterLab writes into it what the kernel tells of itself.
    unsaved: async () => {
      await kernel().info;
      await nextFrame();
      return panel().context.model.dirty;
    },
    save: () => panel().context.save(),
    // Close the notebook, with its kernel unless that is kept: then its id; unsaved changes are lost.
    leave: (keepsKernel) => {
      const [left, id] = [panel(), kernel().id];
      if (!keepsKernel) left.sessionContext.shutdown(); // the next page need not wait until the kernel is gone
      left.dispose();
      return keepsKernel ? id : null;
    },
    // Open a notebook, with the kernel of that id if one is given.
    open: ([path, id]) =>
      jupyterapp.commands.execute("docmanager:open", { path, ...(id && { kernel: { id } }) }).then(() => null),
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
    // What is to be seen of the explorer.
    state: (explorer) => ({ picture: look.picture(explorer), caption: look.caption(explorer) }),
    // The state once the kernel is done and nothing is painted or said any more; null if it does not come to rest.
    settled: async (explorer, patience) => {
      const end = performance.now() + patience;
      let before = null;
      while (performance.now() < end && (await idle(patience))) {
        await nextFrame();
        if (underWay.size) continue; // an answer may let the next value go, which a slider held back
        const now = signs(explorer);
        if (now !== null && now === before) return look.state(explorer);
        before = now;
      }
      return null;
    },
    // Does the state become another one, of itself?
    changes: async (explorer, before, patience) => {
      const end = performance.now() + patience;
      for (let seen = null; performance.now() < end; await nextFrame()) {
        const now = signs(explorer);
        if (now === null || now === seen) continue; // pixels are dear: looked at only where something was painted
        seen = now;
        if (!isSame(look.state(explorer), before)) return true;
      }
      return false;
    },
    // The brightness of each view's corner, 0 to 255, as soon as all lie in the range or time is up: paper is
    // bright, a dark page is dark.
    papers: async (explorer, [low, high], patience) => {
      const end = performance.now() + patience;
      const isRight = (paper) => paper !== null && low <= paper && paper <= high;
      for (;;) {
        const found = all(PICTURES, explorer).map(pixels).map((bytes) => (bytes ? bytes[0] : null));
        if (found.every(isRight) || performance.now() > end) return found;
        await nextFrame();
      }
    },
    // Views without words for those who do not see them.
    wordless: (explorer) =>
      all(PICTURES, explorer).filter((view) => !view.getAttribute("aria-label")).length,
    // The sliders' handles: "awake" can be moved, "asleep" has to be woken by another control.
    handles: (explorer) =>
      all(".noUi-handle", explorer).map((one) => (!isVisible(one) ? "hidden" : isAwake(one) ? "awake" : "asleep")),
    // Sliders that do not say their name and their value as they are read.
    unlike: (explorer) =>
      all(".widget-slider", explorer)
        .map((slider) => {
          const handle = slider.querySelector(".noUi-handle");
          const said = ["role", "aria-label", "aria-valuetext"].map((name) => handle.getAttribute(name));
          const read = [".widget-label", ".widget-readout"].map((part) => slider.querySelector(part).textContent);
          return [said, ["slider", ...read]];
        })
        .filter(([said, read]) => String(said) !== String(read)),
    // Move every slider but one away from where it is.
    moveOthers: (explorer, but) => {
      const free = all(".noUi-handle", explorer).filter((one) => isVisible(one) && isAwake(one));
      for (const handle of free.filter((one) => one !== but)) for (const key of ["ArrowLeft", "PageUp"]) pressed(handle, key);
    },
    // Press a key many times, faster than the kernel can answer.
    burst: async (handle, { key, presses, pause: between }) => {
      for (let press = 0; press < presses; press++) {
        pressed(handle, key);
        await pause(between);
      }
    },
    // Press a key, each time awaiting the answer, until the slider says these words.
    walk: async (handle, { key, presses, words, patience }) => {
      for (let press = 0; press < presses && handle.getAttribute("aria-valuetext") !== words; press++) {
        pressed(handle, key);
        await answered(patience);
      }
    },
    // Outputs that are wider than the place they have.
    sticksOut: async (patience) => {
      const wide = [];
      for (const number of look.withOutput()) {
        const cell = document.querySelector(`.jp-Notebook .jp-Cell[data-windowed-list-index="${number}"]`);
        cell.scrollIntoView(); // cells out of sight are not laid out
        await answered(patience);
        const outputs = all(".jp-OutputArea-output", cell);
        for (const { scrollWidth, clientWidth, innerText } of outputs)
          if (scrollWidth > clientWidth + 1)
            wide.push(`cell ${number}: ${scrollWidth} > ${clientWidth}: ${innerText.slice(0, 60)}`);
      }
      return wide;
    },
  };
  window.look = look;
})();
