"""How large a value may become, and what is known of the columns of a source of rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

COLUMN_SIZE: Final = 10
"""What a column of a table counts for: its size is the data's, not the asker's."""
AGGREGATE_FACTOR: Final = 30
"""How many of its values an aggregate counts for."""
NESTED_FACTOR: Final = 10
"""And one of what was collected: documents within documents are of few each."""


class Size(NamedTuple):
    """Of a value.

    Attributes:
        characters: That it may hold.
        nodes: That make it, once each name is replaced by what it stands for.
        collections: How many aggregates it is within another.
        is_text: Whether it may be a text that is a collection: to make something else of it, all of it is read.
        builds: Whether it may be made out of smaller values.
    """

    characters: int = 1
    nodes: int = 1
    collections: int = 0
    is_text: bool = False
    builds: bool = False


class Column(NamedTuple):
    """One column of a source, with its name; empty where PostgreSQL gives it one that is not plain."""

    name: str
    size: Size


COLUMN: Final = Size(COLUMN_SIZE)


@dataclass(frozen=True, slots=True)
class Source:
    """What is read from.

    Attributes:
        columns: Those that are known, in their order.
        other: The largest of those that are not, or None when there are none.
        row: All of them together.
        aliases: What is called by a name.
        tree: The nodes of it all.
    """

    columns: tuple[Column, ...] = ()
    other: Size | None = None
    row: Size = field(default_factory=Size)
    aliases: "Mapping[str, Source]" = field(default_factory=dict)
    tree: int = 1

    @property
    def column(self) -> Size:
        """The largest column."""
        return larger([*(column.size for column in self.columns), *self.others])

    @property
    def others(self) -> tuple[Size, ...]:
        """Of what may have any name."""
        unnamed = (column.size for column in self.columns if not column.name)
        return (*unnamed, self.other) if self.other is not None else tuple(unnamed)

    def find(self, name: str, alias: str | None = None) -> Size:
        """Return how large the column of a name may be, the largest where it may be one of several."""
        if alias is not None and alias in self.aliases:
            return self.aliases[alias].find(name)
        found = [column.size for column in self.columns if column.name == name]
        return larger([*found, *self.others]) if found or self.others else self.column

    def called(self, alias: str, names: Iterable[str] = ()) -> "Source":
        """Return it under another name, and its columns under other names where there are some."""
        renamed = self.renamed(tuple(names))
        return replace(renamed, aliases={alias: replace(renamed, aliases={})} if alias else {})

    def renamed(self, names: tuple[str, ...]) -> "Source":
        """Return it with its first columns under other names."""
        if not names:
            return self
        if self.other is not None or len(names) > len(self.columns):
            return replace(self, columns=(), other=self.column)
        first = (column._replace(name=name) for name, column in zip(names, self.columns, strict=False))
        return replace(self, columns=(*first, *self.columns[len(names) :]))

    def beside(self, another: "Source") -> "Source":
        """Return both together, as FROM and JOIN have them; the names of the other go before those of this."""
        unknown = [other for other in (self.other, another.other) if other is not None]
        return Source(
            (*self.columns, *another.columns), larger(unknown) if unknown else None, larger((self.row, another.row)),
            {**self.aliases, **another.aliases}, self.tree + another.tree,
        )  # fmt: skip

    def over(self, another: "Source") -> "Source":
        """Return the rows of both, one after the other, as UNION has them."""
        row, tree = larger((self.row, another.row)), self.tree + another.tree
        if self.other is None and another.other is None and len(self.columns) == len(another.columns):
            columns = tuple(
                Column(first.name, larger((first.size, second.size)))
                for first, second in zip(self.columns, another.columns, strict=True)
            )
            return Source(columns, None, row, {}, tree)
        return Source((), larger((self.column, another.column)), row, {}, tree)

    def planned_apart(self) -> "Source":
        """Return it as the planner sees what it leaves as a query of its own."""
        columns = tuple(column._replace(size=column.size._replace(nodes=1)) for column in self.columns)
        return replace(self, columns=columns, other=None if self.other is None else self.other._replace(nodes=1))

    def of_a_round(self) -> "Source":
        """Return it as the next round of a `WITH RECURSIVE` reads it, which may be as often as it likes."""

        def same(size: Size) -> Size:
            return Size(COLUMN_SIZE, collections=min(1, size.collections), is_text=size.is_text)

        columns = tuple(column._replace(size=same(column.size)) for column in self.columns)
        return Source(columns, None if self.other is None else same(self.other), same(self.row), {}, self.tree)

    def growing(self) -> "Source":
        """Return it as a `WITH RECURSIVE` whose rounds add to each column that is built, or was collected."""
        columns = tuple(column._replace(size=grown(column.size)) for column in self.columns)
        other = None if self.other is None else grown(self.other)
        return replace(self, columns=columns, other=other, row=grown(self.row))


TABLE: Final = Source((), COLUMN, Size(COLUMN_SIZE * 20), {}, 5)
NOTHING: Final = Source(tree=0)


def larger(sizes: Iterable[Size], *, is_tree: bool = False) -> Size:
    """Return the largest of all; of a tree, the nodes are those of all parts and one more."""
    known = list(sizes) or [Size(nodes=0)]
    return Size(
        max(size.characters for size in known),
        sum(size.nodes for size in known) + 1 if is_tree else max(size.nodes for size in known),
        max(size.collections for size in known),
        any(size.is_text for size in known),
        any(size.builds for size in known),
    )


def added(sizes: Iterable[Size]) -> Size:
    """Return all together."""
    known = list(sizes)
    return larger(known, is_tree=True)._replace(characters=sum(size.characters for size in known))


def collected(size: Size) -> Size:
    """Return what an aggregate makes of values."""
    factor = NESTED_FACTOR if size.collections else AGGREGATE_FACTOR
    return Size(size.characters * factor, size.nodes, size.collections + 1, builds=True)


def wrapped(size: Size) -> Size:
    """Return a value of which one of this size is an element: a collection that is taken out again is one."""
    return size._replace(collections=size.collections + bool(size.collections))


def taken_out(size: Size) -> Size:
    """Return an element of a value."""
    return size._replace(collections=max(0, size.collections - 1))


def grown(size: Size) -> Size:
    """Return what a value becomes when every round adds to it, as far as one does."""
    is_growing = size.builds or size.collections
    return size._replace(collections=max(1, size.collections), is_text=True) if is_growing else size
