"""The Jupyter server's part in a page: what is stored when a reader saves it, what is told when it is opened.

The package brings the setting that loads this into every Jupyter server of its environment
(etc/jupyter/jupyter_server_config.d), `make lab` names it besides.
"""

import inspect
from collections.abc import Callable

from .stored import LANGUAGE, store


def _jupyter_server_extension_points() -> list[dict]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(serverapp) -> None:
    contents = serverapp.contents_manager
    contents.register_pre_save_hook(before_saving)
    contents.get = telling_the_language(contents.get)
    # For "Save and Export Notebook As"; what nbconvert itself is told stands in jupyter_nbconvert_config.py.
    serverapp.config.HTMLExporter.preprocessors.append("tokenwerk_helpers.jupyter.stills.Stills")


def before_saving(model: dict, **_where) -> None:
    """Store a page's pictures and sentences in place of its live views, which the page itself keeps."""
    if model["type"] == "notebook" and model.get("content"):
        store(model["content"])


def telling_the_language(get: Callable) -> Callable:
    """The server's way to read a file, with the details of the language told of each page.

    JupyterLab asks the kernel for them, writes them into a page that lacks them, and takes it for changed.
    They name the version of Python, so they cannot be stored.
    """

    def told(model: dict) -> dict:
        if model["type"] == "notebook" and model.get("content"):
            metadata = model["content"]["metadata"]
            is_native = metadata.get("kernelspec", {}).get("name") == "python3"
            if is_native and metadata.get("language_info") == LANGUAGE:
                metadata["language_info"] = language()
        return model

    async def told_later(model) -> dict:
        return told(await model)

    def get_and_tell(*arguments, **options):
        model = get(*arguments, **options)
        return told_later(model) if inspect.isawaitable(model) else told(model)

    return get_and_tell


def language() -> dict:
    """What the kernel of this environment says of its language."""
    from ipykernel.ipkernel import IPythonKernel  # not when the server starts, since it takes a while

    return dict(IPythonKernel.language_info)
