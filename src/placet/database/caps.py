"""Caps: how much one question may cost. Every number of the sandbox stands here."""

from dataclasses import dataclass
from datetime import timedelta

from placet.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What one query may use up, and how much of its answer is shown.

    Attributes:
        timeout: From the moment a connection is there to the answer. The caller is answered
            at most half a second later, whatever the database does. At most 15 s.
        wait: For a free connection.
        rows: Shown; one more is read, to know whether there is more. At most 1,000.
        cell_characters: Shown of one cell.
        answer_bytes: Of all rows together, as the JSON that the model reads, in UTF-8.
        columns: Of one answer.
        cost: What PostgreSQL's planner may estimate, in its own units. A cross join of two
            large tables is at 5e7 and more, ordinary analytics over half a million rows below 5e4.
        estimated_rows: What the planner may expect of the whole answer, before the row cap.
        collected_bytes: What aggregates that keep all they read (`array_agg`, `json_agg`, `string_agg`) may
            hold in PostgreSQL's memory, as the planner expects. No setting of the server bounds it.
        query_characters: Of the query's text.
        tokens: Of the query.
        depth: Of its brackets.
        nesting: Of its expressions, as far as tokens can tell. libpg_query recurses once a
            level, and a thread of 512 KB is at its end after 900 (measured on 18.4).
        comments: Block comments that may be opened. PostgreSQL nests them, and its lexer takes
            quadratic time to do so.
        connections: To the database at one time.

    Raises:
        ConfigurationError: A cap is not above zero, or above what it may be.
    """

    timeout: timedelta = timedelta(seconds=3)
    wait: timedelta = timedelta(seconds=1)
    rows: int = 200
    cell_characters: int = 2_000
    answer_bytes: int = 100_000
    columns: int = 100
    cost: float = 1_000_000
    estimated_rows: float = 100_000_000
    collected_bytes: int = 50_000_000
    query_characters: int = 10_000
    tokens: int = 2_000
    depth: int = 60
    nesting: int = 200
    comments: int = 64
    connections: int = 4

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not value or value < type(value)(0):
                raise ConfigurationError(f"the cap {name!r} is {value!r}, and nothing could be asked; give more than 0")
        most = {"timeout": timedelta(seconds=15), "rows": 1_000, "query_characters": 10_000, "tokens": 2_000,
                "depth": 60, "nesting": 200}  # fmt: skip
        for name, bound in most.items():
            if getattr(self, name) > bound:
                raise ConfigurationError(f"the cap {name!r} is {getattr(self, name)!r}; it may be {bound!r} at most")
