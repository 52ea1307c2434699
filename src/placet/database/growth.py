"""How large a query may become: its values, its tree, and how far its searches look.

PostgreSQL bounds neither the memory of a query nor the time of one function, and doubling needs
no number that a rule could refuse: `SELECT s||s||s||s FROM (SELECT s||s||s||s …)`. So sizes are
carried through sub-queries and `WITH`:

- characters: a concatenation adds, a replacement multiplies, an aggregate multiplies by
  `AGGREGATE_FACTOR`. Recursion is left to time and `temp_file_limit`.
- nodes: the planner puts an expression in the place of each name for it, so that
  `SELECT x+x FROM (SELECT x+x AS x FROM (…))` doubles once a level (3 GB for 621 characters,
  measured on 18.6), and a `WITH … AS NOT MATERIALIZED` likewise.
- collections: what an aggregate has made of rows is as long as the data. Searching it for another
  one takes the product of their lengths, in one function that no cancellation ends; and no
  cancellation comes between the functions of one row (90 times md5 of 90 MB took 18 s).
- patterns: a regular expression that is not written out in the query must be short
  (`placet.database.regex`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from google.protobuf.message import Message
from postgast import pg_query_pb2 as pb
from postgast.walk import unwrap_node

from placet.database.matching import OPERATORS, patterns, places_of_patterns, written_out
from placet.database.regex import LONGEST_PATTERN

COLUMN_SIZE: Final = 10
"""What a column of a table counts for: its size is the data's, not the asker's."""

AGGREGATE_FACTOR: Final = 30
LONGEST_NUMBER: Final = 150_000
"""Digits of the largest number, which nine characters can state."""
PADDED: Final = 1_000
PADDING: Final = frozenset({"lpad", "rpad", "round", "trunc", "exp", "power", "pow"})
"""Functions that make length out of a number, within bounds."""
MOST_SEARCHED: Final = 100_000_000
"""Characters of a text times those that are looked for in it."""
LONGEST_NEEDLE: Final = 32
"""That may be looked for in a collection."""
LONGEST_ELEMENT: Final = 400
"""Characters of what is collected, as far as the query makes it."""
MOST_HANDLED: Final = 20
"""Functions and operators over collections."""
STAR: Final = 50
"""How often `(x).*` repeats x, once for each of its columns."""

_ADDING: Final = frozenset(
    {
        "concat", "concat_ws", "overlay", "array_append", "array_prepend", "array_cat", "json_build_object",
        "jsonb_build_object", "json_build_array", "jsonb_build_array", "json_object", "jsonb_object", "jsonb_set",
        "quote_literal", "quote_nullable",
    }
)  # fmt: skip
_MULTIPLYING: Final = frozenset({"replace", "regexp_replace", "array_to_string", "array_replace"})
COLLECTING: Final = frozenset(
    {
        "string_agg", "array_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "json_agg_strict",
        "jsonb_agg_strict", "json_object_agg_strict", "jsonb_object_agg_strict",
    }
)  # fmt: skip

BUILDERS: Final = {**dict.fromkeys(_ADDING | COLLECTING, 1), **dict.fromkeys(_MULTIPLYING, 7)}
"""The functions that make a larger value out of smaller ones, and how many concatenations each may come to."""

SEARCHING: Final = frozenset(
    {"strpos", "position", "replace", "split_part", "string_to_array", "string_to_table", "translate", "btrim", "ltrim",
     "rtrim", "array_positions", "array_replace"}
)  # fmt: skip
"""Functions that look for their second argument in the first."""
_READING: Final = frozenset(
    {"to_tsquery", "plainto_tsquery", "phraseto_tsquery", "websearch_to_tsquery", "jsonb_path_query",
     "jsonb_path_query_array", "jsonb_path_query_first", "jsonb_path_exists", "jsonb_path_match"}
)  # fmt: skip
"""Functions whose time or memory grows faster than what they read."""
BY_DOT: Final = COLLECTING | _ADDING | _READING
"""Functions that matter when a dot calls them, as in `c.json_agg`: of one value, nothing is multiplied or searched."""
LIKE: Final = frozenset({"~~", "!~~", "~~*", "!~~*"})
CONTAINING: Final = frozenset({"@>", "<@", "&&", "?|", "?&", "-"})
"""Operators that compare every part of one side with every part of the other."""
PATHS: Final = frozenset({"@?", "@@"})
_KEEPING: Final = frozenset({"||", "-", "->", "->>", "#>", "#>>"})
"""Operators whose result may be a collection."""
_NUMBERS: Final = frozenset(
    """
    array_length array_lower array_ndims array_position array_upper ascii avg bit_length cardinality char_length
    character_length count json_array_length json_typeof jsonb_array_length jsonb_typeof length md5 num_nonnulls
    num_nulls octet_length position regexp_count regexp_instr sha256 starts_with strpos sum
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""Functions that make something short of a collection."""
_TAKING_APART: Final = frozenset(
    """
    unnest json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text json_each
    json_each_text jsonb_each jsonb_each_text json_object_keys jsonb_object_keys string_to_table regexp_split_to_table
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)

_ADDING_NODES: Final = frozenset(
    {"RowExpr", "A_ArrayExpr", "JsonObjectConstructor", "JsonArrayConstructor", "JsonKeyValue"}
)
COLLECTING_NODES: Final = frozenset({"JsonArrayAgg", "JsonObjectAgg", "JsonArrayQueryConstructor"})
_CEILING: Final = 10**15


class _Size(NamedTuple):
    """Of a value: its characters, the nodes that make it, and how many aggregates it is within another."""

    characters: int = 1
    nodes: int = 1
    collections: int = 0


class _Source(NamedTuple):
    """What is read from: its largest column, all of them together, what a row is called, and the nodes of it all."""

    column: _Size
    row: _Size
    aliases: frozenset[str] = frozenset()
    tree: int = 1


_COLUMN: Final = _Size(COLUMN_SIZE)
_TABLE: Final = _Source(_COLUMN, _Size(COLUMN_SIZE * 20), tree=5)
_NOTHING: Final = _Source(_Size(), _Size(), tree=0)


class Growth:
    """Sizes one statement.

    Attributes:
        largest: Characters of its largest value.
        tree: Nodes of the whole, when each name has been replaced by what it stands for.
        searches: Where a collection, or something too long, is looked for, or a pattern that is not written out.
        handled: How many functions and operators take a collection.
    """

    def __init__(self) -> None:
        self.largest = 0
        self.tree = 0
        self.searches: list[int] = []
        self.handled = 0
        self._builders = 0
        self._has_long_elements = False

    @property
    def is_bounded(self) -> bool:
        """Whether collections are few enough, and made of small values."""
        return self.handled <= MOST_HANDLED and not self._has_long_elements

    def of_select(self, select: pb.SelectStmt, names: Mapping[str, _Source], outer: _Source) -> _Source:
        """Return how large the rows of a query are, and note the largest value in it."""
        names = {**names, **self._of_with(select, names, outer)}
        if select.op != pb.SETOP_NONE:
            left = self.of_select(select.larg, names, outer)
            right = self.of_select(select.rarg, names, outer)
            return self._planned(
                _Source(
                    _larger((left.column, right.column)), _larger((left.row, right.row)), tree=left.tree + right.tree
                )
            )
        source = self._of_from(select.from_clause, names, outer)
        columns: list[_Size] = []
        targets: list[_Size] = []
        for target in (*select.target_list, *select.values_lists):
            size = self._size(unwrap_node(target), names, source)
            columns.append(source.column if _is_star(target.res_target.val) else size)
            targets.append(size)
        clauses = [select.where_clause, select.having_clause, select.limit_count, select.limit_offset]
        clauses += [*select.group_clause, *select.sort_clause, *select.window_clause, *select.distinct_clause]
        more = [self._size(unwrap_node(clause), names, source) for clause in clauses]
        column, row = _larger(columns), _sum(targets)
        if select.group_clause or select.sort_clause or select.distinct_clause or select.HasField("limit_count"):
            column = column._replace(nodes=1)  # the planner leaves it as a query of its own
        tree = source.tree + sum(size.nodes for size in (*targets, *more))
        return self._planned(_Source(column, row, tree=tree))

    def _planned(self, source: _Source) -> _Source:
        tree = min(_CEILING, source.tree)
        self.tree = max(self.tree, tree)
        return source._replace(tree=tree)

    def _of_with(self, select: pb.SelectStmt, names: Mapping[str, _Source], outer: _Source) -> dict[str, _Source]:
        found: dict[str, _Source] = {}
        for item in select.with_clause.ctes:
            cte = item.common_table_expr
            body = unwrap_node(cte.ctequery)
            if isinstance(body, pb.SelectStmt):
                before = self._builders
                made = self.of_select(body, {**names, **found}, outer)
                if cte.ctematerialized == pb.CTEMaterializeAlways:
                    made = made._replace(column=made.column._replace(nodes=1), row=made.row._replace(nodes=1), tree=1)
                if select.with_clause.recursive and self._builders > before:  # it may grow with every round
                    made = made._replace(column=made.column._replace(collections=max(1, made.column.collections)))
                found[cte.ctename] = made
        return found

    def _of_from(self, items: Iterable[Message], names: Mapping[str, _Source], outer: _Source) -> _Source:
        source = outer._replace(tree=1)
        for item in items:
            found = self._of_item(unwrap_node(item), names, source)
            source = _Source(
                _larger((source.column, found.column)), _larger((source.row, found.row)),
                source.aliases | found.aliases, source.tree + found.tree,
            )  # fmt: skip
        return source

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
                condition = self._size(unwrap_node(item.quals), names, source)
                return source._replace(tree=source.tree + condition.nodes)
            case _:
                size = self._size(item, names, outer)
                return _Source(size, size, frozenset(_alias_of(item)), size.nodes)

    def _size(self, node: Message, names: Mapping[str, _Source], source: _Source) -> _Size:
        size = self._size_of(node, names, source)
        size = _Size(min(_CEILING, size.characters), min(_CEILING, size.nodes), size.collections)
        self.largest = max(self.largest, size.characters)
        return size

    def _size_of(  # noqa: PLR0911 - a table of nodes
        self, node: Message, names: Mapping[str, _Source], source: _Source
    ) -> _Size:
        match node:
            case pb.A_Const():
                return _Size(_length(node))
            case pb.ColumnRef():
                return self._of_column(node, source)
            case pb.SelectStmt():
                inner = self.of_select(node, names, source)
                return inner.row._replace(nodes=inner.tree)
            case pb.FuncCall():
                return self._of_call(node, names, source)
            case pb.A_Expr():
                return self._of_operator(node, names, source)
            case pb.SubLink():
                return self._of_sub_link(node, names, source)
            case pb.A_Indirection():
                return self._of_indirection(node, names, source)
            case _:
                sizes = self._sizes(_children(node), names, source)
                kind = type(node).__name__
                self.handled += kind == "TypeCast" and any(size.collections for size in sizes)
                size = _sum(sizes) if kind in _ADDING_NODES | COLLECTING_NODES else _larger(sizes, is_tree=True)
                return _collected(size) if kind in COLLECTING_NODES else size

    def _of_column(self, column: pb.ColumnRef, source: _Source) -> _Size:
        last = column.fields[-1]
        if last.HasField("a_star") or (len(column.fields) == 1 and last.string.sval in source.aliases):
            return source.row
        if len(column.fields) > 1 and last.string.sval in BY_DOT:
            called = self._made_by_call(last.string.sval, [source.row], column.location)
            return _larger((source.column, called))
        return source.column

    def _of_operator(self, node: pb.A_Expr, names: Mapping[str, _Source], source: _Source) -> _Size:
        left, right = (self._size(unwrap_node(side), names, source) for side in (node.lexpr, node.rexpr))
        name = node.name[-1].string.sval if node.name else ""
        self.handled += name in _KEEPING and bool(left.collections or right.collections)
        if name in LIKE:
            self._search(left, right, node.location)
        if not _are_written_out(node):
            self._match(right, node.location)
        elif (name in CONTAINING and left.collections and right.collections) or (name in PATHS and left.collections):
            self.searches.append(node.location)
        self._builders += name == "||"
        size = _sum((left, right)) if name == "||" else _larger((left, right), is_tree=True)
        return size if name in _KEEPING else size._replace(collections=0)

    def _of_sub_link(self, link: pb.SubLink, names: Mapping[str, _Source], source: _Source) -> _Size:
        size = _larger(self._sizes(_children(link), names, source), is_tree=True)
        if any(part.string.sval in OPERATORS for part in link.oper_name):
            self._match(size, link.location)
        if link.sub_link_type == pb.ARRAY_SUBLINK:
            return _collected(size)
        return size if link.sub_link_type == pb.EXPR_SUBLINK else size._replace(characters=1, collections=0)

    def _of_indirection(self, node: pb.A_Indirection, names: Mapping[str, _Source], source: _Source) -> _Size:
        size = _larger(self._sizes(_children(node), names, source), is_tree=True)
        if any(part.HasField("a_star") for part in node.indirection):
            return size._replace(nodes=size.nodes * STAR)
        is_element = any(part.HasField("a_indices") and not part.a_indices.is_slice for part in node.indirection)
        size = size._replace(collections=max(0, size.collections - is_element))
        for part in node.indirection:
            if part.string.sval in BY_DOT:
                size = self._made_by_call(part.string.sval, [size], 0)
        return size

    def _of_call(self, call: pb.FuncCall, names: Mapping[str, _Source], source: _Source) -> _Size:
        sizes = self._sizes((unwrap_node(argument) for argument in call.args), names, source)
        more = self._sizes((unwrap_node(item) for item in (*call.agg_order, call.agg_filter)), names, source)
        if not _are_written_out(call):
            self._match(_larger(sizes[place] for place in places_of_patterns(call)), call.location)
        made = self._made_by_call(call.funcname[-1].string.sval, sizes, call.location)
        return made._replace(nodes=made.nodes + sum(size.nodes for size in more))

    def _made_by_call(self, name: str, sizes: list[_Size], location: int) -> _Size:
        self._builders += name in BUILDERS
        if any(size.collections for size in sizes):
            self.handled += 1
        elif name in COLLECTING and any(size.characters > LONGEST_ELEMENT for size in sizes):
            self._has_long_elements = True
        if name in SEARCHING and len(sizes) > 1:
            self._search(sizes[0], sizes[1], location)
        if name in _READING and any(size.collections for size in sizes):
            self.searches.append(location)
        return self._made_by(name, sizes or [_COLUMN])

    def _made_by(self, name: str, sizes: list[_Size]) -> _Size:
        if name in COLLECTING:
            return _collected(_sum(sizes))
        if name in _MULTIPLYING:
            product = 1
            for size in sizes:
                product *= max(1, size.characters)
            return _sum(sizes)._replace(characters=product)
        size = _sum(sizes) if name in _ADDING else _larger(sizes, is_tree=True)
        if name in PADDING and len(sizes) > 1:
            return size._replace(characters=PADDED, collections=0)
        if name in _NUMBERS:
            return size._replace(characters=COLUMN_SIZE, collections=0)
        if name in ("string_to_array", "regexp_split_to_array"):
            return size._replace(collections=size.collections + 1)
        return size._replace(collections=max(0, size.collections - 1)) if name in _TAKING_APART else size

    def _search(self, text: _Size, needle: _Size, location: int) -> None:
        """Note a search whose time no cancellation would end."""
        is_short = needle.characters <= LONGEST_NEEDLE and not needle.collections
        is_bounded = not needle.collections and text.characters * needle.characters <= MOST_SEARCHED
        if not (is_short or (is_bounded and not text.collections)):
            self.searches.append(location)

    def _match(self, pattern: _Size, location: int) -> None:
        """Note a pattern that is not written out, and may become large."""
        if pattern.collections or pattern.characters > LONGEST_PATTERN:
            self.searches.append(location)

    def _sizes(self, nodes: Iterable[Message], names: Mapping[str, _Source], source: _Source) -> list[_Size]:
        return [self._size(node, names, source) for node in nodes]


def measure_growth(select: pb.SelectStmt) -> Growth:
    """Return how large a query may become."""
    growth = Growth()
    growth.of_select(select, {}, _NOTHING)
    return growth


def _are_written_out(node: pb.A_Expr | pb.FuncCall) -> bool:
    return all(constant is not None for pattern in patterns(node) for constant in written_out(pattern))


def _larger(sizes: Iterable[_Size], *, is_tree: bool = False) -> _Size:
    """Return the largest of all; of a tree, the nodes are those of all parts and one more."""
    known = list(sizes) or [_Size(nodes=0)]
    nodes = sum(size.nodes for size in known) + 1 if is_tree else max(size.nodes for size in known)
    return _Size(max(size.characters for size in known), nodes, max(size.collections for size in known))


def _sum(sizes: Iterable[_Size]) -> _Size:
    known = list(sizes)
    largest = _larger(known, is_tree=True)
    return largest._replace(characters=sum(size.characters for size in known))


def _collected(size: _Size) -> _Size:
    return _Size(size.characters * AGGREGATE_FACTOR, size.nodes, size.collections + 1)


def _length(constant: pb.A_Const) -> int:
    if constant.HasField("sval"):
        return len(constant.sval.sval)
    return LONGEST_NUMBER if constant.HasField("fval") and "e" in constant.fval.fval.lower() else 1


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
