"""How large a value a query may build, as far as its text can tell.

PostgreSQL bounds neither the memory of a query nor the time of one function, and doubling needs
no number that a rule could refuse: `SELECT s||s||s||s FROM (SELECT s||s||s||s …)`. So the sizes
are carried through sub-queries and `WITH`: a concatenation adds, a replacement multiplies, an
aggregate multiplies by `AGGREGATE_FACTOR`. Recursion is left to time and `temp_file_limit`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from google.protobuf.message import Message
from postgast import pg_query_pb2 as pb
from postgast.walk import unwrap_node

COLUMN_SIZE: Final = 10
"""What a column of a table counts for: its size is the data's, not the asker's."""

AGGREGATE_FACTOR: Final = 30

_ADDING: Final = frozenset(
    {
        "concat", "concat_ws", "overlay", "array_append", "array_prepend", "array_cat", "json_build_object",
        "jsonb_build_object", "json_build_array", "jsonb_build_array", "json_object", "jsonb_object", "jsonb_set",
        "quote_literal", "quote_nullable",
    }
)  # fmt: skip
_MULTIPLYING: Final = frozenset({"replace", "regexp_replace", "array_to_string", "array_replace"})
_COLLECTING: Final = frozenset(
    {
        "string_agg", "array_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "json_agg_strict",
        "jsonb_agg_strict", "json_object_agg_strict", "jsonb_object_agg_strict",
    }
)  # fmt: skip

BUILDERS: Final = _ADDING | _MULTIPLYING | _COLLECTING
"""The functions that make a larger value out of smaller ones."""

_ADDING_NODES: Final = frozenset(
    {"RowExpr", "A_ArrayExpr", "JsonObjectConstructor", "JsonArrayConstructor", "JsonKeyValue", "JsonArrayAgg"}
)
_CEILING: Final = 10**15


class _Source(NamedTuple):
    """A row that is read from: its largest column, all of them together, and what the row is called."""

    column: int
    row: int
    aliases: frozenset[str] = frozenset()


_TABLE: Final = _Source(COLUMN_SIZE, COLUMN_SIZE * 20)


class Growth:
    """Sizes the values of one statement."""

    def __init__(self) -> None:
        self.largest = 0

    def of_select(self, select: pb.SelectStmt, names: Mapping[str, _Source], outer: _Source) -> _Source:
        """Return how large the rows of a query are, and note the largest value in it."""
        names = {**names, **self._of_with(select, names, outer)}
        if select.op != pb.SETOP_NONE:
            left = self.of_select(select.larg, names, outer)
            right = self.of_select(select.rarg, names, outer)
            return _Source(max(left.column, right.column), max(left.row, right.row))
        source = self._of_from(select.from_clause, names, outer)
        column = row = 0
        for target in (*select.target_list, *select.values_lists):
            size = self._size(unwrap_node(target), names, source)
            column = max(column, source.column if _is_star(target.res_target.val) else size)
            row += size
        for clause in (select.where_clause, select.having_clause, select.limit_count, select.limit_offset):
            self._size(unwrap_node(clause), names, source)
        for clauses in (select.group_clause, select.sort_clause, select.window_clause, select.distinct_clause):
            for clause in clauses:
                self._size(unwrap_node(clause), names, source)
        return _Source(column, min(_CEILING, row))

    def _of_with(self, select: pb.SelectStmt, names: Mapping[str, _Source], outer: _Source) -> dict[str, _Source]:
        found: dict[str, _Source] = {}
        for item in select.with_clause.ctes:
            cte = item.common_table_expr
            body = unwrap_node(cte.ctequery)
            if isinstance(body, pb.SelectStmt):
                found[cte.ctename] = self.of_select(body, {**names, **found}, outer)
        return found

    def _of_from(self, items: Iterable[Message], names: Mapping[str, _Source], outer: _Source) -> _Source:
        column, row, aliases = outer
        for item in items:
            found = self._of_item(unwrap_node(item), names, _Source(column, row, aliases))
            column, row, aliases = max(column, found.column), max(row, found.row), aliases | found.aliases
        return _Source(column, row, aliases)

    def _of_item(self, item: Message, names: Mapping[str, _Source], outer: _Source) -> _Source:
        match item:
            case pb.RangeVar():
                found = names.get(item.relname, _TABLE) if not item.schemaname else _TABLE
                return found._replace(aliases=frozenset({item.alias.aliasname or item.relname}))
            case pb.RangeSubselect():
                body = unwrap_node(item.subquery)
                found = self.of_select(body, names, outer) if isinstance(body, pb.SelectStmt) else _TABLE
                return found._replace(aliases=frozenset({item.alias.aliasname}))
            case pb.JoinExpr():
                source = self._of_from((item.larg, item.rarg), names, outer)
                self._size(unwrap_node(item.quals), names, source)
                return source
            case _:
                size = self._size(item, names, outer)
                return _Source(size, size, frozenset(_alias_of(item)))

    def _size(self, node: Message, names: Mapping[str, _Source], source: _Source) -> int:
        size = min(_CEILING, self._size_of(node, names, source))
        self.largest = max(self.largest, size)
        return size

    def _size_of(self, node: Message, names: Mapping[str, _Source], source: _Source) -> int:
        match node:
            case pb.A_Const():
                return len(node.sval.sval) if node.HasField("sval") else 1
            case pb.ColumnRef():
                is_row = node.fields[-1].HasField("a_star") or (
                    len(node.fields) == 1 and node.fields[0].string.sval in source.aliases
                )
                return source.row if is_row else source.column
            case pb.SelectStmt():
                return self.of_select(node, names, source).row
            case pb.FuncCall():
                return self._of_call(node, names, source)
            case _:
                sizes = self._sizes(_children(node), names, source)
                adds = type(node).__name__ in _ADDING_NODES or (
                    isinstance(node, pb.A_Expr) and node.name and node.name[-1].string.sval == "||"
                )
                return sum(sizes) if adds else max(sizes, default=1)

    def _of_call(self, call: pb.FuncCall, names: Mapping[str, _Source], source: _Source) -> int:
        sizes = self._sizes((unwrap_node(argument) for argument in call.args), names, source)
        self._sizes((unwrap_node(item) for item in call.agg_order), names, source)
        self._size(unwrap_node(call.agg_filter), names, source)
        name = call.funcname[-1].string.sval
        if name in _COLLECTING:
            return sum(sizes) * AGGREGATE_FACTOR
        if name in _MULTIPLYING:
            product = 1
            for size in sizes:
                product *= max(1, size)
            return product
        return sum(sizes) if name in _ADDING else max(sizes, default=COLUMN_SIZE)

    def _sizes(self, nodes: Iterable[Message], names: Mapping[str, _Source], source: _Source) -> list[int]:
        return [self._size(node, names, source) for node in nodes]


def largest_value(select: pb.SelectStmt) -> int:
    """Return how many characters the largest value of a query may hold, columns apart."""
    growth = Growth()
    growth.of_select(select, {}, _Source(1, 1))
    return growth.largest


def _is_star(node: pb.Node) -> bool:
    return bool(node.HasField("column_ref") and node.column_ref.fields[-1].HasField("a_star"))


def _alias_of(item: Message) -> Iterable[str]:
    if isinstance(item, pb.RangeFunction) and item.alias.aliasname:
        yield item.alias.aliasname


def _children(node: Message) -> Iterable[Message]:
    for field, value in node.ListFields():
        if field.message_type is None:
            continue
        items: Any = value if field.is_repeated else (value,)
        for item in items:
            yield unwrap_node(item)
