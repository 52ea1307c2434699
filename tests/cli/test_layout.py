import pytest
from rich.cells import cell_len

from placet.cli.layout import arguments, call, call_of_text, labelled, table, wrap

ROWS = [["apr_1", "cancel_order", "8842, status paid → cancelled, three items"], ["apr_22", "x", ""]]
HEADINGS = ["Id", "Tool", "What would change"]


def test_a_table_stands_in_columns_and_is_cut_only_where_a_terminal_ends() -> None:
    whole = [line.plain for line in table(HEADINGS, ROWS, None)]
    cut = [line.plain for line in table(HEADINGS, ROWS, 40, flexible=(2,))]

    assert whole[1].index("cancel_order") == whole[2].index("x") == whole[0].index("Tool")
    assert whole[1].endswith("three items")
    assert all(cell_len(line) <= 40 for line in cut)
    assert cut[1].startswith("  apr_1 ")
    assert cut[1].endswith("…")


def test_an_id_is_never_cut() -> None:
    lines = [line.plain for line in table(HEADINGS, ROWS, 30, flexible=(2,))]

    assert "apr_22" in lines[2]
    assert "cancel_order" in lines[1]


@pytest.mark.parametrize("width", [12, 20, 33, 80])
@pytest.mark.parametrize("text", ["one two  three   four five", "x" * 50, "a  " + "b" * 40 + " c", "日本 " * 20 + "x"])
def test_wrapping_loses_nothing_but_the_one_blank_at_a_break(text: str, width: int) -> None:
    lines = wrap(text, width)

    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert text.count(" ") - "".join(lines).count(" ") <= len(lines) - 1


def test_wide_letters_take_two_cells() -> None:
    lines = [line.plain for line in table(["A", "B"], [["日本", "x"], ["ab", "y"]], None)]

    assert lines[1] == "  日本  x"
    assert lines[2] == "  ab    y"


def test_nothing_in_a_cell_a_label_or_an_argument_is_hidden() -> None:
    texts = [
        *table(["A"], [["a\x1b[2J\u202e\nb"]], None),
        *labelled([("a", "x\x1b[2J\u202e")]),
        *arguments({"a\u202e": "x\x1b[2J\u202e"}, {"a\u202e": "by\x07"}),
    ]

    assert not [character for text in texts for character in text.plain if not character.isprintable()]


def test_arguments_are_shown_whole_and_with_where_they_came_from() -> None:
    lines = [line.plain for line in arguments({"note": "x" * 5000, "n": 1}, {"n": "the person"})]

    assert "x" * 5000 in lines[0]
    assert lines[1] == "    n     1  (the person)"


def test_a_call_reads_like_one_and_does_not_run_on() -> None:
    assert call("look", {"name": "a b", "n": 1}) == 'look(name="a b", n=1)'
    assert call_of_text("look", "{broken") == 'look("{broken")'
    assert cell_len(call("look", {"name": "x" * 5000})) == 160
