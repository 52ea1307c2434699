"""Cut an answer to its caps, and turn a database's values into JSON."""

import math
from collections.abc import Iterable, Sequence

from placet.database.answer import Column, Rows
from placet.database.caps import Caps
from placet.values.json import Json


class Shaper:
    """Takes rows as they come, until a cap is reached.

    Args:
        columns: Of the answer.
        caps: What of it may be shown.
    """

    def __init__(self, columns: Sequence[Column], caps: Caps) -> None:
        self._columns = tuple(columns)
        self._caps = caps
        self._rows: list[tuple[Json, ...]] = []
        self._bytes = 0
        self._reached: str | None = None
        self._cut_cells = 0

    def take(self, values: Iterable[object]) -> bool:
        """Add a row. Returns whether another may be added; False for the one that was too much."""
        if len(self._rows) >= self._caps.rows:
            self._reached = f"the first {self._caps.rows} rows are shown"
            return False
        row = tuple(self._shape(value) for value in values)
        self._bytes += sum(len(cell.encode()) if isinstance(cell, str) else 8 for cell in row)
        if self._bytes > self._caps.answer_bytes:
            self._reached = f"the first {len(self._rows)} rows are shown, {self._caps.answer_bytes} bytes"
            return False
        self._rows.append(row)
        return True

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
