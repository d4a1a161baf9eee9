"""What is stored of a page and printed of it: pictures with their sentences, whoever saves or exports it."""

import asyncio
import json
import posixpath
import os
import re
from functools import cache
import shutil
import subprocess
import sys
import zipfile
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from jupyter_server.extension.config import ExtensionConfigManager
from jupyter_server.extension.manager import ExtensionPackage
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from tokenwerk_helpers.tools.refresh import BOOK, METADATA, canonical, executed
from tokenwerk_helpers.jupyter import extension
from tokenwerk_helpers.jupyter.book import Book, mathml
from tokenwerk_helpers.jupyter.stills import Stills
from tokenwerk_helpers.jupyter.stored import store
from tokenwerk_helpers.live.twin import LINE, MARK, WIDGET_VIEW

ROOT = Path(__file__).parents[2]
TYPED = "Eingetippt: <b>fett</b>, $x^2$, *schräg* und &amp;"
CODE = {
    "view": f"from tokenwerk_helpers.live.matrix import MatrixView\nMatrixView([[1.0]], alt={TYPED!r})",
    "question": "from tokenwerk_helpers.live.question import Choice, Option\nChoice('Wie viele?', None, [Option(1, 'eins', 'ja')])",
    "theirs": "import ipywidgets\nipywidgets.IntSlider()",
    "bar": "from tqdm.auto import tqdm\nfor _ in tqdm(range(2)):\n    pass",
}


@pytest.fixture(scope="module")
def run_once(tmp_path_factory) -> NotebookNode:
    """A page as a run leaves it: a live view of ours, a question, a slider of others, a progress bar."""
    path = tmp_path_factory.mktemp("page") / "page.ipynb"
    heading = new_markdown_cell("# Die Seite\n[weiter](01_next.ipynb#Ende) $a_1 < b$")
    code = [new_code_cell(source) for source in CODE.values()]
    nbformat.write(new_notebook(cells=[heading, *code], metadata=METADATA), path)
    return executed(path)


@pytest.fixture
def page(run_once) -> NotebookNode:
    """A copy of that page, to be changed."""
    return deepcopy(run_once)


def outputs(notebook: NotebookNode) -> dict[str, list[NotebookNode]]:
    """The outputs of each code cell by its name."""
    return dict(zip(CODE, (cell.outputs for cell in notebook.cells if cell.cell_type == "code")))


# ---- what is stored ----


def test_a_saved_page_keeps_picture_and_sentence_of_a_live_view_and_not_the_view(page):
    live = outputs(page)["view"]
    assert all(WIDGET_VIEW in output.data for output in live)
    # The sentence's own view is one that front ends hide, since the live view shows the sentence itself.
    assert live[1].data[WIDGET_VIEW]["model_id"] == ""
    store(page)
    picture, sentence = outputs(page)["view"]
    assert set(picture.data) == {"image/png"} and picture.metadata["image/png"]["alt"] == TYPED
    assert sentence.data == {"text/plain": TYPED} and not sentence.metadata
    assert [output.data for output in outputs(page)["question"]] == [{"text/plain": "Wie viele?\n(a) eins"}]


def test_saving_leaves_widgets_of_others_alone_and_drops_progress_bars(page):
    before = deepcopy(outputs(page)["theirs"])
    store(page)
    assert outputs(page)["theirs"] == before and WIDGET_VIEW in before[0].data
    assert [output for output in outputs(page)["bar"] if "data" in output] == []


def test_a_notebook_without_a_view_of_ours_is_saved_as_it_is(page):
    page.cells = [cell for cell in page.cells if cell.source in (CODE["theirs"], CODE["bar"])]
    page.metadata.language_info = {"name": "python", "version": "3.12.1"}
    before = deepcopy(page)
    store(page)
    assert page == before


def test_what_is_saved_of_a_page_is_what_the_maintainer_stores(page):
    page.cells = [cell for cell in page.cells if cell.source != CODE["theirs"]]
    page.metadata.language_info = {"name": "python", "version": "3.12.1"}
    wanted = canonical(page)
    store(page)
    # Identities, counts and streams are the front end's to keep.
    assert outputs(page)["view"] == outputs(wanted)["view"]
    assert outputs(page)["question"] == outputs(wanted)["question"]
    assert page.metadata == wanted.metadata


def test_long_sentences_are_stored_in_lines_that_no_page_breaks_inside_of_a_word():
    for path in sorted(BOOK.glob("*/*.ipynb")):
        for cell in nbformat.read(path, 4).cells:
            for before, output in zip(cell.get("outputs", []), cell.get("outputs", [])[1:]):
                if alt := before.get("metadata", {}).get("image/png", {}).get("alt"):
                    text = output.data["text/plain"]
                    assert text.split() == alt.split()
                    assert max(map(len, text.split("\n"))) <= LINE


# ---- the server ----


@pytest.fixture
def contents(tmp_path) -> AsyncLargeFileManager:
    """The way a Jupyter server with our extension reads and writes files."""
    manager = AsyncLargeFileManager(root_dir=str(tmp_path))
    extension._load_jupyter_server_extension(SimpleNamespace(contents_manager=manager, config=Config()))
    return manager


def test_the_language_of_a_page_is_told_as_the_kernel_tells_it(run_once):
    # In a process of its own: where ipykernel is imported, widgets of other tests would find no kernel.
    code = (
        "import json; from tokenwerk_helpers.jupyter.extension import language; print(json.dumps(language()))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(told.stdout) == run_once.metadata.language_info


def test_a_page_that_is_opened_names_its_language_and_is_stored_without_it(contents, page, monkeypatch):
    language = dict(page.metadata.language_info)
    assert "version" in language
    monkeypatch.setattr(extension, "language", lambda: language)
    place = Path(contents.root_dir) / "page.ipynb"
    store(page)
    nbformat.write(page, place)
    stored = place.read_text("utf-8")
    told = asyncio.run(contents.get("page.ipynb"))
    assert told["content"]["metadata"]["language_info"] == language
    content = json.loads(json.dumps(told["content"]))
    asyncio.run(contents.save({"type": "notebook", "format": "json", "content": content}, "page.ipynb"))
    assert place.read_text("utf-8") == stored


def test_a_running_page_is_saved_without_its_live_views_and_keeps_them(contents, page):
    live = json.loads(json.dumps(page))
    asyncio.run(contents.save({"type": "notebook", "format": "json", "content": page}, "page.ipynb"))
    saved = nbformat.read(Path(contents.root_dir) / "page.ipynb", 4)
    assert [sorted(output.data) for output in outputs(saved)["view"]] == [["image/png"], ["text/plain"]]
    assert live["cells"][1]["outputs"][0]["metadata"][WIDGET_VIEW] == MARK


def test_other_files_pass_the_server_as_they_are(contents):
    model = {"type": "file", "format": "text", "content": "language"}
    asyncio.run(contents.save(model, "notes.txt"))
    assert asyncio.run(contents.get("notes.txt"))["content"] == "language"
    assert asyncio.run(contents.get("", content=False))["type"] == "directory"


# ---- what an installation brings ----

BUILD = "import sys, setuptools.build_meta as build; getattr(build, sys.argv[1])(sys.argv[2])"
BROUGHT = ("jupyter_nbconvert_config.py", "jupyter_server_config.d/tokenwerk.json")


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A copy of what a wheel is built of, since building leaves files beside it."""
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("__pycache__", "*.safetensors")
    shutil.copytree(ROOT / "tokenwerk_helpers", folder / "tokenwerk_helpers", ignore=ignored)
    return folder


@pytest.mark.parametrize("kind", ["build_wheel", "build_editable"])
def test_an_installation_brings_the_settings_of_servers_and_of_nbconvert(kind, source, tmp_path):
    subprocess.run([sys.executable, "-c", BUILD, kind, str(tmp_path)], cwd=source, check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for file in BROUGHT:
        assert any(name.endswith(f".data/data/etc/jupyter/{file}") for name in names), names
    if kind == "build_wheel":
        assert "tokenwerk_helpers/jupyter/book.html.j2" in names


def with_installed_settings(folder: Path) -> dict[str, str]:
    """The environment of a process that finds, in `folder`, what an installation brings to etc/jupyter."""
    (folder / "jupyter_server_config.d").mkdir()
    lab = ROOT / "tokenwerk_helpers" / "jupyter"
    for file in BROUGHT:
        shutil.copy(lab / Path(file).name, folder / file)
    own = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    return os.environ | own | {"JUPYTER_CONFIG_PATH": str(folder), "PYTHONPATH": str(ROOT)}


def test_a_server_started_without_our_options_loads_the_extension(tmp_path):
    with_installed_settings(tmp_path)
    found = ExtensionConfigManager(read_config_path=[str(tmp_path)]).get_jpserver_extensions()
    assert found == {extension.__name__: True}
    assert ExtensionPackage(name=extension.__name__, enabled=True).validate()


def test_nbconvert_that_runs_a_page_shows_its_pictures_and_asks_no_one_for_widgets(tmp_path):
    page = new_notebook(cells=[new_code_cell(CODE["view"])], metadata=METADATA)
    nbformat.write(page, tmp_path / "page.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "page.ipynb"]
    surroundings = with_installed_settings(tmp_path)
    subprocess.run(command, cwd=tmp_path, env=surroundings, check=True, capture_output=True, timeout=300)
    html = (tmp_path / "page.html").read_text("utf-8")
    assert pictures(html) == [(TYPED, TYPED)]
    assert "unpkg.com" not in html and WIDGET_VIEW not in html


# ---- what is printed ----


def pictures(html: str) -> list[tuple[str, str]]:
    """The alternative text and the caption of each picture."""
    figures = BeautifulSoup(html, "html.parser").find_all("figure")
    return [(figure.img["alt"], figure.figcaption.get_text()) for figure in figures]


def foreign(html: str) -> list[str]:
    """What the page would load from elsewhere."""
    soup = BeautifulSoup(html, "html.parser")
    loaded = [tag.get("src") or tag.get("href") for tag in soup.select("[src], link[href]")]
    styles = "".join(style.get_text() for style in soup.find_all("style"))
    loaded += re.findall(r"(?:@import\s+|url\()[\"']?([^\"')\s]+)", styles)
    return [address for address in loaded if not address.startswith(("data:", "#"))]


@pytest.mark.parametrize("exporter", [Book, HTMLExporter])
def test_a_live_view_is_printed_as_its_picture_with_its_sentence_once_and_as_text(exporter, page):
    html, _resources = exporter(preprocessors=[Stills]).from_notebook_node(page)
    assert pictures(html) == [(TYPED, TYPED)]
    soup = BeautifulSoup(html, "html.parser")
    soup.figcaption.decompose()
    assert "Eingetippt" not in soup.main.get_text().replace(CODE["view"], "")


def links(soup: BeautifulSoup) -> set[str]:
    """The pages that links lead to, beside this one."""
    targets = {tag["href"].partition("#")[0] for tag in soup.select("main a[href]")}
    return {target for target in targets if target and "://" not in target}


def sentences(path: Path) -> list[str]:
    """What a stored page says of its pictures."""
    stored = [output for cell in nbformat.read(path, 4).cells for output in cell.get("outputs", [])]
    return [o.metadata["image/png"]["alt"] for o in stored if "image/png" in o.get("data", {})]


@cache
def printed() -> dict[str, str]:
    """Every page of the book as HTML, by the name of its file."""
    book = Book()
    pages = sorted(BOOK.glob("*/*.ipynb"))
    return {f"{path.parent.name}/{path.stem}": book.from_filename(str(path))[0] for path in pages}


def test_every_page_of_the_book_is_printed_with_nothing_from_elsewhere():
    for name, html in printed().items():
        assert foreign(html) == [], name
        assert pictures(html) == [(sentence, sentence) for sentence in sentences(BOOK / f"{name}.ipynb")] != []
        soup, (edition, page) = BeautifulSoup(html, "html.parser"), name.split("/")
        assert soup.title.get_text().startswith(f"{page.partition('_')[0]} · ") and soup.html["lang"] == edition
        led = {posixpath.normpath(f"{edition}/{target}") for target in links(soup)}
        assert len(led) > 1 and led <= {f"{written}.html" for written in printed()}
        # Formulas are drawn by the browser: no TeX is left of them, but in code.
        for code in soup.select("pre, code"):
            code.decompose()
        assert not re.search(r"\$|\\[a-z]", soup.main.get_text()), name


def test_a_link_into_a_page_leads_to_one_of_its_headings_in_print():
    pages = {f"{name}.html": BeautifulSoup(html, "html.parser") for name, html in printed().items()}
    led = {
        (posixpath.normpath(f"{name}/../{file or posixpath.basename(name)}"), anchor)
        for name, page in pages.items()
        for tag in page.select("main a[href*='.html#']")
        for file, _sign, anchor in [tag["href"].partition("#")]
        if "://" not in file
    }
    assert led
    lost = {target for target in led if not pages[target[0]].find(["h1", "h2", "h3"], id=target[1])}
    assert lost == set()


def test_a_formula_becomes_mathml_and_the_name_of_a_function_keeps_close_to_its_bracket():
    assert "<msub>" in mathml("a_1", "inline") and 'display="block"' in mathml("a", "block")
    assert 'rspace="0">softmax' in mathml(r"\operatorname{softmax}(x)", "inline")
    assert 'rspace="0.17em">ln' in mathml(r"\ln p", "inline")


def test_an_image_beside_the_page_is_embedded_and_links_within_the_book_lead_to_html(tmp_path):
    shutil.copy(BOOK / "images" / "live_view.png", tmp_path)
    source = "![Ein Bild](live_view.png) [weiter](01_next.ipynb#Ende) [fort](https://example.org/x.ipynb)"
    nbformat.write(new_notebook(cells=[new_markdown_cell(source)]), tmp_path / "page.ipynb")
    html, _resources = Book().from_filename(str(tmp_path / "page.ipynb"))
    soup = BeautifulSoup(html, "html.parser")
    assert soup.main.img["src"].startswith("data:image/png;base64,")
    targets = [tag["href"] for tag in soup.select("main a")]
    assert targets == ["01_next.html#Ende", "https://example.org/x.ipynb"]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")
def test_make_html_prints_the_book_into_build_html():
    plan = subprocess.run(["make", "-n", "html"], cwd=ROOT, capture_output=True, text=True, check=True)
    said = " ".join(plan.stdout.replace("\\\n", " ").split())
    assert "for edition in de en; do" in said and "nbconvert --to tokenwerk_helpers.jupyter.book.Book" in said
    assert "--output-dir build/html/$edition notebooks/$edition/*.ipynb" in said
