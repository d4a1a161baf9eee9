"""What 00_start computes: settings in, arrays out."""

import platform
from dataclasses import dataclass
from importlib import metadata

import numpy as np
import torch
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from ...model import softmax

# ---- a first slider ----

OTHER_LOGITS = (2.0, 1.0)  # invented, as the notebook says


@dataclass(frozen=True)
class NextWord:
    """Logits of three words and the probabilities softmax makes of them; each  # (3,)"""

    logits: np.ndarray
    probabilities: np.ndarray


def next_word(logit: float) -> NextWord:
    """Softmax of the two fixed logits and this one."""
    logits = torch.tensor([*OTHER_LOGITS, logit], dtype=torch.float64)
    return NextWord(logits.numpy(), softmax(logits).numpy())


# ---- is everything there? ----

PACKAGES = ("torch", "matplotlib", "ipywidgets", "anywidget")
LAB = SpecifierSet(">=4")  # the views are built for JupyterLab 4; only the server needs it, no module of ours


def needed_versions() -> dict[str, SpecifierSet]:
    """Which versions the package asks for, by distribution name; empty if it was never installed."""
    try:
        lines = metadata.requires("tokenwerk-helpers") or []
    except metadata.PackageNotFoundError:
        return {}
    return {parsed.name: parsed.specifier for parsed in map(Requirement, lines)}


def version_of(distribution: str) -> str | None:
    """The version of an installed package, None if there is none."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Part:
    """Something the book needs: its version here (None if it is missing) and which versions will do."""

    name: str
    version: str | None
    needed: SpecifierSet

    @property
    def fits(self) -> bool:
        """Is it here, in a version that will do?"""
        return self.version is not None and self.needed.contains(self.version, prereleases=True)


def installed_parts() -> list[Part]:
    """Python and the packages of the book, as they are in this kernel."""
    needed = needed_versions() | {"jupyterlab": LAB}
    packages = (*PACKAGES, "jupyterlab")
    python = Part("Python", platform.python_version(), SpecifierSet(">=3.11"))
    return [python, *(Part(name, version_of(name), needed.get(name, SpecifierSet())) for name in packages)]


def torch_computes() -> bool:
    """Does torch multiply two small matrices as one does by hand?"""
    product = torch.tensor([[1.0, 2.0], [3.0, 4.0]]) @ torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    return product.tolist() == [[2.0, 1.0], [4.0, 3.0]]
