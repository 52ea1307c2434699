"""Selection: which records are asked for; and how questions become WHERE clauses."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Selection:
    """Which audit records are asked for; None asks for nothing."""

    run_id: str | None = None
    principal_id: str | None = None
    tool: str | None = None

    def conditions(self, mark: str = "?") -> tuple[str, tuple[str, ...]]:
        """Return the WHERE clause of it, and its values."""
        return conditions(("run_id", self.run_id), ("principal_id", self.principal_id), ("tool", self.tool), mark=mark)


def conditions(*columns: tuple[str, str | Sequence[str] | None], mark: str = "?") -> tuple[str, tuple[str, ...]]:
    """Return a WHERE clause and its values: a text must be equal, a sequence must hold it.

    Args:
        columns: Names of columns, our own words, each with what is asked of it; None and an
            empty sequence ask for nothing.
        mark: How the dialect marks the place of a value.
    """
    clauses: list[str] = []
    values: list[str] = []
    for column, wanted in columns:
        if wanted is None or (not wanted and not isinstance(wanted, str)):
            continue
        words = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        clauses.append(f"{column} IN ({', '.join([mark] * len(words))})")
        values.extend(str(word) for word in words)
    return (f" WHERE {' AND '.join(clauses)}" if clauses else ""), tuple(values)
