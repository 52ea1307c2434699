"""Views: whether one leaves rows out, by itself or by a view inside it.

A view that does and is no barrier shows what it hides: a condition of the asker's may run first,
and its error text holds the value (https://www.postgresql.org/docs/current/rules-privileges.html).
The extra `postgres`.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from google.protobuf.message import Message
from postgast import PgQueryError, parse
from postgast import pg_query_pb2 as pb
from postgast.walk import unwrap_node

Name: TypeAlias = tuple[str, str]
"""Schema and name; no schema where the definition names none."""

_KEEPING: Final = frozenset({pb.SETOP_NONE, pb.SETOP_UNION})
"""What leaves out no row that could not be seen otherwise."""


class View(NamedTuple):
    """A view of the database.

    Attributes:
        filters: Whether it leaves rows out itself.
        has_barrier: Whether the asker's conditions wait for its own.
        reads: What it reads, views or tables.
        condition: The columns and the constants in its WHERE, in no order.
    """

    filters: bool
    has_barrier: bool
    reads: frozenset[Name] = frozenset()
    condition: frozenset[str] = frozenset()


def read_view(definition: str, *, has_barrier: bool) -> View:
    """Return what a definition says. One that cannot be read is taken for one that leaves rows out."""
    try:
        nodes = list(_walk(parse(definition)))
    except PgQueryError:
        return View(filters=True, has_barrier=has_barrier)
    reads = frozenset((node.schemaname, node.relname) for node in nodes if isinstance(node, pb.RangeVar))
    conditions = [node.where_clause for node in nodes if isinstance(node, pb.SelectStmt)]
    words = frozenset(word for condition in conditions for node in _walk(condition) for word in _words(node))
    return View(any(map(_leaves_out, nodes)), has_barrier, reads, words)


def reads_the_same(view: View, other: View) -> bool:
    """Return whether two views read the same. A name without a schema may be any of that name."""
    return len(view.reads) == len(other.reads) and all(
        any(name == known and (schema == space or "" in (schema, space)) for space, known in other.reads)
        for schema, name in view.reads
    )


def leaves_rows_out(name: Name, views: Mapping[Name, View], seen: frozenset[Name] = frozenset()) -> bool:
    """Return whether a view hides rows, by itself or by a view inside it.

    Args:
        name: Of the view.
        views: All of the database.
        seen: Those on the way here.
    """
    view = views.get(name)
    if name in seen or view is None:
        return False
    return view.filters or any(leaves_rows_out(inner, views, seen | {name}) for inner in _inside(view, views))


def is_leaky(name: Name, views: Mapping[Name, View], seen: frozenset[Name] = frozenset()) -> bool:
    """Return whether errors of a query over this view could show a row that it hides.

    Args:
        name: Of the view.
        views: All of the database.
        seen: Those on the way here.
    """
    view = views.get(name)
    if name in seen or view is None or view.has_barrier:
        return False
    return view.filters or any(is_leaky(inner, views, seen | {name}) for inner in _inside(view, views))


def _inside(view: View, views: Mapping[Name, View]) -> Iterator[Name]:
    """Yield the views that a view reads. A name without a schema may be any of that name."""
    return (known for known in views for read in view.reads if read in (known, ("", known[1])))


def _words(node: Message) -> Iterator[str]:
    """Yield what a node of a condition names: a column, or a constant."""
    match node:
        case pb.ColumnRef():
            yield " ".join(part.sval for part in map(unwrap_node, node.fields[-1:]) if isinstance(part, pb.String))
        case pb.A_Const() if kind := node.WhichOneof("val"):
            yield str(getattr(getattr(node, kind), kind))
        case _:
            pass


def _leaves_out(node: Message) -> bool:
    match node:
        case pb.SelectStmt():
            clauses = ("where_clause", "having_clause", "limit_count", "limit_offset")
            return node.op not in _KEEPING or any(node.HasField(clause) for clause in clauses)
        case pb.JoinExpr():  # a join on keys shows what both sides show; one on a value is a filter
            return any(isinstance(part, pb.A_Const | pb.FuncCall) for part in _walk(node.quals))
        case _:
            return False


def _walk(node: Message) -> Iterator[Message]:
    node = unwrap_node(node)
    yield node
    for field, value in node.ListFields():
        if field.message_type is not None:
            for item in value if field.is_repeated else (value,):
                yield from _walk(item)
