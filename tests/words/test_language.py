import json
from pathlib import Path

import pytest

from placet.words.language import LANGUAGES, guess_language, normalise_language
from tests.words.questions import QUESTIONS

HELD_OUT = Path(__file__).parents[2] / "examples" / "shop" / "questions.jsonl"


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("en", "en"), ("en-GB", "en"), ("EN_us", "en"), ("en_US.UTF-8", "en"),
        ("pt", "pt-BR"), ("pt-BR", "pt-BR"), ("pt_BR.UTF-8", "pt-BR"), ("pt-PT", "pt-BR"), (" por ", "pt-BR"),
        ("ro", "ro"), ("ro-RO", "ro"), ("ro_RO@euro", "ro"), ("ron", "ro"), ("mo", "ro"),
        ("de", None), ("C", None), ("C.UTF-8", None), ("POSIX", None), ("", None), (None, None), ("-", None),
    ],
)  # fmt: skip
def test_a_tag_names_one_of_the_three_languages_or_none(tag: str | None, language: str | None) -> None:
    assert normalise_language(tag) == language


def test_each_language_has_at_least_sixty_questions() -> None:
    assert min(sum(language == one for one, _ in QUESTIONS) for language in LANGUAGES) >= 60


@pytest.mark.parametrize(("language", "question"), QUESTIONS)
def test_a_question_is_known_for_the_language_it_is_asked_in(language: str, question: str) -> None:
    assert guess_language(question) == language


def test_of_questions_by_another_hand_few_stay_open_and_none_is_taken_for_another_language() -> None:
    rows = [json.loads(line) for line in HELD_OUT.read_text(encoding="utf-8").splitlines()]
    guesses = [(row["language"], guess_language(row["question"])) for row in rows]

    assert [pair for pair in guesses if pair[1] not in (pair[0], None)] == []
    assert sum(guess is None for _, guess in guesses) <= 0.05 * len(guesses)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8842",
        "ok",
        "#8842?!",
        "Dom Casmurro",
        "da",
        "no",
        "status 8842",
        "Где мой заказ?",
        "¿Dónde está mi pedido?",
    ],
)
def test_what_says_too_little_or_is_none_of_the_three_stays_open(text: str) -> None:
    assert guess_language(text) is None


def test_a_title_in_quotation_marks_says_nothing_about_its_reader() -> None:
    assert guess_language('Do you have "Memórias Póstumas de Brás Cubas, uma edição não abreviada"?') == "en"
    assert guess_language("Aveți „The Importance of Being Earnest, with the notes”?") == "ro"


def test_an_address_says_nothing_about_its_writer() -> None:
    assert guess_language("find not.my.order@where.example") == "en"
    assert guess_language("procure o cliente where.is.the.order@shop.example") == "pt-BR"


def test_romanian_written_with_cedillas_is_romanian() -> None:
    assert guess_language("Aţi expediat şi coletul?") == "ro"
