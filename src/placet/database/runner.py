"""Who runs a named query: one per database, and apart for what reads and what writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from placet.database.answer import SqlAnswer
from placet.database.caps import Caps
from placet.values.json import Json, JsonObject

CHANGED: Final = "changed"
"""The one column of an answer to a statement that changes rows and gives none back: how many they were."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A statement that its database has understood.

    Attributes:
        sql: In the database's own notation.
        names: Of the values, in the order in which they are bound.
        columns: Name, type and JSON Schema of each; `CHANGED` alone when it changes rows and gives none back, and
            no columns when it does neither, or nobody knows.
        writes: Whether it changes something, and is committed.
        oids: PostgreSQL's types of the columns.
        labels: By name of a value that goes into an enum of the database, what the enum has.
        kinds: By name, the kind of each value, of `placet.database.parameters.KINDS`.
    """

    sql: str
    names: tuple[str, ...]
    columns: tuple[tuple[str, str | None, JsonObject], ...]
    writes: bool
    oids: tuple[int, ...] = ()
    labels: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    kinds: Mapping[str, str] = field(default_factory=dict[str, str])


class QueryRunner(Protocol):
    """Understands statements when it starts, and runs them afterwards."""

    @property
    def caps(self) -> Caps:
        """How much one query may cost."""
        ...

    async def open(self) -> None:
        """Connect.

        Raises:
            ConfigurationError: There is no connection to be had.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...

    async def prepare(self, sql: str, kinds: dict[str, str], *, writes: bool, rows: int | None, where: str) -> Ready:
        """Have the database understand a statement, without running it.

        Args:
            sql: With `:name` for values.
            kinds: By name, the kind of each value, of `placet.database.parameters.KINDS`.
            writes: Whether it changes something.
            rows: How many are shown, or None for the cap of the connection.
            where: What to call it when something is wrong with it.

        Raises:
            ConfigurationError: The database does not understand it, or takes other types.
        """
        ...

    async def run(self, ready: Ready, values: dict[str, Json], *, rows: int | None = None) -> SqlAnswer:
        """Return what the statement answers, on time."""
        ...
