import gettext
import io

import pytest

from scripts.compile_catalogues import compile_entries, messages_said, read_catalogue

TEXT = r"""
# a comment
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

msgid "a \"quoted\" text\n"
"over two lines"
msgstr "ç"

msgid "{n} call"
msgid_plural "{n} calls"
msgstr[0] "uma"
msgstr[1] "muitas"

msgid "not yet"
msgstr ""
"""


def test_what_is_compiled_is_read_by_gettext() -> None:
    compiled = gettext.GNUTranslations(io.BytesIO(compile_entries(read_catalogue(TEXT))))

    assert compiled.gettext('a "quoted" text\nover two lines') == "ç"
    assert [compiled.ngettext("{n} call", "{n} calls", n) for n in (1, 2)] == ["uma", "muitas"]


def test_what_is_not_translated_is_left_to_english() -> None:
    compiled = gettext.GNUTranslations(io.BytesIO(compile_entries(read_catalogue(TEXT))))

    assert compiled.gettext("not yet") == "not yet"


def test_a_line_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_catalogue('msgid "x"\nmsgstr x\n')


def test_a_message_that_stands_twice_is_named() -> None:
    with pytest.raises(ValueError, match="stand twice"):
        read_catalogue('msgid "x"\nmsgstr "a"\nmsgid "x"\nmsgstr "b"\n')


def test_messages_are_found_in_the_tables_and_in_the_code() -> None:
    said = messages_said()

    assert said["Goodbye."] is None
    assert said["{n} call"] == "{n} calls"
