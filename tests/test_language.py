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


@pytest.mark.parametrize(
    ("environment", "edition"),
    [
        ({}, "en"),
        ({"LANG": ""}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de_AT"}, "de"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "de_CH.UTF-8"}, "de"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8", "TOKENWERK_LANG": "en"}, "en"),
        ({"LANG": "C", "TOKENWERK_LANG": "de_DE"}, "de"),
        ({"LANG": "de_DE.UTF-8", "TOKENWERK_LANG": "xx"}, "de"),
    ],
)
def test_make_lab_opens_the_edition_that_is_wished_for_or_that_of_the_locale(environment, edition):
    assert language.edition_for(environment) == edition


@pytest.mark.parametrize("setting", ["", "de_DE.UTF-8", "en_GB"])
def test_no_setting_keeps_the_package_from_being_imported(setting):
    code = "from tokenwerk_helpers.language import _; print(_('Reset'))"
    environment = os.environ | {"TOKENWERK_LANG": setting, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, env=environment, check=True, capture_output=True, encoding="utf-8").stdout
    assert shown.strip() == ("Reset" if setting == "en_GB" else "Zurücksetzen")
