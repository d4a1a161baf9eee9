"""A real JupyterLab in a real Chromium: for the browser tests, and to look at what a reader will see.

    python -m tests.browser shoot 01_residual 03_mlp --theme light dark --width 1300 700 --out pictures
    python -m tests.browser shoot scratch/try.ipynb --cells 3 5

`shoot` opens a notebook as a page of that width, runs all its cells and saves a picture of every output, and
one of the whole page. It prints what went wrong: errors of cells and of the console, calls to other hosts.
Several notebooks, widths and themes in one call share one start.
"""

import argparse
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Error, Locator, Page, sync_playwright

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"  # a folder an edition
SOURCE = NOTEBOOKS / "de"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMIUM_OPTIONS = (
    *("--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-quic", "--hide-scrollbars", "--font-render-hinting=none"),
    # Chromium's own sandbox refuses to run as root.
    *(("--no-sandbox",) if getattr(os, "geteuid", lambda: 1)() == 0 else ()),
)
OURS = ("TOKENWERK_LANG", "TOKENWERK_GPT2")  # settings of a reader; tested is what holds without them
PAGE_SCRIPT = Path(__file__).with_name("browser_page.js")
PATIENCE = 120_000  # milliseconds: a busy machine is slow, not wrong
TALLEST = 16_000  # pixels; a larger window Chromium does not paint

# Loaded by every Python process of the server and its kernels: notes each address that is not this machine.
WITNESS = """
import os, sys
def witness(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        host = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
        host = host[0] if isinstance(host, tuple) else host
        if isinstance(host, str) and host not in ("", "localhost", "::1") and host[:4] != "127.":
            with open(os.environ["TOKENWERK_WITNESS"], "a", encoding="utf-8") as file:
                file.write(f"{event} {host}\\n")
sys.addaudithook(witness)
"""


# ---- the server ----


def free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Lab:
    """A running JupyterLab with `make lab`'s options, over a copy of notebooks, with settings of its own."""

    def __init__(self, home: Path, options: tuple[str, ...] = ()):
        self.home = home
        self.notebooks = home / "notebooks"
        self.calls = home / "calls.txt"
        self.url = f"http://127.0.0.1:{free_port()}"
        self._make_home()
        command = [
            sys.executable,
            "-m",
            "jupyterlab",
            f"--config={ROOT / 'tokenwerk_helpers' / 'jupyter' / 'jupyter_lab_config.py'}",
        ]
        command += ["--no-browser", "--IdentityProvider.token=", f"--port={urlsplit(self.url).port}"]
        command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={self.notebooks}"]
        # The page's own command registry, so that "run all" is JupyterLab's and not an imitation.
        command += ["--LabApp.expose_app_in_browser=True", *options]
        self._log = (home / "server.log").open("w", encoding="utf-8")
        self.process = subprocess.Popen(
            command, cwd=home, env=self._environment(), stdout=self._log, stderr=self._log
        )
        self._wait_until_up()

    def _make_home(self) -> None:
        shutil.copytree(NOTEBOOKS, self.notebooks, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        (self.home / "python").mkdir()
        (self.home / "python" / "sitecustomize.py").write_text(WITNESS, encoding="utf-8")

    def _environment(self) -> dict[str, str]:
        folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        folders += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
        environment = {name: text for name, text in os.environ.items() if name not in OURS}
        environment |= {name: str(self.home / name.lower()) for name in folders}
        paths = (str(self.home / "python"), str(ROOT), os.environ.get("PYTHONPATH"))
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        environment["TOKENWERK_WITNESS"] = str(self.calls)
        return environment

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + 2 * PATIENCE / 1000
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{self.url}/api", timeout=30).close()
                return
            except OSError:
                time.sleep(0.1)
        self.close()
        raise RuntimeError("JupyterLab did not start:\n" + (self.home / "server.log").read_text("utf-8"))

    def foreign_calls(self) -> list[str]:
        """What the server or a kernel asked of other machines."""
        return self.calls.read_text("utf-8").splitlines() if self.calls.exists() else []

    def close(self) -> None:
        """Stop the server and, with it, its kernels."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._log.close()


@contextmanager
def lab(options: tuple[str, ...] = ()) -> Iterator[Lab]:
    """A JupyterLab in a temporary folder, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="tokenwerk-lab-", ignore_cleanup_errors=True) as folder:
        server = Lab(Path(folder), options)
        try:
            yield server
        finally:
            server.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Chromium without a window."""
    if CHROMIUM is None:
        raise RuntimeError("no Chromium found: install the package `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


# ---- one notebook in one page ----


class Notebook:
    """One notebook open in a page of its own; it keeps what the console and the network said meanwhile."""

    def __init__(
        self, browser: Browser, server: Lab, name: str, width=1300, height=900, theme="light", scale=1
    ):
        self.server = server
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=scale, reduced_motion="reduce"
        )
        self.context.add_init_script(path=PAGE_SCRIPT)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self._begin(name)
        self._listen()
        self._load()
        self.set_theme(theme)

    def _begin(self, name: str) -> None:
        self.name = name
        self.console_errors: list[str] = []
        self.foreign_requests: list[str] = []
        self.updates_sent = 0  # messages to the kernel that move a control: each is one computation
        self.seconds = 0.0  # that running all cells took

    def _load(self) -> None:
        # The page of a single document: as wide as the window, without JupyterLab's side bars.
        self.page.goto(f"{self.server.url}/doc/tree/{self.name}?reset", wait_until="commit")
        self._arrive()

    def _arrive(self) -> None:
        self.wait_for("ready")
        self.unsaved_when_opened = self.ask("unsaved")

    def _leave(self, keeps_kernel: bool) -> tuple[bool, str | None]:
        """Close the notebook, with its kernel unless that is kept: then its id. Has all gone well in it?"""
        try:
            complaints = self.complaints()
            kept = self.ask("leave", keeps_kernel)
        except Error:  # it does not answer any more
            return False, None
        return not complaints, kept

    def turn_to(self, name: str, keeps_kernel: bool = False) -> None:
        """Read the next notebook in the JupyterLab already loaded, with a kernel of its own or the same one.

        Only where nothing has gone wrong in it: else it is loaded anew.
        """
        is_sound, kernel = self._leave(keeps_kernel)
        self._begin(name)
        if is_sound:
            self.ask("open", [name, kernel])
            self._arrive()
        else:
            self._load()

    def _listen(self) -> None:
        self.page.on("console", self._note_console)
        self.page.on("pageerror", lambda error: self.console_errors.append(str(error)))
        self.page.on("request", self._note_request)
        self.page.on("websocket", lambda websocket: websocket.on("framesent", self._note_frame))

    def _note_console(self, message) -> None:
        if message.type == "error":
            self.console_errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _note_request(self, request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname != "127.0.0.1":
            self.foreign_requests.append(request.url)

    def _note_frame(self, frame: str | bytes) -> None:
        text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
        self.updates_sent += '"comm_msg"' in text and '"update"' in text

    def ask(self, question: str, argument: object = None) -> object:
        """The answer of a function of browser_page.js."""
        return self.page.evaluate(f"argument => look.{question}(argument)", argument)

    def wait_for(self, question: str) -> None:
        """Wait until a function of browser_page.js says yes."""
        self.page.wait_for_function(f"() => window.look?.{question}()")

    def set_theme(self, theme: str) -> None:
        """Switch JupyterLab to its "light" or "dark" theme."""
        self.ask("command", ["apputils:change-theme", {"theme": f"JupyterLab {theme.title()}"}])
        wanted = "true" if theme == "light" else "false"
        self.page.wait_for_function(f"document.body.dataset.jpThemeLight === '{wanted}'")
        # JupyterLab shows its splash meanwhile; switched again before it is gone, it takes it away twice.
        self.page.wait_for_function("!document.getElementById('jupyterlab-splash')")

    def run_all(self) -> float:
        """Run all cells and wait until every live view in sight is drawn; the seconds the cells took."""
        start = time.perf_counter()
        self.ask("runAll")
        self.seconds = time.perf_counter() - start
        self.wait_for("drawn")
        return self.seconds

    def explorers(self) -> list[Locator]:
        """The live views on the page."""
        return self.page.locator(".tokenwerk-explorer").all()

    def complaints(self) -> list[str]:
        """Everything that went wrong so far: in cells, in the console, on the network, in the way."""
        return [
            *(f"output: {text}" for text in self.ask("errors")),
            *(f"console: {text}" for text in self.console_errors),
            *(f"request: {url}" for url in self.foreign_requests),
            *(f"pop-up: {text}" for text in self.ask("popUps")),
            *(f"call: {line}" for line in self.server.foreign_calls()),
        ]

    def show_everything(self) -> None:
        """Make the window so high that the whole notebook is on it (a cell is painted only while in view)."""
        for _ in range(2):  # what comes into view may grow
            width = self.page.viewport_size["width"]
            self.page.set_viewport_size({"width": width, "height": min(int(self.ask("height")), TALLEST)})
            self.ask("toTop")  # running all cells has scrolled to the last
            self.page.wait_for_timeout(300)

    def cell(self, number: int) -> Locator:
        """The cell of that number, counted from 0 over all cells."""
        return self.page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{number}']")

    def shoot(self, place: Path, number: int | None = None) -> Path:
        """Save a picture of one cell's output, or of the whole notebook, as PNG."""
        target = self.page.locator(".jp-NotebookPanel-notebook")
        if number is not None:
            target = self.cell(number).locator(".jp-Cell-outputWrapper")
            target.scroll_into_view_if_needed()
        target.screenshot(path=place, animations="disabled")
        return place

    def close(self) -> None:
        """End the kernel, so that its memory does not add to the next one's, and close the page."""
        with suppress(Error):  # a page that never came up has no kernel
            self.ask("endKernels")
        self.context.close()


@contextmanager
def opened(browser: Browser, server: Lab, name: str, **page) -> Iterator[Notebook]:
    """The notebook in a page of its own, closed at the end."""
    notebook = Notebook(browser, server, name, **page)
    try:
        yield notebook
    finally:
        notebook.close()


# ---- by hand ----


def shoot(arguments: argparse.Namespace) -> int:
    """Photograph the outputs of notebooks; 1 when something went wrong in one."""
    Path(arguments.out).mkdir(parents=True, exist_ok=True)
    complaints = []
    with lab() as server, chromium() as browser:
        for given in map(Path, arguments.notebooks):
            path = given if given.suffix else SOURCE / f"{given.name}.ipynb"
            lay_out(path, server.notebooks / path.name)
            with opened(browser, server, path.name, scale=arguments.scale) as notebook:
                if not arguments.still:
                    print(f"{path.name}: ran in {notebook.run_all():.1f} s", flush=True)
                for width, theme in itertools.product(arguments.width, arguments.theme):
                    photograph(notebook, width, theme, arguments)
                complaints += notebook.complaints()
    for complaint in complaints:
        print("WRONG:", complaint)
    return 1 if complaints else 0


def lay_out(source: Path, target: Path) -> None:
    """Copy a notebook; one that names no kernel gets ours, or JupyterLab would ask for it."""
    notebook = json.loads(source.read_text("utf-8"))
    notebook["metadata"].setdefault("kernelspec", {"name": "python3", "display_name": "Python 3"})
    target.write_text(json.dumps(notebook), encoding="utf-8")


def photograph(notebook: Notebook, width: int, theme: str, arguments: argparse.Namespace) -> None:
    """Save the pictures of one width and theme and print their names."""
    notebook.page.set_viewport_size({"width": width, "height": 900})
    notebook.set_theme(theme)
    notebook.show_everything()
    notebook.page.wait_for_timeout(500)  # figures are drawn anew for theme and width
    stem = f"{Path(notebook.name).stem}-{theme}-{width}"
    if arguments.cells is None:
        print(notebook.shoot(Path(arguments.out) / f"{stem}.png"), flush=True)
    for number in arguments.cells or notebook.ask("withOutput"):
        try:
            print(notebook.shoot(Path(arguments.out) / f"{stem}-cell{number:02d}.png", number), flush=True)
        except Error as error:
            print(f"cell {number}: {error.message.splitlines()[0]}")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("shoot", help="run a notebook and photograph its outputs")
    command.add_argument("notebooks", nargs="+", help="names as 01_residual, or paths of any notebooks")
    command.add_argument("--theme", nargs="+", choices=("light", "dark"), default=["light"])
    command.add_argument("--width", nargs="+", type=int, default=[1300], help="of the window, in pixels")
    command.add_argument("--scale", type=float, default=1, help="device pixels per pixel")
    command.add_argument("--cells", type=int, nargs="+", help="only these, counted from 0 over all cells")
    command.add_argument("--still", action="store_true", help="do not run: show the page as it is stored")
    command.add_argument("--out", default="pictures", help="folder for the pictures")
    return shoot(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
