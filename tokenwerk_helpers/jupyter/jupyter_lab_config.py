"""How this project wants JupyterLab: prompt, quiet, and alone.

In force under `make lab` and in the browser tests; by hand:
jupyter lab --config=tokenwerk_helpers/jupyter/jupyter_lab_config.py
"""

import os
from pathlib import Path

from jupyter_core.paths import jupyter_runtime_dir

from tokenwerk_helpers.language import edition_for

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "notebooks"
c = get_config()  # noqa: F821

# Sliders answer without the server's stall of 40 ms (see tokenwerk_helpers/jupyter/server.py).
c.ServerApp.kernel_websocket_connection_class = "tokenwerk_helpers.jupyter.server.PromptWebsocketConnection"

# A page keeps its pictures when it is saved, and is not "unsaved" as soon as it is opened.
c.ServerApp.jpserver_extensions = {"tokenwerk_helpers.jupyter.extension": True}

# Nor do they wait for what one reader does not need, some milliseconds each: the kernel's echo of each value,
# meant for a second page on the same kernel, and the toolbar's circle, drawn anew for every message (switched
# off in overrides.json; the status bar still tells whether the kernel is busy).
os.environ.setdefault("JUPYTER_WIDGETS_ECHO", "0")

# Nothing pops up and nothing is asked of the network: no news, no look for updates, no list of extensions.
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"
c.LanguageServerManager.autodetect = False
# Without overrides.json, there, the page would still ask whether it may fetch news.
c.LabApp.app_settings_dir = str(HERE)

# The package installed alone brings no notebooks: JupyterLab then opens where it is started.
if NOTEBOOKS.is_dir():
    c.ServerApp.root_dir = str(NOTEBOOKS)
    c.LabApp.default_url = f"/lab/tree/{edition_for(os.environ)}/00_start.ipynb"

# Checkpoints are kept with the server's other passing files, not beside the notebooks.
c.FileCheckpoints.checkpoint_dir = str(Path(jupyter_runtime_dir()) / "tokenwerk-checkpoints")

# Root in a container is allowed to read a book, too.
c.ServerApp.allow_root = getattr(os, "geteuid", lambda: 1)() == 0
