"""The words of the package: every message has its German, no German is left over, and the fields agree."""

import ast
import gettext
import re
import shutil
import string

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import write_po

from tokenwerk_helpers.grammars.german import SPELL_WORDS
from tokenwerk_helpers.tools import messages

PACKAGE = messages.PACKAGE


def forms(message: Message) -> list[tuple[str, str]]:
    """Pairs of English and translated text; of a plural message, every form with its own English."""
    if not message.pluralizable:
        return [(message.id, message.string)]
    singular, plural = message.id
    return [(singular if index == 0 else plural, text) for index, text in enumerate(message.string)]


def stored(language: str) -> list[Message]:
    """The messages of the catalogue on disk, without its header."""
    return [message for message in messages.read(language) if message.id]


def translated(language: str) -> list[Message]:
    """Of the stored messages those that have a translation: gaps are another test's matter."""
    return [message for message in stored(language) if all(text for _, text in forms(message))]


def fields(text: str) -> set[str]:
    """The names of the format fields of a message."""
    return {name for _text, name, _form, _conversion in string.Formatter().parse(text) if name is not None}


def lost_fields(catalogue: list[Message]) -> list[tuple[str, str]]:
    """Texts whose fields differ from those of the English; a singular may leave its number out."""
    wrong = []
    for message in catalogue:
        for index, (english, text) in enumerate(forms(message)):
            left_out = fields(english) - fields(text)
            is_singular = message.pluralizable and index == 0
            if fields(text) - fields(english) or (left_out and not is_singular):
                wrong.append((english, text))
    return wrong


def wrong_quotes(text: str) -> bool:
    """Is there a quotation mark other than the German „ and “, or one without its partner?"""
    return bool(re.search('["”«»‟]', text)) or text.count("„") != text.count("“")


# ---- the stored catalogues ----


def test_every_message_has_its_german():
    assert messages.missing("de") == []


def test_the_catalogues_are_stored_as_the_tool_writes_them(tmp_path, monkeypatch):
    """No message is left over and none is new, the layout is babel's, and the compiled one is in step."""
    before = {file.name: file.read_bytes() for file in messages.LOCALE.rglob("*.?o")}
    monkeypatch.setattr(messages, "LOCALE", shutil.copytree(messages.LOCALE, tmp_path / "locale"))
    messages.update()
    after = {file.name: file.read_bytes() for file in messages.LOCALE.rglob("*.?o")}
    assert [name for name in before if before[name] != after[name]] == []


def test_translations_keep_the_fields_of_the_english():
    assert lost_fields(translated("de")) == []


def test_german_uses_german_quotation_marks():
    assert [text for message in stored("de") for _, text in forms(message) if wrong_quotes(text)] == []


def test_german_is_not_the_english_by_oversight():
    """Field terms and formulas are the same in both languages; a sentence is not."""
    same = [text for message in stored("de") for english, text in forms(message) if english == text]
    long = [text for text in same if len(re.findall(r"[A-Za-z]{2,}", text)) > 4]
    assert [text for text in long if not {*text.split()} <= {*SPELL_WORDS}] == []


def test_no_message_is_fuzzy():
    assert [message.id for message in messages.read("de") if message.fuzzy and message.id] == []


def test_gettext_itself_finds_every_german_sentence():
    with messages.po_path("de").with_suffix(".mo").open("rb") as file:
        translations = gettext.GNUTranslations(file)
    for message in translated("de"):
        if message.pluralizable:
            assert translations.ngettext(*message.id, 2) == message.string[1]
        else:
            assert translations.gettext(message.id) == message.string


# ---- the code that uses them ----


def calls_at_import(tree: ast.Module) -> list[int]:
    """Lines on which `_` or `ngettext` is called while the module is imported."""
    lines: list[int] = []

    def walk(node: ast.AST) -> None:
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("_", "ngettext"):
            lines.append(node.lineno)
        later = node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else []
        for child in ast.iter_child_nodes(node):
            # A function's body runs later; its default arguments and decorators run now.
            if child not in (later if isinstance(later, list) else [later]):
                walk(child)

    walk(tree)
    return lines


def unreachable(tree: ast.Module) -> list[int]:
    """Lines on which a message is no plain text, so that no extractor can find it: _(f"..."), _(name)."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    named = (node for node in calls if getattr(node.func, "id", None) in ("_", "ngettext"))
    counts = {"_": 1, "ngettext": 2}
    return [
        call.lineno
        for call in named
        if not all(
            isinstance(word, ast.Constant) and isinstance(word.value, str)
            for word in call.args[: counts[call.func.id]]
        )
    ]


SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "language.py")


def test_messages_are_translated_when_shown_not_when_imported():
    trees = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8")) for path in SOURCES}
    at_import = [f"{name}:{line}" for name, tree in trees.items() for line in calls_at_import(tree)]
    hidden = [f"{name}:{line}" for name, tree in trees.items() for line in unreachable(tree)]
    assert trees and (at_import, hidden) == ([], [])


# ---- the checks themselves can say no ----


def catalogue(english, german) -> list[Message]:
    made = Catalog(locale="de")
    made.add(english, german)
    return [message for message in made if message.id]


@pytest.mark.parametrize(
    ("english", "german", "is_wrong"),
    [
        ("The mean is {mean}.", "Der Mittelwert ist {mean}.", False),
        ("The mean is {mean}.", "Der Mittelwert ist {mittel}.", True),
        ("The mean is {mean}.", "Der Mittelwert.", True),
        (("{n} row", "{n} rows"), ("eine Zeile", "{n} Zeilen"), False),
        (("{n} row", "{n} rows"), ("eine Zeile", "Zeilen"), True),
    ],
)
def test_a_lost_field_is_noticed(english, german, is_wrong):
    assert bool(lost_fields(catalogue(english, german))) is is_wrong


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [("„gut“", False), ('"gut"', True), ("„gut”", True), ("„gut", True), ("ohne", False)],
)
def test_a_wrong_quotation_mark_is_noticed(text, is_wrong):
    assert wrong_quotes(text) is is_wrong


def test_an_untranslated_and_a_leftover_message_are_noticed(tmp_path, monkeypatch):
    (tmp_path / "page.py").write_text('def f(_):\n    return _("new"), _("kept")\n', encoding="utf-8")
    po = tmp_path / "locale" / "de" / "LC_MESSAGES" / "tokenwerk.po"
    po.parent.mkdir(parents=True)
    made = Catalog(locale="de")
    made.add("kept", "geblieben")
    made.add("old", "alt")
    with po.open("wb") as file:
        write_po(file, made)
    monkeypatch.setattr(messages, "PACKAGE", tmp_path)
    monkeypatch.setattr(messages, "LOCALE", tmp_path / "locale")
    assert messages.missing("de") == ["new"]
    messages.update()
    assert {message.id for message in messages.read("de") if message.id} == {"new", "kept"}


@pytest.mark.parametrize(
    "line", ["TITLE = _('x')", "class A:\n    title = _('x')", "def f(title=_('x')): ..."]
)
def test_a_message_translated_at_import_is_noticed(line):
    assert calls_at_import(ast.parse(line))


def test_a_message_translated_when_shown_is_fine():
    assert calls_at_import(ast.parse("def f():\n    return _('x')\ng = lambda: _('x')")) == []


def test_a_message_no_extractor_finds_is_noticed():
    assert unreachable(ast.parse("_(f'{x}')")) == unreachable(ast.parse("_(name)")) == [1]
    assert unreachable(ast.parse("_('plain')\nngettext('one', 'many', n)")) == []
