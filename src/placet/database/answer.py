"""What comes back from a question to a database: rows, or why there are none.

Named queries and the sandbox answer in this one shape, whatever the database. A refusal is a
value: it says what to do next, and holds nothing that the asker may not know.
"""

from enum import StrEnum
from typing import TypeAlias

from placet.values.construction import dataclass, made_quickly
from placet.values.json import Json, JsonObject


class Fix(StrEnum):
    """What would help, so that a model neither repeats a hopeless query nor gives up a good one."""

    SQL = "sql"
    """Rewrite the query: it is wrong."""
    NARROW = "narrow"
    """Ask for less: it is right, and too much."""
    POLICY = "policy"
    """Give it up: it is not open here, however it is written."""
    WAIT = "wait"
    """Ask the same again later."""
    OPERATOR = "operator"
    """Tell a person: nothing that could be written would help."""


@made_quickly
@dataclass(frozen=True, slots=True)
class Column:
    """One column of an answer.

    Attributes:
        name: As the query calls it.
        type: The database's word for it, or None where there is none (SQLite).
    """

    name: str
    type: str | None = None


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a query has found.

    Attributes:
        columns: In the order of the query; names may repeat.
        rows: In the order of the query. Exact decimals, dates and times are texts, so that
            no digit is lost on the way.
        truncated: Whether there is more than is shown: rows, or the ends of cells.
        elapsed_ms: What it took, layers included.
        advice: What to do about it when it is truncated.
        estimated_cost: The planner's estimate, where there is one.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Json, ...], ...]
    truncated: bool = False
    elapsed_ms: float = 0.0
    advice: str | None = None
    estimated_cost: float | None = None

    @property
    def row_count(self) -> int:
        """How many rows are shown."""
        return len(self.rows)

    def as_json(self) -> JsonObject:
        """Return what the model reads."""
        shown: dict[str, Json] = {
            "columns": [
                {"name": column.name, "type": column.type} if column.type else {"name": column.name}
                for column in self.columns
            ],
            "rows": [list(row) for row in self.rows],
            "row_count": self.row_count,
            "truncated": self.truncated,
            "elapsed_ms": round(self.elapsed_ms, 1),
        }
        if self.advice:
            shown["advice"] = self.advice
        return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRefusal:
    """Why a query has no answer, and what would help.

    Attributes:
        code: A stable word, for instance `unknown_column`.
        message: What is wrong, in the database's words where they may be told.
        fix: What would help.
        sqlstate: PostgreSQL's code (https://www.postgresql.org/docs/current/errcodes-appendix.html),
            or None when the database was not reached.
        hint: How to write it instead.
        position: Which character of the query is meant, from 0; None when none is.
        excerpt: The query around it, with `►` before that character.
        nearest: Names that exist and resemble the one that does not.
        detail: For a log alone: what the database said besides. May hold data.
        is_certain: Whether nothing was changed. False for a write whose end nobody has seen.
    """

    code: str
    message: str
    fix: Fix
    sqlstate: str | None = None
    hint: str | None = None
    position: int | None = None
    excerpt: str | None = None
    nearest: tuple[str, ...] = ()
    detail: str | None = None
    is_certain: bool = True

    @property
    def retryable(self) -> bool:
        """Whether the same query may have an answer later."""
        return self.fix is Fix.WAIT

    def as_json(self) -> JsonObject:
        """Return what the model reads; `detail` is not in it."""
        shown: dict[str, Json] = {"code": self.code, "message": self.message, "fix": self.fix.value}
        for name in ("sqlstate", "hint", "position", "excerpt"):
            value = getattr(self, name)
            if value is not None:
                shown[name] = value
        if self.nearest:
            shown["nearest"] = list(self.nearest)
        return shown


SqlAnswer: TypeAlias = Rows | SqlRefusal


EXCERPT_SIDE = 40


def excerpt(sql: str, position: int) -> str:
    """Return the query around a character, on one line, with `►` before it."""
    before = sql[max(0, position - EXCERPT_SIDE) : position]
    after = sql[position : position + EXCERPT_SIDE]
    return " ".join(f"{before}►{after}".split())
