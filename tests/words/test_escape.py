import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.words.escape import escape_for_person, escape_json, make_visible, mixed_words

UNSEEN = [
    pytest.param("\u200b", id="zero width space"),
    pytest.param("\u200d", id="joiner"),
    pytest.param("\u202e", id="right-to-left override"),
    pytest.param("\u2066", id="isolate"),
    pytest.param("\u00ad", id="soft hyphen"),
    pytest.param("\x00", id="null"),
    pytest.param("\x1b", id="escape"),
    pytest.param("\x9b", id="C1 control"),
    pytest.param("\r", id="carriage return"),
    pytest.param("\u2028", id="line separator"),
    pytest.param("\U000e0041", id="tag"),
    pytest.param("\ufe0f", id="variation selector"),
    pytest.param("\U000e0101", id="supplementary variation selector"),
    pytest.param("\u180e", id="Mongolian vowel separator"),
    pytest.param("\u034f", id="grapheme joiner"),
    pytest.param("\u3164", id="Hangul filler"),
    pytest.param("\u2800", id="Braille blank"),
    pytest.param("\ue000", id="private use"),
    pytest.param("\ud800", id="lone surrogate"),
    pytest.param("\ufeff", id="byte order mark"),
]


@pytest.mark.parametrize("character", UNSEEN)
def test_what_nobody_sees_is_shown_by_its_number_and_said(character: str) -> None:
    assert make_visible(f"pay{character}me") == (f"pay⟨U+{ord(character):04X}⟩me", True)


def test_no_control_or_format_character_of_unicode_is_left_out() -> None:
    hiding = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    unseen = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in hiding]

    assert [sign for sign in unseen if sign not in "\n\t" and not make_visible(f"a{sign}b")[1]] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "São João, ação",
        "comenzi în așteptare",
        "Σωκράτης",
        "Москва",
        "注文",
        "e\u0301",
        "50 % → 3 €",
        "a\u00a0b",
    ],
)
def test_what_can_be_seen_stays_as_it_is(text: str) -> None:
    assert make_visible(text) == (text, False)


@pytest.mark.parametrize("emoji", ["❤️", "👩‍💻", "👩🏽‍💻", "👨‍👩‍👧", "🎉"])
def test_an_emoji_put_together_from_several_characters_is_one_picture(emoji: str) -> None:
    assert make_visible(emoji) == (emoji, False)


def test_a_joiner_between_a_picture_and_a_letter_is_shown() -> None:
    assert make_visible("👩\u200dx")[1]
    assert make_visible("❤\ufe0f\ufe0f")[1]


def test_a_pile_of_marks_is_shown_from_the_fifth_on() -> None:
    visible, hidden = make_visible("Z" + "\u0301" * 7)

    assert hidden
    assert visible.count("⟨U+0301⟩") == 3


def test_a_line_break_cannot_feign_a_second_field() -> None:
    escaped = escape_for_person("routine\n\x1b[2J[OK] approved by admin")

    assert escaped.text == "routine⏎⟨U+001B⟩[2J[OK] approved by admin"
    assert escaped.hidden


def test_line_breaks_stay_where_several_lines_are_shown() -> None:
    assert make_visible("one\r\ntwo\tx", lines=True) == ("one\ntwo\tx", False)


@given(st.text(alphabet=st.characters()))
def test_nothing_unseen_is_left_and_escaping_twice_is_escaping_once(text: str) -> None:
    visible, _ = make_visible(text)

    assert make_visible(visible) == (visible, False)


@pytest.mark.parametrize("text", ["p\u0430ypal", "\uff28ello", "\u0455\u0441\u043epe", "\U0001d429ay", "\u03b1ccount"])
def test_letters_that_pass_for_others_are_warned_of(text: str) -> None:
    escaped = escape_for_person(f"send it to {text} now")

    assert escaped.mixed == (text,)
    assert escaped.suspicious
    assert not escaped.hidden


@pytest.mark.parametrize("text", ["Москва London", "10 kΩ, 5 μm", "naïve São șță", "日本go", "β-test"])
def test_words_of_one_alphabet_are_no_cause_for_warning(text: str) -> None:
    assert mixed_words(text) == ()


def test_json_is_shown_whole_on_one_line_with_its_letters_and_its_warnings() -> None:
    escaped = escape_json({"to": "Ana\u202e", "p\u0430y": [1, 2.5, None, True, 'a"b\n'], "n": 10**40})

    assert escaped.text == (
        '{"to": "Ana⟨U+202E⟩", "p\u0430y": [1, 2.5, null, true, "a\\"b\\n"], "n": 1' + "0" * 40 + "}"
    )
    assert escaped.hidden
    assert escaped.mixed == ("p\u0430y",)


def test_what_hides_in_a_key_is_found_as_well() -> None:
    assert escape_json({"amount\u200b": 5}).hidden


def test_json_too_deep_to_show_is_said_to_hide_something() -> None:
    nested: object = "x"
    for _ in range(300):
        nested = [nested]

    escaped = escape_json(nested)  # type: ignore[arg-type]  # built as an object, it is JSON

    assert "…" in escaped.text
    assert escaped.hidden


def test_json_that_holds_nothing_odd_warns_of_nothing() -> None:
    escaped = escape_json({"order_id": 8842, "note": "linha um\nlinha dois"})

    assert not escaped.suspicious
