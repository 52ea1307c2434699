import re

import pytest

from placet.values.run import StopReason
from placet.words.catalog import say, say_plural
from placet.words.language import LANGUAGES
from placet.words.messages import CHAIN_INTACT, LAST_WORDS, SINGLES
from placet.words.template import Template
from scripts.compile_catalogues import FORMS, catalogue, faults, read_catalogue

LETTERS = {"pt_BR": r"[ãõçáéíóúêôâà]", "ro": r"[ășțîâ]"}


@pytest.mark.parametrize("language", FORMS)
def test_every_message_in_the_code_is_translated_and_compiled(language: str) -> None:
    assert list(faults(language)) == []


def test_there_is_a_catalogue_for_every_language() -> None:
    assert {language.replace("_", "-") for language in FORMS} == set(LANGUAGES)


@pytest.mark.parametrize("language", FORMS)
def test_a_translation_has_the_same_places_as_its_message(language: str) -> None:
    for entry in read_catalogue(catalogue(language).read_text(encoding="utf-8"))[1:]:
        wanted = sorted(Template.compile(entry["msgid"]).places())
        for key, text in entry.items():
            if key.startswith("msgstr"):
                assert sorted(Template.compile(text).places()) == wanted, text


@pytest.mark.parametrize("language", LETTERS)
def test_a_translation_is_in_its_language_and_with_its_letters(language: str) -> None:
    entries = read_catalogue(catalogue(language).read_text(encoding="utf-8"))[1:]
    sentences = [entry for entry in entries if len(entry["msgid"]) > 40]

    assert [entry for entry in sentences if entry.get("msgstr") == entry["msgid"]] == []
    assert sum(bool(re.search(LETTERS[language], entry["msgstr"])) for entry in sentences) > 0.8 * len(sentences)


def test_romanian_has_commas_below_and_no_cedillas() -> None:
    assert not re.search("[şţŞŢ]", catalogue("ro").read_text(encoding="utf-8"))


def test_a_message_is_said_in_the_persons_language() -> None:
    turns = LAST_WORDS[StopReason.TURNS]

    assert say(turns, "en") == turns
    assert say(turns, "pt-BR").startswith("Desculpe, não consegui terminar dentro do limite de passos")
    assert say(turns, "ro-RO").startswith("Îmi pare rău, nu am reușit să termin în limita de pași")


def test_an_unknown_language_or_message_is_said_in_english() -> None:
    assert say("There is no run {id}.", "de", id="run_1") == "There is no run run_1."
    assert say("Never heard of {x}.", "ro", x=1) == "Never heard of 1."


@pytest.mark.parametrize("message", SINGLES)
def test_a_message_in_english_is_its_id(message: str) -> None:
    assert say(message, "en") == Template.compile(message).fill({}, language="en")


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", {0: "0 records, chain intact", 1: "1 record, chain intact", 412: "412 records, chain intact"}),
        ("pt-BR", {0: "0 registro, cadeia íntegra", 1: "1 registro, cadeia íntegra", 2: "2 registros, cadeia íntegra"}),
        ("ro", {0: "0 înregistrări, lanț intact", 1: "1 înregistrare, lanț intact", 19: "19 înregistrări, lanț intact",
                20: "20 de înregistrări, lanț intact", 101: "101 înregistrări, lanț intact"}),
    ],
)  # fmt: skip
def test_what_is_counted_agrees_with_its_number(language: str, texts: dict[int, str]) -> None:
    assert {n: say_plural(*CHAIN_INTACT, n, language) for n in texts} == texts


def test_values_in_messages_are_escaped_and_never_read_as_places() -> None:
    assert say("There is no run {id}.", "en", id="{id}\u202e\n") == "There is no run {id}⟨U+202E⟩ ."
