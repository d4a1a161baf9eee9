"""Who may import whom; and nothing in the package writes, downloads or unpickles behind the reader's back."""

import ast
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PACKAGE = Path(__file__).parents[1] / "tokenwerk_helpers"
FILES = sorted(PACKAGE.rglob("*.py"))

# The way of the data: from text to weights. Plain Python and torch, usable without a notebook.
MODEL_SIDE = {
    "abilities",
    "apart",
    "corpus",
    "learning_rates",
    "model",
    "norm_placement",
    "parameters",
    "pretrained",
    "retrain",
    "sampling",
    "tokenizer",
    "trace",
    "training",
}
OTHER_SIDES = {"__init__", "checks", "explorers", "lab", "server", "views"}
OTHER_SIDES |= {"characters", "language", "source"}  # these stand on their own; every side may import them
COMMANDS = {"lab", "retrain", "server"}  # run by hand or loaded by JupyterLab; no module of ours imports them
WIDGETS = {"ipywidgets", "anywidget", "traitlets", "IPython", "matplotlib", "PIL"}
NETWORK = {
    "socket",
    "ssl",
    "urllib",
    "http",
    "ftplib",
    "smtplib",
    "requests",
    "httpx",
    "aiohttp",
    "webbrowser",
}
NETWORK |= {"urllib3", "websockets", "websocket", "huggingface_hub", "transformers", "datasets"}
PICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def names_of(tree: ast.AST, package: str) -> set[str]:
    """Every module that the code imports, wherever the import stands, with relative names made absolute."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return names


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imports(file: Path) -> set[str]:
    package = ".".join(file.relative_to(PACKAGE.parent).parent.parts)
    return names_of(parsed(file), package)


def ours(file: Path) -> set[str]:
    """Which parts of the package a file imports: "model", "views", ... ("" is the package itself)."""
    paths = [name.split(".") for name in imports(file)]
    return {path[1] if len(path) > 1 else "" for path in paths if path[0] == PACKAGE.name}


def others(file: Path) -> set[str]:
    """Which packages of others a file imports."""
    return {name.split(".")[0] for name in imports(file)} - {PACKAGE.name}


def part(file: Path) -> str:
    """The part of the package that a file belongs to: "model", "views", ..."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def files_of(*parts: str) -> list[Path]:
    return [file for file in FILES if part(file) in parts]


def named(file: Path) -> str:
    return str(file.relative_to(PACKAGE))


# --- who may import whom ----------------------------------------------------------------------------


@pytest.mark.parametrize("file", files_of("views"), ids=named)
def test_views_know_neither_our_model_nor_torch(file):
    assert ours(file) <= {"characters", "views", ""}
    assert "torch" not in others(file)


@pytest.mark.parametrize("file", files_of(*MODEL_SIDE), ids=named)
def test_the_model_side_knows_no_pictures_and_no_widgets(file):
    assert not ours(file) & {"views", "explorers", "checks", "server"}
    assert not others(file) & WIDGETS


@pytest.mark.parametrize("file", files_of("checks"), ids=named)
def test_checks_take_the_model_side_as_their_reference_and_know_no_explorers(file):
    assert not ours(file) & {"views", "explorers", "server"}


@pytest.mark.parametrize("file", files_of("characters", "language", "source"), ids=named)
def test_characters_words_and_source_stand_on_their_own(file):
    assert not ours(file)


def test_the_model_file_needs_nothing_of_ours_and_only_torch_of_others():
    (file,) = files_of("model")
    assert not ours(file)
    assert others(file) - sys.stdlib_module_names == {"torch"}


@pytest.mark.parametrize("file", FILES, ids=named)
def test_nothing_imports_the_notebooks_the_tests_or_a_command(file):
    assert not others(file) & {"notebooks", "tests"}
    assert not ours(file) & (COMMANDS - {part(file)})


def test_every_part_has_its_place():
    """A new module has to be put on one of the sides, or the tests above would not look at it."""
    assert {part(file) for file in FILES} == MODEL_SIDE | OTHER_SIDES


def test_the_model_side_imports_in_one_direction():
    """No circle: each module can be read with only the ones before it."""
    needs = {part(file): ours(file) & MODEL_SIDE - {part(file)} for file in files_of(*MODEL_SIDE)}
    while needs:
        free = {name for name, wanted in needs.items() if not wanted & needs.keys()}
        assert free, f"these import each other in a circle: {sorted(needs)}"
        needs = {name: wanted for name, wanted in needs.items() if name not in free}


def test_every_package_that_is_imported_is_declared():
    """All but JupyterLab and its server, which may live in an environment of their own."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {Requirement(line).name for line in project["dependencies"]}
    brought_by = metadata.packages_distributions()
    imported = {name for file in FILES if part(file) not in {"lab", "server"} for name in others(file)}
    imported -= sys.stdlib_module_names
    assert {"torch", "PIL", "IPython", "packaging"} <= imported
    assert not {name for name in imported if declared.isdisjoint(map(str.lower, brought_by[name]))}


# --- no writing, no network, no pickles -------------------------------------------------------------


@pytest.mark.parametrize("file", FILES, ids=named)
def test_nothing_can_reach_the_network_or_unpickle(file):
    assert not others(file) & (NETWORK | PICKLES)
    for call in calls(parsed(file)):
        assert call not in {"torch.load", "torch.hub.load", "np.load", "numpy.load"}, call


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.js")) + sorted(PACKAGE.rglob("*.css")), ids=named)
def test_what_the_browser_gets_fetches_nothing(file):
    text = file.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
    for reach in ("http://", "https://", "fetch(", "XMLHttpRequest", "@import", "WebSocket("):
        assert reach not in text, reach


def calls(tree: ast.AST) -> list[str]:
    """The called names in a piece of code, as written: "open", "path.write_text", ..."""
    return [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]


WRITING = {
    "write_text",
    "write_bytes",
    "save_file",
    "mkdir",
    "makedirs",
    "unlink",
    "rename",
    "rmtree",
    "touch",
}
WRITING |= {"tofile", "torch.save", "np.save", "np.savez", "numpy.save"}
SAYS_SO = ("save", "write", "record")  # how the name of a function begins that is there to write


def writes(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    modes = [k.value for k in call.keywords if k.arg == "mode"] + (call.args[1:2] if name == "open" else [])
    opens = name.split(".")[-1] == "open" and any(set("wax+") & set(ast.literal_eval(mode)) for mode in modes)
    return opens or name in WRITING or name.split(".")[-1] in WRITING


def writers(tree: ast.AST) -> list[str]:
    """The calls that write files, outside of functions whose name says so and of what a command does."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith(SAYS_SO):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            continue
        if isinstance(node, ast.Call) and writes(node):
            found.append(ast.unparse(node.func))
        found += writers(node)
    return found


@pytest.mark.parametrize("file", [file for file in FILES if part(file) not in COMMANDS], ids=named)
def test_files_are_written_only_by_functions_whose_name_says_so(file):
    assert not writers(parsed(file))


@pytest.mark.parametrize("file", files_of("explorers", "views", "checks"), ids=named)
def test_what_a_notebook_shows_writes_nothing_whatever_its_name(file):
    assert not [
        ast.unparse(node) for node in ast.walk(parsed(file)) if isinstance(node, ast.Call) and writes(node)
    ]


# --- the tests above can say no ---------------------------------------------------------------------


def test_an_import_is_found_wherever_and_however_it_is_written():
    lines = ["from ..views import style", "import torch.nn", "from . import base", "from .. import _"]
    code = "def f():\n    " + "\n    ".join(lines)
    found = names_of(ast.parse(code), "tokenwerk_helpers.explorers")
    assert {"tokenwerk_helpers.views", "tokenwerk_helpers.views.style", "torch.nn"} <= found
    assert {"tokenwerk_helpers.explorers.base", "tokenwerk_helpers._"} <= found


@pytest.mark.parametrize(
    "code",
    [
        "open('x', 'w')",
        "open('x', mode='ab')",
        "Path('x').open(mode='w')",
        "def load():\n    Path('x').write_text('')",
        "def f():\n    torch.save({}, 'x')",
        "if True:\n    os.makedirs('x')",
    ],
)
def test_a_writer_is_found(code):
    assert writers(ast.parse(code))


@pytest.mark.parametrize(
    "code", ["open('x')", "open('x', 'rb')", "def save(p):\n    p.mkdir()", "image.save(f)"]
)
def test_a_reader_and_a_function_named_save_are_left_alone(code):
    assert not writers(ast.parse(code))
