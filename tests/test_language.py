"""The language of a page, as a setting from outside names it."""

import os
import subprocess
import sys

import pytest

from tokenwerk_helpers import language

GERMAN = ("", " ", "de", "DE", "de_DE.UTF-8", "de-AT", "C", "C.UTF-8", "POSIX", "fr", "???")
ENGLISH = ("en", "en_GB", "en_US.UTF-8", "en@euro", " en\n")


def test_a_setting_from_outside_names_a_language_or_means_the_default():
    assert {language.wished_for(setting) for setting in GERMAN} == {"de"}
    assert {language.wished_for(setting) for setting in ENGLISH} == {"en"}


@pytest.mark.parametrize("setting", ["", "de_DE.UTF-8", "en_GB"])
def test_no_setting_keeps_the_package_from_being_imported(setting):
    code = "from tokenwerk_helpers.language import _; print(_('Reset'))"
    environment = os.environ | {"TOKENWERK_LANG": setting, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, env=environment, check=True, capture_output=True, encoding="utf-8").stdout
    assert shown.strip() == ("Reset" if setting == "en_GB" else "Zurücksetzen")
