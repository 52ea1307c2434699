"""The parser of PostgreSQL itself, through `postgast`: the extra `postgres`.

libpg_query is PostgreSQL's own grammar, so what it reads is what the server will read. Its tree
is walked once; what the walk does not know is reported as a node like any other.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, cast

from google.protobuf.message import DecodeError, Message
from postgast import PgQueryError, parse, scan
from postgast import pg_query_pb2 as pb
from postgast.walk import unwrap_node

from placet.database.facts import Argument, Facts, Measure, NameUse, Pattern, Unparsable, is_number
from placet.database.growth import STAR, Growth, measure_growth
from placet.database.making import BUILDERS, COLLECTING, COLLECTING_NODES
from placet.database.matching import OPERATORS, patterns, written_out
from placet.database.nesting import measure
from placet.database.policy import SYSTEM_COLUMNS

_Scope: TypeAlias = frozenset[str]

_FEW_BUILDERS: Final = 2
"""So few concatenations cannot build what matters: four times the text of a query."""
_LARGEST_RECKONED: Final = 2**63
"""Of numbers that are reckoned with: PostgreSQL's own end there, when they are whole."""
_FEW_NODES: Final = 100_000
"""What a query may come to without being sized, if every name were replaced by what it stands for."""


class PostgastParser:
    """Reads with libpg_query. Holds no state, so one serves all threads."""

    def measure(self, sql: str) -> Measure | Unparsable:
        """Return what the tokens say. Takes no stack, whatever the text is."""
        try:
            tokens = scan(sql).tokens
        except PgQueryError as error:
            return _unparsable(sql, error)
        except UnicodeEncodeError:
            return Unparsable("the text holds half of a character (a lone surrogate)")
        measured = measure(tokens)
        if measured.parameter is None:
            return measured
        return Measure(measured.tokens, measured.depth, measured.nesting, _characters(sql, measured.parameter))

    def read(self, sql: str) -> Facts | Unparsable:
        """Return the facts of a text that has been measured and is within the caps."""
        try:
            tree = parse(sql)
        except PgQueryError as error:
            return _unparsable(sql, error)
        except DecodeError:  # protobuf reads a hundred levels
            return Unparsable("the query is nested too deep; build it from WITH clauses")
        return _Reader(sql).read(tree)


def _unparsable(sql: str, error: PgQueryError) -> Unparsable:
    return Unparsable(error.message, _characters(sql, error.cursorpos - 1) if error.cursorpos else None)


def _characters(sql: str, position: int) -> int:
    """Return a place that was counted in bytes, as libpg_query does, counted in characters."""
    return position if sql.isascii() else len(sql.encode()[:position].decode(errors="ignore"))


class _Reader:
    """One walk over one tree. Every message is noted by its class before anything else."""

    def __init__(self, sql: str) -> None:
        self._sql = sql
        self._nodes: dict[str, int | None] = {}
        self._uses: dict[str, list[NameUse]] = {}
        self._builders = 0
        self._selects = 0
        self._names = 0
        self._count = 0
        self._stars = 0
        self._collects = False
        self._patterns: list[Pattern] = []
        self._matches = False
        self._visits: dict[str, Callable[[Any, _Scope], None]] = {
            "SelectStmt": self._visit_select,
            "RangeVar": self._visit_relation,
            "FuncCall": self._visit_call,
            "TypeName": self._visit_type,
            "A_Expr": self._visit_operator,
            "SubLink": self._visit_sub_link,
            "SortBy": self._visit_sort,
            "CollateClause": self._visit_collation,
            "ColumnRef": self._visit_column,
            "A_Indirection": self._visit_indirection,
            "RangeTableSample": self._visit_sample,
            "SQLValueFunction": self._visit_value,
        }

    def read(self, tree: pb.ParseResult) -> Facts:
        statements = [unwrap_node(raw.stmt) for raw in tree.stmts]
        for statement in statements:
            self._visit(statement, frozenset())
        first = tree.stmts[0] if statements else pb.RawStmt()
        end = first.stmt_location + first.stmt_len if first.stmt_len else len(self._sql.encode())
        single = statements[0] if len(statements) == 1 else None
        growth = measure_growth(single) if isinstance(single, pb.SelectStmt) and self._may_grow() else Growth()
        used = {kind: tuple(uses) for kind, uses in self._uses.items()}
        return Facts(
            statements=tuple(type(statement).__name__ for statement in statements),
            end=self._place(end),
            nodes=self._nodes,
            largest_value=growth.largest,
            largest_tree=growth.tree,
            handles_much=not growth.is_bounded,
            patterns=tuple(self._patterns),
            long_searches=tuple(self._place(max(0, location)) for location in growth.searches),
            **used,
        )

    def _may_grow(self) -> bool:
        """Return whether sizes have to be looked at: most queries are small in any case."""
        levels = max(1, self._selects - 1)
        nodes = self._count * max(1.0, self._names / levels) ** levels if self._selects > 1 else 0
        nodes = max(nodes, self._count * STAR**self._stars)
        return self._collects or self._matches or self._builders > _FEW_BUILDERS or nodes > _FEW_NODES

    def _visit(self, node: Message, scope: _Scope) -> None:
        name = type(node).__name__
        self._count += 1
        if name == "Node" and not node.ByteSize():  # a null pointer, as in DISTINCT without ON
            return
        if name not in self._nodes:
            self._nodes[name] = self._begin_of(node)
        self._collects |= name in COLLECTING_NODES
        visit = self._visits.get(name)
        if visit is not None:
            visit(node, scope)
        else:
            self._visit_fields(node, scope)

    def _begin_of(self, node: Message) -> int | None:
        """Return where a node stands, or the first of what it holds; many have no place of their own."""
        if "location" in node.DESCRIPTOR.fields_by_name:
            return self._place(max(0, getattr(node, "location", 0)))
        inner = [unwrap_node(value) for _, value in node.ListFields() if isinstance(value, Message)]
        return next((place for part in inner if (place := self._begin_of(part)) is not None), None)

    def _visit_fields(self, node: Message, scope: _Scope, without: frozenset[str] = frozenset()) -> None:
        for field, value in node.ListFields():
            if field.message_type is None or field.name in without:
                continue
            if isinstance(value, Message):
                self._visit(unwrap_node(value), scope)
            else:
                for item in value:
                    self._visit(unwrap_node(item), scope)

    def _visit_select(self, select: pb.SelectStmt, scope: _Scope) -> None:
        """Carry the names of `WITH` to where PostgreSQL sees them, and no further.

        See https://www.postgresql.org/docs/current/sql-select.html#SQL-WITH: without RECURSIVE
        a body sees the names before it, with RECURSIVE all; the query itself sees all.
        """
        self._selects += 1
        self._collects |= select.with_clause.recursive
        if select.HasField("with_clause"):
            self._nodes.setdefault("WithClause", 0)
            names = frozenset(item.common_table_expr.ctename for item in select.with_clause.ctes)
            inner = scope | names if select.with_clause.recursive else scope
            for item in select.with_clause.ctes:
                self._visit(unwrap_node(item), inner)
                inner |= {item.common_table_expr.ctename}
            scope |= names
        self._visit_fields(select, scope, frozenset({"with_clause"}))

    def _visit_relation(self, relation: pb.RangeVar, scope: _Scope) -> None:
        self._names += 1
        is_bare = not (relation.schemaname or relation.catalogname)
        if not (is_bare and relation.relname in scope):
            parts = (relation.catalogname, relation.schemaname, relation.relname)
            self._use("relations", tuple(part for part in parts if part), relation.location)
        self._visit_fields(relation, scope)

    def _visit_call(self, call: pb.FuncCall, scope: _Scope) -> None:
        parts = _texts(call.funcname)
        self._note_call(parts[-1])
        self._note_patterns(call)
        self._use("functions", parts, call.location, [_argument(item) for item in call.args])
        self._visit_fields(call, scope, frozenset({"funcname"}))

    def _note_call(self, name: str) -> None:
        """Note a function that is called, or that a dot may call."""
        self._builders += BUILDERS.get(name, 0)
        self._collects |= name in COLLECTING

    def _note_patterns(self, node: pb.A_Expr | pb.FuncCall) -> None:
        for pattern in patterns(node):
            for constant in written_out(pattern):
                if constant is None:
                    self._matches = True
                elif constant.HasField("sval"):
                    place = self._place(max(0, constant.location))
                    self._patterns.append(Pattern(constant.sval.sval, place))

    def _visit_type(self, type_name: pb.TypeName, scope: _Scope) -> None:
        self._use(
            "types", _texts(type_name.names), type_name.location, [_argument(item) for item in type_name.typmods],
            is_open_ended=type_name.setof or type_name.pct_type,
        )  # fmt: skip
        self._visit_fields(type_name, scope, frozenset({"names"}))

    def _visit_operator(self, expression: pb.A_Expr, scope: _Scope) -> None:
        parts = _texts(expression.name)
        self._builders += parts[-1:] == ("||",)
        self._note_patterns(expression)
        if len(parts) > 1 or parts == ("^",):
            sides = [_argument(expression.lexpr), _argument(expression.rexpr)]
            self._use("operators", parts, expression.location, sides)
        self._visit_fields(expression, scope, frozenset({"name"}))

    def _visit_sub_link(self, link: pb.SubLink, scope: _Scope) -> None:
        self._collects |= link.sub_link_type == pb.ARRAY_SUBLINK
        self._matches |= not OPERATORS.isdisjoint(_texts(link.oper_name))
        if len(link.oper_name) > 1:
            self._use("operators", _texts(link.oper_name), link.location)
        self._visit_fields(link, scope, frozenset({"oper_name"}))

    def _visit_sort(self, sort: pb.SortBy, scope: _Scope) -> None:
        if len(sort.use_op) > 1:
            self._use("operators", _texts(sort.use_op), sort.location)
        self._visit_fields(sort, scope, frozenset({"use_op"}))

    def _visit_collation(self, collation: pb.CollateClause, scope: _Scope) -> None:
        self._use("collations", _texts(collation.collname), collation.location)
        self._visit_fields(collation, scope, frozenset({"collname"}))

    def _visit_column(self, column: pb.ColumnRef, scope: _Scope) -> None:
        self._names += 1
        parts = _texts(column.fields)
        is_row = column.fields[-1].HasField("a_star")
        if len(parts) + is_row > 2:
            self._use("long_columns", (*parts, "*") if is_row else parts, column.location)
        if parts and parts[-1] in SYSTEM_COLUMNS and not is_row:
            self._use("system_columns", parts, column.location)
        if len(parts) > 1 and not is_row:
            self._note_call(parts[-1])
            self._use("notations", parts, column.location)
        self._visit_fields(column, scope)

    def _visit_indirection(self, indirection: pb.A_Indirection, scope: _Scope) -> None:
        for item in indirection.indirection:
            self._stars += item.HasField("a_star")
            if item.HasField("string"):
                self._note_call(item.string.sval)
                location = getattr(unwrap_node(indirection.arg), "location", 0)
                self._use("notations", ("", item.string.sval), location)
        self._visit_fields(indirection, scope)

    def _visit_sample(self, sample: pb.RangeTableSample, scope: _Scope) -> None:
        arguments = [_argument(item) for item in sample.args]
        if sample.HasField("repeatable"):
            arguments.append(_argument(sample.repeatable))
        self._use("samples", _texts(sample.method), sample.location, arguments)
        self._visit_fields(sample, scope)

    def _visit_value(self, value: pb.SQLValueFunction, _: _Scope) -> None:
        name = pb.SQLValueFunctionOp.Name(value.op).removeprefix("SVFOP_").lower()
        self._use("values", (name,), value.location)

    def _use(
        self, kind: str, parts: tuple[str, ...], location: int, arguments: Iterable[Argument] = (), *,
        is_open_ended: bool = False,
    ) -> None:  # fmt: skip
        use = NameUse(parts, self._place(max(0, location)), tuple(arguments), is_open_ended)
        self._uses.setdefault(kind, []).append(use)

    def _place(self, location: int) -> int:
        return _characters(self._sql, location)


def _texts(nodes: Iterable[pb.Node]) -> tuple[str, ...]:
    return tuple(node.string.sval for node in nodes if node.HasField("string"))


def _argument(node: pb.Node) -> Argument:
    """Return what stands at a place, looking through casts and signs, and reckoning with constants."""
    if node.HasField("a_const"):
        return _constant(node.a_const)
    if node.HasField("type_cast"):
        inner = _argument(node.type_cast.arg)
        name = _texts(node.type_cast.type_name.names)
        return Argument(inner.is_constant, inner.value, name[-1] if name else None)
    if node.HasField("named_arg_expr"):
        return _argument(node.named_arg_expr.arg)
    if node.HasField("a_expr") and node.a_expr.kind == pb.AEXPR_OP:
        return _reckon(_texts(node.a_expr.name), _argument(node.a_expr.lexpr), _argument(node.a_expr.rexpr))
    return Argument()


def _reckon(operator: tuple[str, ...], left: Argument, right: Argument) -> Argument:
    """Return what an operator makes of two numbers that are constants, nothing constant of others."""
    if not (is_number(left) and is_number(right)):
        return Argument()
    a, b = cast("float", left.value), cast("float", right.value)
    match operator:
        case ("+",):
            value = a + b
        case ("-",):
            value = a - b
        case ("*",):
            value = a * b
        case ("/",) if b:
            value = math.trunc(a / b) if isinstance(a, int) and isinstance(b, int) else a / b
        case _:
            return Argument()
    return Argument(True, value) if abs(value) < _LARGEST_RECKONED else Argument()


def _constant(constant: pb.A_Const) -> Argument:
    if constant.isnull:
        return Argument(True, None)
    match constant.WhichOneof("val"):
        case "ival":
            return Argument(True, constant.ival.ival)
        case "fval":
            return _number(constant.fval.fval)
        case "boolval":
            return Argument(True, constant.boolval.boolval)
        case "sval":
            return Argument(True, constant.sval.sval)
        case _:
            return Argument(True, constant.bsval.bsval)


def _number(text: str) -> Argument:
    """Return a number that is no 32-bit integer: `1.5`, `1e3`, `10_000_000_000`, `0xFFFFFFFFFF`."""
    try:
        return Argument(True, float(text))
    except ValueError:
        return Argument(True, int(text, 0))
