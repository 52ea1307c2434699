import pytest
from rich.cells import cell_len

from placet.cli.progress import call_lines
from placet.values.event import CallFinished, CallStarted


def started(sentence: str = "looking…", arguments: str = '{"order_id":8842}') -> CallStarted:
    return CallStarted(
        run_id="r", key="k", tool="get_order_status", arguments=arguments, sentence=sentence, rule="role customer"
    )


def finished(code: str = "ok", rule: str = "role customer", milliseconds: float = 3.4) -> CallFinished:
    return CallFinished(run_id="r", key="k", tool="get_order_status", code=code, rule=rule, milliseconds=milliseconds)


def test_a_call_is_one_line_sentence_first() -> None:
    (line,) = call_lines(started(), finished(), "en", None)

    assert line.plain.split("   ")[0] == "  ▸ looking…"
    assert line.plain.index("get_order_status(") == 55
    assert line.plain.endswith("get_order_status(order_id=8842)   allowed by role customer   3 ms")


@pytest.mark.parametrize(("language", "words"), [("pt-BR", "permitido por"), ("ro", "permis de")])
def test_it_is_in_the_language_of_the_person(language: str, words: str) -> None:
    (line,) = call_lines(started(), finished(), language, None)

    assert f"{words} role customer" in line.plain


def test_on_a_narrow_terminal_it_is_two_lines_that_fit() -> None:
    lines = call_lines(started("x" * 40), finished(), "en", 100)

    assert len(lines) == 2
    assert all(cell_len(line.plain) <= 100 for line in lines)


def test_a_tool_without_a_sentence_is_shown_as_its_call_once() -> None:
    (line,) = call_lines(started(""), finished(), "en", None)

    assert line.plain.count("get_order_status") == 1
    assert line.plain.startswith("  ▸ get_order_status(order_id=8842)")


def test_of_a_refused_call_nothing_is_said_that_its_requester_may_not_know() -> None:
    (line,) = call_lines(None, finished("unknown_tool", "hidden by role"), "en", None)

    assert "✗ get_order_status" in line.plain
    assert "(unknown_tool)" in line.plain
    assert "hidden" not in line.plain


def test_what_failed_says_so_in_words_and_with_its_code() -> None:
    (line,) = call_lines(started(), finished("timeout", milliseconds=5012), "ro", None)

    assert line.plain.startswith("  ✗ looking…")
    assert "(timeout)" in line.plain
    assert line.plain.endswith("5012 ms")


def test_nothing_in_it_is_hidden() -> None:
    lines = call_lines(started("a\x1b[2J", '{"a\\u202e":"\\u001b[2J"}'), finished(), "en", None)

    assert lines
    assert all(line.plain.isprintable() for line in lines)
