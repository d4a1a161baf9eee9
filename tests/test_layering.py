"""Who may import whom; and nothing in the package writes, downloads or unpickles behind the reader's back."""

import ast
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PACKAGE = Path(__file__).parents[1] / "tokenwerk_helpers"
FILES = sorted(PACKAGE.rglob("*.py"))

# The way of the data, from text to text: what a reader imports and reads. Plain Python and torch.
DECODER = {"corpus", "grammars", "model", "parameters", "pretrained", "sampling", "tokenizer", "trace"}
DECODER |= {"apart", "training"}
WORDS = {"characters", "language", "source"}
WORDS_OF = {"corpus": {"language"}, "pretrained": {"language"}}  # stories and models are written in one
ROOMS = {"chapters", "jupyter", "live", "tools"}
# Of a page: what each of its files may take from its own page.
WITHIN_A_PAGE = {
    "computation": set(),
    "views": {"computation"},
    "questions": {"computation"},
    "exercises": {"computation"},
    "__init__": {"computation", "views", "questions", "exercises"},
}
SHARED = {"book", "reading"}  # what several pages need
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
    """Which parts of the package a file imports: "model", "live", "chapters.block.views", ..."""
    paths = [name.split(".")[1:] for name in imports(file) if name.split(".")[0] == PACKAGE.name]
    return {".".join(path[:3] if path[:1] == ["chapters"] else path[:1]) for path in paths} - {""}


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


def broken(files: list[Path], allowed: Callable[[Path], set[str]]) -> list[str]:
    """What files import of ours beyond what they may, as sentences."""
    return [
        f"{named(file)} imports {name}"
        for file in files
        for name in sorted(ours(file))
        if not any(name == one or name.startswith(f"{one}.") for one in allowed(file))
    ]


# --- who may import whom ----------------------------------------------------------------------------


def test_the_decoder_knows_nothing_of_ours_but_itself_and_neither_pictures_nor_widgets():
    files = files_of(*DECODER)
    assert (
        broken(files, lambda file: (DECODER - {part(file)}) | WORDS_OF.get(part(file), {"characters"})) == []
    )
    assert [named(file) for file in files if others(file) & WIDGETS] == []


def test_words_and_source_stand_on_their_own():
    assert broken(files_of(*WORDS), lambda file: set()) == []


def test_the_live_kit_knows_words_and_no_page_no_model_and_no_torch():
    """Tensors are met only in what a reader's function returns, and as the device of a computation."""
    files = files_of("live")
    assert broken(files, lambda file: {"live", "language", "characters"}) == []
    assert {file.stem for file in files if "torch" in others(file)} <= {
        "attempt",
        "exercise",
        "explorer",
        "feedback",
    }


def of_pages() -> list[Path]:
    """The files in the folders of the pages."""
    return [file for file in files_of("chapters") if len(file.relative_to(PACKAGE).parts) == 3]


def page_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[1]


def own(file: Path) -> set[str]:
    """What a file of a page may take from its own page and from what pages share."""
    page = f"chapters.{page_of(file)}"
    return {f"{page}.{name}" for name in WITHIN_A_PAGE[file.stem]} | {f"chapters.{name}" for name in SHARED}


def test_a_page_never_imports_another_page():
    foreign = [
        f"{named(file)} imports {name}"
        for file in of_pages()
        for name in sorted(ours(file))
        if name.startswith("chapters.") and name.split(".")[1] not in SHARED | {page_of(file)}
    ]
    assert foreign == []


def test_a_computation_takes_the_decoder_and_nothing_a_reader_sees():
    files = [file for file in of_pages() if file.stem == "computation"]
    # The texts that a model reads are messages, too: each language has a model of its own.
    assert broken(files, lambda file: DECODER | {"language"} | own(file)) == []
    assert [named(file) for file in files if others(file) & WIDGETS] == []


def test_views_questions_and_exercises_take_their_own_computation_and_the_kit():
    files = [file for file in of_pages() if file.stem in ("views", "questions", "exercises")]
    assert broken(files, lambda file: DECODER | WORDS | {"live"} | own(file)) == []


def test_a_page_consists_of_the_named_files():
    assert {file.stem for file in of_pages()} <= set(WITHIN_A_PAGE)


def test_what_pages_share_knows_no_page():
    files = [file for file in files_of("chapters") if file.stem in SHARED and file not in of_pages()]
    assert broken(files, lambda file: DECODER | WORDS | {"live"}) == []


def test_the_model_file_needs_nothing_of_ours_and_only_torch_of_others():
    (file,) = files_of("model")
    assert not ours(file)
    assert others(file) - sys.stdlib_module_names == {"torch"}


def test_nothing_imports_the_notebooks_the_tests_the_tools_or_what_jupyterlab_loads():
    assert [named(file) for file in FILES if others(file) & {"notebooks", "tests"}] == []
    assert [named(file) for file in FILES if "tools" in ours(file) and part(file) != "tools"] == []
    loaded = [named(file) for file in FILES if "jupyter" in ours(file)]
    assert [name for name in loaded if not name.startswith(("jupyter/", "tools/"))] == []


def test_every_part_has_its_place():
    """A new module has to be put into one of the rooms, or the tests above would not look at it."""
    assert {part(file) for file in FILES} == DECODER | WORDS | ROOMS | {"__init__"}


def test_the_decoder_imports_in_one_direction():
    """No circle: each module can be read with only the ones before it."""
    needs = {part(file): ours(file) & DECODER - {part(file)} for file in files_of(*DECODER)}
    while needs:
        free = {name for name, wanted in needs.items() if not wanted & needs.keys()}
        assert free, f"these import each other in a circle: {sorted(needs)}"
        needs = {name: wanted for name, wanted in needs.items() if name not in free}


def test_every_package_that_is_imported_is_declared():
    """All but JupyterLab and its server, which may live in an environment of their own."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {Requirement(line).name for line in project["dependencies"]}
    brought_by = metadata.packages_distributions()
    imported = {name for file in FILES if part(file) not in ("jupyter", "tools") for name in others(file)}
    imported -= sys.stdlib_module_names
    assert {"torch", "PIL", "IPython", "packaging"} <= imported
    assert not {name for name in imported if declared.isdisjoint(map(str.lower, brought_by[name]))}


# --- no writing, no network, no pickles -------------------------------------------------------------


def test_nothing_can_reach_the_network_or_unpickle():
    loaders = {"torch.load", "torch.hub.load", "np.load", "numpy.load"}
    assert [named(file) for file in FILES if others(file) & (NETWORK | PICKLES)] == []
    assert [named(file) for file in FILES if loaders & set(calls(parsed(file)))] == []


def test_what_the_browser_gets_fetches_nothing():
    reaches = ("http://", "https://", "fetch(", "XMLHttpRequest", "@import", "WebSocket(")
    files = sorted([*PACKAGE.rglob("*.js"), *PACKAGE.rglob("*.css")])
    texts = {
        named(file): file.read_text(encoding="utf-8").replace("http://www.w3.org/", "") for file in files
    }
    assert [f"{name}: {reach}" for name, text in texts.items() for reach in reaches if reach in text] == []


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


def test_files_are_written_only_by_functions_whose_name_says_so():
    quiet = [file for file in FILES if part(file) not in ("tools", "jupyter")]
    assert [f"{named(file)}: {call}" for file in quiet for call in writers(parsed(file))] == []


def test_what_a_notebook_shows_writes_nothing_whatever_its_name():
    shown = [file for file in files_of("live", "chapters") if file.stem != "computation"]
    calling = (
        (file, node) for file in shown for node in ast.walk(parsed(file)) if isinstance(node, ast.Call)
    )
    assert [f"{named(file)}: {ast.unparse(node)}" for file, node in calling if writes(node)] == []


# --- the tests above can say no ---------------------------------------------------------------------


def test_an_import_is_found_wherever_and_however_it_is_written():
    lines = ["from ..live import style", "import torch.nn", "from . import base", "from .. import _"]
    code = "def f():\n    " + "\n    ".join(lines)
    found = names_of(ast.parse(code), "tokenwerk_helpers.chapters")
    assert {"tokenwerk_helpers.live", "tokenwerk_helpers.live.style", "torch.nn"} <= found
    assert {"tokenwerk_helpers.chapters.base", "tokenwerk_helpers._"} <= found


@pytest.mark.parametrize(
    ("where", "line", "may"),
    [
        ("model.py", "from .live import style", DECODER),
        ("live/style.py", "from ..chapters.book import title", {"live", "language"}),
        ("chapters/block/computation.py", "from ..residual.computation import depth", DECODER),
    ],
)
def test_an_import_beyond_its_room_is_noticed(where, line, may, monkeypatch):
    file = PACKAGE / where
    package = ".".join(file.relative_to(PACKAGE.parent).parent.parts)
    monkeypatch.setattr(sys.modules[__name__], "imports", lambda _file: names_of(ast.parse(line), package))
    assert broken([file], lambda _file: may)


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
