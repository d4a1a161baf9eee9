"""What `pip install` of the project alone brings: every file the code reads, and settings that fit."""

import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from setuptools import find_namespace_packages
from traitlets.config.loader import PyFileConfigLoader

from tokenwerk_helpers.language import edition_for

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tokenwerk_helpers"
SETTINGS = Path("jupyter", "jupyter_lab_config.py")


@pytest.fixture(scope="module")
def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_file_beside_the_code_is_named_as_data_of_the_package(pyproject):
    named = pyproject["tool"]["setuptools"]["package-data"]["tokenwerk_helpers"]
    shipped = {file for pattern in named for file in PACKAGE.glob(pattern) if file.is_file()}
    there = {file for file in PACKAGE.rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    data = {file for file in there if file.suffix not in (".py", ".pot", ".unfinished")}
    assert data and data <= shipped, sorted(map(str, data - shipped))


def test_every_folder_of_the_package_is_installed_and_nothing_beside_it(pyproject):
    find = pyproject["tool"]["setuptools"]["packages"]["find"]
    installed = set(find_namespace_packages(str(ROOT), include=find["include"]))
    rooms = {file.parent.relative_to(ROOT) for file in PACKAGE.rglob("*.py")}
    assert {".".join(room.parts) for room in rooms} <= installed
    assert {name.split(".")[0] for name in installed} == {PACKAGE.name}


def test_the_change_log_knows_the_version_of_the_package(pyproject):
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(\d[\w.]*)\] - \d{4}-\d\d-\d\d$", text, re.MULTILINE)
    assert versions[0] == pyproject["project"]["version"]
    assert "## [Unreleased]" in text


@pytest.mark.parametrize("notebooks", [True, False])
def test_the_settings_of_jupyterlab_point_to_the_pages_only_where_there_are_some(tmp_path, notebooks):
    folder = tmp_path / PACKAGE.name / SETTINGS.parent
    shutil.copytree(PACKAGE / SETTINGS.parent, folder)
    if notebooks:
        (tmp_path / "notebooks").mkdir()
    settings = PyFileConfigLoader(SETTINGS.name, str(folder)).load_config()
    assert settings.LabApp.app_settings_dir == str(folder)
    if notebooks:
        assert settings.ServerApp.root_dir == str(tmp_path / "notebooks")
        assert settings.LabApp.default_url == f"/lab/tree/{edition_for(os.environ)}/00_start.ipynb"
    else:
        assert "root_dir" not in settings.ServerApp and "default_url" not in settings.LabApp
