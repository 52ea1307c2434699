"""Cut an answer to its caps, and turn a database's values into JSON."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic_core import to_json

from placet.database.answer import Column, Rows
from placet.database.caps import Caps
from placet.values.json import Json

_NUMBER: Final = 25
"""Bytes of a number at most, of 64 bits, and its comma; a null has fewer."""
_CHARACTER: Final = 6
"""Bytes of a character at most, which is one that JSON escapes."""
_QUOTES: Final = 3
"""Bytes of a text's quotes, and its comma."""
_BRACKETS: Final = 3
"""Bytes of a row's, and its comma."""


class Shaper:
    """Takes rows as they come, until a cap is reached.

    What they come to is guessed first, and never too little; only where the guess is too much is it counted.

    Args:
        columns: Of the answer.
        caps: What of it may be shown.
    """

    def __init__(self, columns: Sequence[Column], caps: Caps) -> None:
        self._columns = tuple(columns)
        self._caps = caps
        self._rows: list[tuple[Json, ...]] = []
        self._bytes = 0
        self._is_counted = False
        self._reached: str | None = None
        self._cut_cells = 0

    def take(self, values: Iterable[object]) -> bool:
        """Add a row. Returns whether another may be added; False for the one that was too much."""
        if len(self._rows) >= self._caps.rows:
            self._reached = f"the first {self._caps.rows} rows are shown"
            return False
        row = tuple([self._shape(value) for value in values])
        self._count()
        self._bytes += _size([row])
        if self._bytes > self._caps.answer_bytes:
            self._reached = f"the first {len(self._rows)} rows are shown, {self._caps.answer_bytes} bytes"
            return False
        self._rows.append(row)
        return True

    @property
    def wanted(self) -> int:
        """How many more rows to ask for: one more than are shown, to know whether there are more."""
        return self._caps.rows + 1 - len(self._rows)

    def take_many(self, rows: Sequence[tuple[Any, ...]]) -> bool:
        """Add rows that came together. Returns whether others may be added.

        Most need no change, and that is seen of a whole column at once.
        """
        if len(self._rows) + len(rows) <= self._caps.rows:
            guess = _guess(rows, self._caps.cell_characters)
            if guess is not None and self._have_room(rows, guess):
                self._rows.extend(rows)
                return True
        return all(self.take(row) for row in rows)

    def _have_room(self, rows: Sequence[tuple[Any, ...]], guess: int) -> bool:
        """Return whether rows that need no change may be shown, and note what they come to if they may."""
        total = self._bytes + guess
        if self._is_counted or total > self._caps.answer_bytes:
            self._count()
            total = self._bytes + _size(rows)
        if total > self._caps.answer_bytes:
            return False
        self._bytes = total
        return True

    def _count(self) -> None:
        """Count what was guessed, from now on."""
        if not self._is_counted:
            self._is_counted = True
            self._bytes = _size(self._rows)

    def finish(self, elapsed_ms: float, estimated_cost: float | None = None) -> Rows:
        """Return what was taken, and what to do when that is not all."""
        said: list[str] = []
        if self._reached:
            said.append(f"{self._reached}: aggregate, or filter; a larger LIMIT shows no more")
        if self._cut_cells:
            said.append(
                f"{self._cut_cells} cells are cut to {self._caps.cell_characters} characters: select a part of them"
            )
        return Rows(
            columns=self._columns,
            rows=tuple(self._rows),
            truncated=bool(said),
            elapsed_ms=elapsed_ms,
            advice="; ".join(said) or None,
            estimated_cost=estimated_cost,
        )

    def _shape(self, value: object) -> Json:
        shaped = as_json(value)
        if isinstance(shaped, str) and len(shaped) > self._caps.cell_characters:
            self._cut_cells += 1
            return shaped[: self._caps.cell_characters] + "…"
        return shaped


def _size(rows: Sequence[tuple[Any, ...]]) -> int:
    """Return the bytes of rows, each with a comma."""
    return len(to_json(rows)) - 1 if rows else 0


def _guess(rows: Sequence[tuple[Any, ...]], longest: int) -> int | None:
    """Return what rows come to at most, as they are, or None when a cell may need a change."""
    size = _BRACKETS * len(rows)
    try:
        for column in zip(*rows, strict=True):
            cells: Sequence[Any] = column if column[0] is not None else _known(column)
            try:
                size += _guess_cells(cells, longest)
            except TypeError:  # not all are of one kind
                cells = _known(column)
                size += _guess_cells(cells, longest)
            size += _NUMBER * (len(column) - len(cells))
    except (TypeError, ValueError):
        return None
    return size


def _known(cells: Sequence[Any]) -> list[Any]:
    return [cell for cell in cells if cell is not None]


def _guess_cells(cells: Sequence[Any], longest: int) -> int:
    """Return what cells come to at most that are all texts, or all numbers.

    Raises:
        TypeError: They are not.
        ValueError: One must be changed: it is too long, or JSON has no word for it.
    """
    if cells and cells[0].__class__ is str:
        text = "".join(cells)
        if len(text) > longest and max(map(len, cells)) > longest:
            raise ValueError
        return _QUOTES * len(cells) + _CHARACTER * len(text)
    if not -math.inf < sum(cells) < math.inf:  # one that is no number makes the sum none
        raise ValueError
    return _NUMBER * len(cells)


def as_json(value: object) -> Json:
    """Return a value of a database as JSON. What JSON has no word for becomes a text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return value[:10_000].hex()
        case _:
            return str(value)
