"""Layout: columns, labelled lists and calls, as plain lines of text.

On a terminal, lines are cut to its width; in a file or a pipe nothing is cut.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import jiter
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

from placet.values.json import Json, JsonObject
from placet.words.escape import escape_for_person, escape_json

GAP: Final = "  "
_WORD: Final = re.compile(r"\s*\S+|\s+")
_LEAST_CELLS: Final = 12
"""Below this nothing of a cell can be read."""
CALL_CELLS: Final = 160
"""How much of a call is shown on a line of progress."""


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], width: int | None, flexible: Collection[int] = ()
) -> Iterable[Text]:
    """Yield the lines of a table.

    Args:
        headings: Of the columns, in the person's language.
        rows: Cells; they may hold anything and are made visible.
        width: Cells of a line, or None to cut nothing.
        flexible: The columns that may be cut, the widest first. An id is of no use in parts,
            so where that is not enough the line is longer than the terminal.
    """
    shown = [[escape_for_person(cell).text for cell in row] for row in rows]
    widths = [max(cell_len(row[place]) for row in (headings, *shown)) for place in range(len(headings))]
    if width is not None:
        widths = _within(widths, width - len(GAP) * len(headings), flexible)
    yield _row(headings, widths, "bold")
    for row in shown:
        yield _row(row, widths, "")


def _within(widths: Sequence[int], room: int, flexible: Collection[int]) -> list[int]:
    """Return the widths, the widest of those that are flexible cut down until all have room together."""
    cut = list(widths)
    while sum(cut) > room:
        widest = max(flexible, key=lambda place: cut[place], default=None)
        if widest is None or cut[widest] <= _LEAST_CELLS:
            break
        cut[widest] -= 1
    return cut


def _row(cells: Sequence[str], widths: Sequence[int], style: str) -> Text:
    padded = [fit(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return Text((GAP + GAP.join(padded)).rstrip(), style=style)


def fit(text: str, width: int) -> str:
    """Return a text filled up or cut to a width, a cut being shown."""
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def labelled(pairs: Iterable[tuple[str, str]], width: int | None = None) -> Iterable[Text]:
    """Yield labels and values, the values in one column and made visible; what is empty is left out.

    Args:
        pairs: Labels and values.
        width: Cells of a line, or None for lines of any length.
    """
    known = [(label, value) for label, value in pairs if value]
    column = max((cell_len(label) for label, _ in known), default=0)
    room = None if width is None else width - column - 2 * len(GAP)
    for label, value in known:
        lines = escape_for_person(value, lines=True).text.split("\n")
        head, *more = (part for line in lines for part in wrap(line, room))
        yield Text.assemble((f"{GAP}{set_cell_size(label, column)}{GAP}", "dim"), head)
        for line in more:
            yield Text(f"{GAP}{' ' * column}{GAP}{line}".rstrip())


def wrap(text: str, width: int | None) -> list[str]:
    """Return a text in lines that fit, broken between words where it can be.

    Nothing is lost but the one blank at which a line was broken, so that an approver reads
    what will run and not a tidier version of it.
    """
    if width is None or cell_len(text) <= width or width < _LEAST_CELLS:
        return [text]
    lines = [""]
    for word in _WORD.findall(text):
        if cell_len(lines[-1]) + cell_len(word) <= width:
            lines[-1] += word
            continue
        only_blank = word.startswith(" ") and not word.startswith("  ")
        lines += chop_cells(word.removeprefix(" ") if only_blank else word, width)
    return lines


def arguments(values: JsonObject, notes: Mapping[str, str] | None = None) -> Iterable[Text]:
    """Yield one line for each argument, whole and with nothing hidden.

    Args:
        values: The arguments.
        notes: What is said beside an argument, by its name: where it came from.
    """
    names = {name: escape_for_person(str(name)).text for name in values}
    width = max((cell_len(name) for name in names.values()), default=0)
    for name, value in values.items():
        line = Text.assemble((f"{GAP * 2}{set_cell_size(names[name], width)}{GAP}", "dim"), escape_json(value).text)
        note = (notes or {}).get(name)
        if note:
            line.append(f"{GAP}({escape_for_person(note).text})", "dim")
        yield line


def call(tool: str, values: Json) -> str:
    """Return a call as a person reads it: `get_order_status(order_id=8842)`."""
    if not isinstance(values, Mapping):
        inside = escape_json(values).text
    else:
        inside = ", ".join(
            f"{escape_for_person(str(name)).text}={escape_json(item).text}" for name, item in values.items()
        )
    text = f"{escape_for_person(tool).text}({inside})"
    return text if cell_len(text) <= CALL_CELLS else fit(text, CALL_CELLS)


def call_of_text(tool: str, text: str) -> str:
    """Return a call whose arguments are JSON text; what is no JSON is shown as it is."""
    try:
        values: Json = jiter.from_json(text.encode("utf-8", "replace"))
    except ValueError:
        values = text
    return call(tool, values)
