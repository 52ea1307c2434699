"""What is open: the relations that a model may read, and how they are called.

All that a model is told of a database comes from here, never from the catalog: neither
`describe_data` nor the nearest names of a typing error can name what is not open.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from placet.errors import ConfigurationError

_MISSPELT: Final = 0.85


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view that may be read.

    Attributes:
        name: As it stands in the database, without its schema.
        schema: Its schema. SQLite's is `main`.
        description: What a row is, for the model.
        columns: What the columns hold, by name. For SQLite these are the columns that are
            open; no columns at all open every one. For PostgreSQL every column of a view is open,
            so hide one by a view without it.

    Raises:
        ConfigurationError: The name is empty, or one of the catalog's.
    """

    name: str
    schema: str = ""
    description: str = ""
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not self.name or self.name.lower().startswith(("pg_", "sqlite_")):
            raise ConfigurationError(f"the relation {self.name!r} cannot be opened: name a table or view of your own")
        if self.schema.lower() in ("pg_catalog", "information_schema", "pg_toast", "pg_temp"):
            raise ConfigurationError(f"nothing in {self.schema!r} can be opened; it holds the catalog")

    @property
    def full_name(self) -> str:
        """The name with its schema."""
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True)
class KnownColumn:
    """A column that may be read, as the database describes it.

    Attributes:
        name: Of the column.
        type: The database's word.
        description: What it holds, for the model.
    """

    name: str
    type: str
    description: str = ""


class OpenData:
    """The relations that are open, with their columns as the database describes them.

    Args:
        relations: What is open.
        columns: By full name, the columns of each.
        search_path: Schemas in which a bare name is looked up, in this order.
        shadowed: Bare names under which the database finds something that is not open.

    Raises:
        ConfigurationError: Nothing is open, or two relations have one name.
    """

    def __init__(
        self,
        relations: Iterable[Relation],
        columns: Mapping[str, tuple[KnownColumn, ...]] | None = None,
        search_path: tuple[str, ...] | None = None,
        shadowed: frozenset[str] = frozenset(),
    ) -> None:
        self.relations = tuple(relations)
        self.columns = dict(columns or {})
        if not self.relations:
            raise ConfigurationError("no relation is open, so nothing could be asked; name at least one")
        self.search_path = search_path if search_path is not None else _schemas(self.relations)
        self._by_full_name = {(relation.schema, relation.name): relation for relation in self.relations}
        if len(self._by_full_name) != len(self.relations):
            raise ConfigurationError("two relations have one name; each stands here once")
        self._by_bare_name: dict[str, Relation] = {}
        for schema in reversed(self.search_path):
            self._by_bare_name |= {relation.name: relation for relation in self.relations if relation.schema == schema}
        for name in shadowed:
            self._by_bare_name.pop(name, None)

    def find(self, name: str, schema: str = "") -> Relation | None:
        """Return the open relation of this name, or None. A bare name is looked up in the search path."""
        if schema:
            return self._by_full_name.get((schema, name))
        return self._by_bare_name.get(name)

    def columns_of(self, relation: Relation) -> tuple[KnownColumn, ...]:
        """Return the columns of an open relation."""
        return self.columns.get(relation.full_name, ())

    def shown_name(self, relation: Relation) -> str:
        """Return the shortest name under which a query reaches the relation."""
        return relation.name if self.find(relation.name) is relation else relation.full_name

    @property
    def names(self) -> tuple[str, ...]:
        """The shortest names of all that is open."""
        return tuple(self.shown_name(relation) for relation in self.relations)

    def nearest(self, name: str) -> tuple[str, ...]:
        """Return the open relations whose names resemble this one."""
        return nearest(name, self.names)

    def nearest_columns(self, name: str, relations: Iterable[Relation] = ()) -> tuple[str, ...]:
        """Return columns that resemble this name, of the relations given, or else of all."""
        known = {column.name for relation in tuple(relations) or self.relations for column in self.columns_of(relation)}
        return nearest(name, sorted(known))


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return at most three of the names that resemble this one, the nearest first."""
    return tuple(difflib.get_close_matches(name[:64], list(names), n=3, cutoff=0.6))


def is_misspelt(name: str, similar: tuple[str, ...]) -> bool:
    """Return whether a name is so near to the first of those that resemble it that this one is meant."""
    return bool(similar) and bool(difflib.get_close_matches(name[:64], similar[:1], n=1, cutoff=_MISSPELT))


def _schemas(relations: Iterable[Relation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(relation.schema for relation in relations))
