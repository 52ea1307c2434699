"""Migrations: numbered SQL files, applied forward, each once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema.

    Attributes:
        version: Its number, from 1, without gaps.
        sql: Its statements.
    """

    version: int
    sql: str


@cache
def migrations(dialect: str) -> Sequence[Migration]:
    """Return the steps of a dialect in order, as `sql/<dialect>/0001_*.sql` holds them."""
    folder = files("placet.stores").joinpath("sql", dialect)
    found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(
        Migration(int(name.split("_", 1)[0]), folder.joinpath(name).read_text(encoding="utf-8")) for name in found
    )
