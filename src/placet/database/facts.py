"""What a parser says of a query: facts, without a judgement.

The guard (`placet.database.guard`) judges these facts and knows no parser; a parser reads and
knows no rule. Whoever brings another parser meets `SqlParser`, and must report every node: the
guard refuses what it does not know, so what is not reported is not refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Constant: TypeAlias = str | int | float | bool | None
"""The value of a constant in a query; None is NULL."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What stands at one place of a call, an operator or a sample.

    Attributes:
        is_constant: Whether it is a constant, signs and casts of a constant and sums of numbers included.
        value: The constant.
        cast: The type to which it is cast, without its schema, or None.
    """

    is_constant: bool = False
    value: Constant = None
    cast: str | None = None


def is_number(argument: Argument) -> bool:
    """Return whether it is a constant number."""
    value = argument.value
    return argument.is_constant and isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name, in parts, and where it stands.

    Attributes:
        parts: `("shop", "vat")` for `shop.vat`. Unquoted names are in lower case, as PostgreSQL reads them.
        position: Which character, from 0.
        arguments: Of a call: what is handed over. Of an operator: left and right side. Of a
            type: its modifiers.
        is_open_ended: Of a type: it stands for a set, or for the type of some column (`%TYPE`).
    """

    parts: tuple[str, ...]
    position: int = 0
    arguments: tuple[Argument, ...] = ()
    is_open_ended: bool = False

    @property
    def text(self) -> str:
        """The name as one writes it."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that is written out.

    Attributes:
        text: As PostgreSQL reads it.
        position: Which character of the query, from 0.
    """

    text: str
    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that matters of a text that could be parsed.

    Attributes:
        statements: The class of each statement.
        end: Where the first statement ends, its semicolon excluded, as a character of the text.
        nodes: Every class of node that occurs anywhere, and where it occurs first, or None when the
            parser does not say.
        relations: Every table or view that is read, names of the query's own `WITH` excluded
            where they are in scope.
        functions: Every call that the grammar writes as one, `EXTRACT` and the like included.
        types: Every type that is named.
        operators: Every operator that has a schema, and every `^`.
        notations: Every name after a dot: `c.f` and `(c).f` may be a call `f(c)`.
        long_columns: Column names of three and more parts, a star for the last of a row's.
        system_columns: Every column that is called like one of the system's own.
        collations: Every collation that is named.
        samples: Every sampling method, with its arguments.
        values: Every parameterless function that is written as a keyword (`CURRENT_USER`).
        largest_value: How many characters the largest value of the query may hold, as far as
            the text can tell; a column counts as `placet.database.extent.COLUMN_SIZE`.
        largest_tree: How many nodes the query comes to, when each name for an expression is
            replaced by it; 0 when they are few in any case.
        patterns: Every regular expression that is written out, those in JSON paths included.
        long_searches: Where one collection is looked for in another, or a text in a text that is
            too long for it, or a regular expression that is long and not written out, as characters.
        handles_much: Whether much is done to what was collected from rows, or to what the query
            builds, or it is collected of long values.
    """

    statements: tuple[str, ...]
    end: int = 0
    nodes: Mapping[str, int | None]
    relations: tuple[NameUse, ...] = ()
    functions: tuple[NameUse, ...] = ()
    types: tuple[NameUse, ...] = ()
    operators: tuple[NameUse, ...] = ()
    notations: tuple[NameUse, ...] = ()
    long_columns: tuple[NameUse, ...] = ()
    system_columns: tuple[NameUse, ...] = ()
    collations: tuple[NameUse, ...] = ()
    samples: tuple[NameUse, ...] = ()
    values: tuple[NameUse, ...] = ()
    largest_value: int = 0
    largest_tree: int = 0
    patterns: tuple[Pattern, ...] = ()
    long_searches: tuple[int, ...] = ()
    handles_much: bool = False


@dataclass(frozen=True, slots=True)
class Unparsable:
    """The text is not SQL that this parser knows.

    Attributes:
        message: What is wrong with it.
        position: Which character, from 0, or None.
    """

    message: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """What a flat look at the tokens says, before anything recurses.

    Attributes:
        tokens: How many there are, comments excluded.
        depth: How deep brackets are nested.
        nesting: How deep the tree may become.
        parameter: Where the first `$1` stands, as a character, or None.
    """

    tokens: int
    depth: int
    nesting: int
    parameter: int | None = None


class SqlParser(Protocol):
    """Reads PostgreSQL's SQL as PostgreSQL reads it."""

    def measure(self, sql: str) -> Measure | Unparsable:
        """Return what the tokens say. Takes no stack, whatever the text is."""
        ...

    def read(self, sql: str) -> Facts | Unparsable:
        """Return the facts of a text that has been measured and is within the caps."""
        ...
