"""Execute notebooks and store them in canonical form: a diff shows only what a reader would see change.

    python -m tokenwerk_helpers.tools.refresh                          all notebooks
    python -m tokenwerk_helpers.tools.refresh notebooks/de/01_residual.ipynb

Canonical form: every code cell run once from top to bottom, outputs as PNG, plain text or Markdown, nothing
that differs from run to run (widget ids, times, dates inside pictures), laid out as nbformat writes it.
A notebook with a cell that raises, or that writes to stderr, is refused and left as it was.
"""

import argparse
import base64
import copy
import hashlib
import os
import struct
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from tokenwerk_helpers.jupyter.stored import LANGUAGE, has_twin, is_progress_bar, stored_output
from tokenwerk_helpers.live.twin import WIDGET_VIEW
from tokenwerk_helpers.tools import messages

BOOK = Path(__file__).parents[2] / "notebooks"  # a folder an edition
NOTEBOOKS = BOOK / "de"  # the source
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": LANGUAGE,
}
CELL_METADATA = {"tags", "jupyter"}
STORED_TYPES = {"image/png", "text/plain", "text/markdown"}
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Chunks that say when or with what a picture was made, not what it shows.
PNG_NOTES = {b"tIME", b"tEXt", b"zTXt", b"iTXt", b"eXIf"}


class Refused(Exception):
    """A notebook that must not be stored, with the reason."""


# ---- pictures ----


def png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (type, body) of each chunk of a PNG."""
    position = len(PNG_SIGNATURE)
    while position + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[position : position + 8])
        yield kind, data[position + 8 : position + 8 + length]
        position += 12 + length


def undated(png: str) -> str:
    """The base64 PNG without chunks that carry dates or program names."""
    data = base64.b64decode(png)
    kept = [(kind, body) for kind, body in png_chunks(data) if kind not in PNG_NOTES]
    chunks = (struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in kept)
    return base64.b64encode(PNG_SIGNATURE + b"".join(chunks)).decode("ascii")


# ---- outputs, cells, notebooks ----


def joined_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs with neighbouring texts of one stream joined: the kernel cuts them at random places."""
    joined: list[NotebookNode] = []
    for output in outputs:
        before = joined[-1] if joined else {}
        is_next_piece = "stream" == output.output_type == before.get("output_type")
        if is_next_piece and before.name == output.name:
            before.text += output.text
        else:
            joined.append(output)
    return joined


def canonical_output(output: NotebookNode, count: int) -> NotebookNode | None:
    """The output as it is stored, or None where only a progress bar was shown."""
    if output.output_type == "execute_result":
        output.execution_count = count
    output = stored_output(output)
    if output is None or "data" not in output:
        return output
    if "image/png" in output.data:
        output.data["image/png"] = undated(output.data["image/png"])
    # Its width on the page and its alternative text belong to a picture; all else is the tool's.
    sizes = {kind: value for kind, value in output.metadata.items() if kind in STORED_TYPES}
    output.metadata = nbformat.from_dict(sizes)
    return output


def unused_id(cell: NotebookNode, taken: set[str]) -> str:
    """An id that depends on the text of the cell alone, so that two machines choose the same."""
    for attempt in range(1000):
        found = hashlib.sha256(f"{attempt}{cell.source}".encode()).hexdigest()[:8]
        if found not in taken:
            return found
    raise Refused("more than a thousand cells of the same text")


def canonical(notebook: NotebookNode) -> NotebookNode:
    """A copy of an executed notebook in canonical form; its texts, code, results and cell ids stay."""
    notebook = copy.deepcopy(notebook)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(METADATA)
    taken: set[str] = set()
    count = 0
    for cell in notebook.cells:
        if cell.get("id") is None or cell.id in taken:
            cell.id = unused_id(cell, taken)
        taken.add(cell.id)
        cell.metadata = NotebookNode({k: v for k, v in cell.metadata.items() if k in CELL_METADATA})
        if cell.cell_type != "code":
            continue
        count += bool(cell.source.strip())
        cell.execution_count = count if cell.source.strip() else None
        outputs = (canonical_output(output, count) for output in joined_streams(cell.outputs))
        cell.outputs = [output for output in outputs if output is not None]
    return notebook


def text_of(notebook: NotebookNode) -> str:
    """The notebook as it stands on disk: UTF-8, keys sorted, indented by one, one newline at the end."""
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


def write(path: Path, notebook: NotebookNode) -> None:
    """Store the notebook with the same bytes on every system."""
    path.write_bytes(text_of(notebook).encode("utf-8"))


# ---- what is wrong with a notebook ----


def place(number: int, cell: NotebookNode) -> str:
    """Which cell is meant, for a person who looks for it."""
    first_line = (cell.source.strip().splitlines() or ["empty"])[0]
    return f"cell {number} ({first_line[:60]})"


def faults_of_output(output: NotebookNode) -> Iterator[str]:
    """Yield what makes an output unfit to be stored."""
    data = output.get("data", {})
    if output.output_type == "error":
        yield f"raises {output.ename}: {output.evalue}"
    if output.get("name") == "stderr":
        yield f"writes to stderr: {output.text.strip()}"
    if strange := sorted(set(data) - STORED_TYPES - {WIDGET_VIEW}):
        yield f"shows {', '.join(strange)}; a page holds only {', '.join(sorted(STORED_TYPES))}"
    if WIDGET_VIEW in data and not has_twin(output) and not is_progress_bar(output):
        yield "shows a bare widget; a live view needs a still picture and a sentence beside it"


def faults(notebook: NotebookNode) -> Iterator[str]:
    """Yield what keeps a notebook from being stored and no tidying could mend."""
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            yield from (f"{place(number, cell)}: {fault}" for fault in faults_of_output(output))


def untidiness(notebook: NotebookNode) -> Iterator[str]:
    """Yield where a notebook differs from its own canonical form."""
    tidy = canonical(notebook)
    if (notebook.nbformat, notebook.nbformat_minor) != (4, 5):
        yield f"notebook format {notebook.nbformat}.{notebook.nbformat_minor}, not 4.5"
    for key in sorted(set(notebook.metadata) | set(METADATA)):
        if notebook.metadata.get(key) != tidy.metadata.get(key):
            yield f"metadata.{key} is not {METADATA.get(key, 'absent')}"
    for number, (cell, wanted) in enumerate(zip(notebook.cells, tidy.cells, strict=True)):
        where = place(number, cell)
        if cell.get("id") != wanted.id:
            yield f"{where}: the id {cell.get('id')} is missing or taken twice"
        if cell.metadata != wanted.metadata:
            yield f"{where}: metadata {', '.join(sorted(set(cell.metadata) - CELL_METADATA))} is not kept"
        if cell.get("execution_count") != wanted.get("execution_count"):
            yield f"{where}: execution count {cell.execution_count}, not {wanted.execution_count}"
        if cell.get("outputs") != wanted.get("outputs"):
            yield f"{where}: outputs hold a widget view, notes in a picture, metadata or a cut stream"


def problems(notebook: NotebookNode) -> list[str]:
    """Everything that keeps the notebook from being in canonical form, in words; empty when it is."""
    return [*faults(notebook), *untidiness(notebook)]


def problems_of_file(path: Path) -> list[str]:
    """As `problems`, and also whether the file is laid out as it should be."""
    text = path.read_bytes().decode("utf-8")
    notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
    found = problems(notebook)
    if not found and text != text_of(notebook):
        found.append(
            "the file is not laid out as nbformat writes it (key order, indent 1, newline at the end)"
        )
    return found


# ---- execution ----


def executed(path: Path) -> NotebookNode:
    """The notebook freshly run from top to bottom in its own folder; Refused when a cell fails or warns."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent.resolve())}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise Refused(f"{path.name}: {error}") from error
    return notebook


def refresh(path: Path) -> bool:
    """Run the notebook and store it in canonical form; True when the file changed."""
    notebook = executed(path)
    if found := list(faults(notebook)):
        raise Refused("\n".join(f"{path.name}: {line}" for line in found))
    before = path.read_bytes()
    write(path, canonical(notebook))
    return path.read_bytes() != before


def main(arguments: list[str] | None = None) -> int:
    """Refresh the named notebooks, or all; exit code 1 when one was refused."""
    parser = argparse.ArgumentParser(
        prog="python -m tokenwerk_helpers.tools.refresh", description=__doc__.splitlines()[0]
    )
    parser.add_argument("notebooks", nargs="*", type=Path, help="all, if none is named")
    paths = parser.parse_args(arguments).notebooks or sorted(BOOK.glob("*/*.ipynb"))
    if gaps := messages.missing():
        print("Without German yet, and stored in English where a page shows it:", file=sys.stderr)
        print(*(f"  {gap!r}" for gap in gaps), sep="\n", file=sys.stderr, flush=True)
    # The stored pages are the German ones, in the page's own pictures and without a GPT-2, whatever their
    # maker has set.
    for name in ("TOKENWERK_LANG", "TOKENWERK_GPT2", "MPLBACKEND"):
        os.environ.pop(name, None)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # two notebooks at a time: more threads would only wait
    refused = 0
    with ThreadPoolExecutor(2) as pool:
        jobs = [(path, pool.submit(refresh, path)) for path in paths]
        for path, job in jobs:
            try:
                print(f"{path.name}: {'stored' if job.result() else 'unchanged'}", flush=True)
            except Refused as error:
                refused += 1
                print(f"REFUSED, nothing written\n{error}", file=sys.stderr, flush=True)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
