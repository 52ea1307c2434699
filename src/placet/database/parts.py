"""What the growth of a query is told by: the parts of its tree, their names, and the order of its `WITH`."""

from collections.abc import Iterable
from typing import Any

from google.protobuf.message import Message
from postgast import pg_query_pb2 as pb
from postgast.walk import unwrap_node


def in_order(clause: pb.WithClause) -> list[tuple[pb.CommonTableExpr, bool]]:
    """Return the queries of a `WITH`, those that are read before those that read them, and whether each reads itself.

    With RECURSIVE one may read what stands behind it.
    """
    queries = [item.common_table_expr for item in clause.ctes]
    if not clause.recursive:
        return [(query, False) for query in queries]
    reads = {query.ctename: _names_in(query) for query in queries}
    ordered: dict[str, bool] = {}

    def put(name: str) -> None:
        if name in reads and name not in ordered:
            ordered[name] = name in reads[name]
            for read in reads[name]:
                put(read)
            ordered[name] = ordered.pop(name)  # behind what it reads

    for query in queries:
        put(query.ctename)
    by_name = {query.ctename: query for query in queries}
    return [(by_name[name], reads_itself) for name, reads_itself in ordered.items()]


def _names_in(node: Message) -> frozenset[str]:
    """Return the names of the relations that stand anywhere in a query, without a schema."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, pb.RangeVar) and not part.schemaname:
            found.add(part.relname)
        waiting.extend(children(part))
    return frozenset(found)


def is_star(node: pb.Node) -> bool:
    """Return whether it is `*` or `t.*`."""
    return bool(node.HasField("column_ref") and node.column_ref.fields[-1].HasField("a_star"))


def alias_of(item: Message) -> str:
    """Return what a function in FROM is called, or nothing."""
    return str(item.alias.aliasname) if isinstance(item, pb.RangeFunction) else ""


def name_of(target: pb.ResTarget) -> str:
    """Return what PostgreSQL calls a column of a query, or nothing where that is not plain."""
    parts = target.val.column_ref.fields or target.val.func_call.funcname
    return str(target.name or (parts[-1].string.sval if parts else ""))


def texts(nodes: Iterable[pb.Node]) -> tuple[str, ...]:
    """Return the parts of a name."""
    return tuple(node.string.sval for node in nodes if node.HasField("string"))


def children(node: Message) -> Iterable[Message]:
    """Yield what a node holds."""
    for field, value in node.ListFields():
        if field.message_type is None:
            continue
        items: Any = value if field.is_repeated else (value,)
        for item in items:
            yield unwrap_node(item)
