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
  cancellation comes between the functions of one row (90 times md5 of 90 MB took 18 s), so that
  each has its points (`placet.database.effort`). What holds a collection is one, and what is taken
  out of it: this is followed by the names of columns (`placet.database.extent`), through rounds of
  `WITH RECURSIVE` too.
- patterns: a regular expression that is not written out in the query must be short
  (`placet.database.regex`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from google.protobuf.message import Message
from postgast import pg_query_pb2 as pb
from postgast.walk import unwrap_node

from placet.database.effort import MOST_EFFORT, TEXT_TYPES, TOO_MUCH, effort_of, effort_of_cast
from placet.database.extent import (
    COLUMN,
    COLUMN_SIZE,
    NOTHING,
    TABLE,
    Column,
    Size,
    Source,
    added,
    collected,
    larger,
    taken_out,
    wrapped,
)
from placet.database.making import (
    ADDING,
    ADDING_NODES,
    BUILDERS,
    BY_DOT,
    COLLECTING,
    COLLECTING_NODES,
    CONTAINING,
    KEEPING,
    LIKE,
    MULTIPLYING,
    NUMBERS,
    PADDING,
    PATHS,
    READING,
    READING_NODES,
    SEARCHING,
    SPLITTING,
    TAKING,
    TAKING_APART,
    TEXTS,
    WRAPPING,
    WRAPPING_NODES,
)
from placet.database.matching import OPERATORS, patterns, places_of_patterns, written_out
from placet.database.parts import alias_of, children, in_order, is_star, name_of, texts
from placet.database.regex import LONGEST_PATTERN

LONGEST_NUMBER: Final = 150_000
"""Digits of the largest number, which nine characters can state."""
PADDED: Final = 1_000
MOST_SEARCHED: Final = 100_000_000
"""Characters of a text times those that are looked for in it."""
LONGEST_NEEDLE: Final = 32
"""That may be looked for in a collection."""
LONGEST_ELEMENT: Final = 400
"""Characters of what is collected, as far as the query makes it."""
MOST_BUILT: Final = 5_000_000
"""Characters of what is handed to functions, as far as the query builds it."""
LONGEST_BUILT: Final = 1_000
"""What is no longer counts for nothing."""
STAR: Final = 50
"""How often `(x).*` repeats x, once for each of its columns."""

_MOST_VISITS: Final = 15_000
"""Of nodes: each round of a `WITH RECURSIVE` inside another one is looked at in each round of that."""
_TO_A_LENGTH: Final = frozenset({"lpad", "rpad"})
_ROUNDS: Final = 5
"""Of a `WITH RECURSIVE`, until each column that grows by way of another is known."""
_CEILING: Final = 10**15


class Growth:
    """Sizes one statement.

    Attributes:
        largest: Characters of its largest value.
        tree: Nodes of the whole, when each name has been replaced by what it stands for.
        searches: Where a collection, or something too long, is looked for, or a pattern that is not written out.
        effort: What the functions and operators take that work on collections, in points.
        built: Characters of what is built and handed to functions.
    """

    def __init__(self, visits: list[int] | None = None) -> None:
        self._visits = [0] if visits is None else visits
        self.largest = 0
        self.tree = 0
        self.searches: list[int] = []
        self.effort = 0
        self.built = 0
        self._has_long_elements = False

    @property
    def is_bounded(self) -> bool:
        """Whether there is little work on collections, and they are made of small values."""
        return self.effort <= MOST_EFFORT and self.built <= MOST_BUILT and not self._has_long_elements

    def of_select(self, select: pb.SelectStmt, names: Mapping[str, Source], outer: Source) -> Source:
        """Return how large the rows of a query are, and note the largest value in it."""
        names = {**names, **self._of_with(select, names, outer)}
        if select.op != pb.SETOP_NONE:
            left = self.of_select(select.larg, names, outer)
            return self._planned(left.over(self.of_select(select.rarg, names, outer)))
        read = self._of_from(select.from_clause, names, outer)
        scope = replace(outer, tree=0).beside(read)
        made = self._of_targets((*select.target_list, *select.values_lists), names, read, scope)
        clauses = [select.where_clause, select.having_clause, select.limit_count, select.limit_offset]
        clauses += [*select.group_clause, *select.sort_clause, *select.window_clause, *select.distinct_clause]
        more = [self._size(unwrap_node(clause), names, scope) for clause in clauses]
        if select.group_clause or select.sort_clause or select.distinct_clause or select.HasField("limit_count"):
            made = made.planned_apart()
        return self._planned(replace(made, tree=read.tree + made.tree + sum(size.nodes for size in more)))

    def _of_targets(
        self, targets: Iterable[pb.Node], names: Mapping[str, Source], read: Source, scope: Source
    ) -> Source:
        made = Source(tree=0)
        sizes: list[Size] = []
        for target in targets:
            size = self._size(unwrap_node(target), names, scope)
            sizes.append(size)
            if is_star(target.res_target.val):
                fields = target.res_target.val.column_ref.fields
                starred = scope.aliases.get(fields[-2].string.sval, scope) if len(fields) > 1 else read
                made = made.beside(replace(starred, aliases={}, tree=0))
            elif target.HasField("res_target") and not target.res_target.val.HasField("a_indirection"):
                made = replace(made, columns=(*made.columns, Column(name_of(target.res_target), size)))
            else:  # it may be several
                made = made.beside(Source((), size, tree=0))
        return replace(made, row=added(sizes), tree=sum(size.nodes for size in sizes))

    def _planned(self, source: Source) -> Source:
        tree = min(_CEILING, source.tree)
        self.tree = max(self.tree, tree)
        return replace(source, tree=tree)

    def _of_with(self, select: pb.SelectStmt, names: Mapping[str, Source], outer: Source) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for cte, reads_itself in in_order(select.with_clause):
            body = unwrap_node(cte.ctequery)
            if not isinstance(body, pb.SelectStmt):
                continue
            known = {**names, **found}
            if reads_itself:
                known[cte.ctename] = self._of_rounds(cte, body, known, outer)
            made = self.of_select(body, known, outer).renamed(texts(cte.aliascolnames))
            if cte.ctematerialized == pb.CTEMaterializeAlways:
                made = replace(made.planned_apart(), row=made.row._replace(nodes=1), tree=1)
            found[cte.ctename] = made.growing() if reads_itself else made
        return found

    def _of_rounds(
        self, cte: pb.CommonTableExpr, body: pb.SelectStmt, names: Mapping[str, Source], outer: Source
    ) -> Source:
        """Return what a recursive query reads under its own name: what grows by a round, or by way of what does."""
        read = TABLE
        for _ in range(_ROUNDS):
            before, made = read, Growth(self._visits).of_select(body, {**names, cte.ctename: read}, outer)
            read = replace(made.renamed(texts(cte.aliascolnames)).growing(), tree=TABLE.tree).of_a_round()
            if read == before:
                break
        return read

    def _of_from(self, items: Iterable[Message], names: Mapping[str, Source], outer: Source) -> Source:
        read = Source(tree=1)
        for item in items:
            found = self._of_item(unwrap_node(item), names, replace(outer, tree=0).beside(read))
            read = read.beside(found)
        return read

    def _of_item(self, item: Message, names: Mapping[str, Source], outer: Source) -> Source:
        match item:
            case pb.RangeVar():
                found = names.get(item.relname, TABLE) if not item.schemaname else TABLE
                return found.called(item.alias.aliasname or item.relname, texts(item.alias.colnames))
            case pb.RangeSubselect():
                body = unwrap_node(item.subquery)
                found = self.of_select(body, names, outer) if isinstance(body, pb.SelectStmt) else TABLE
                return found.called(item.alias.aliasname, texts(item.alias.colnames))
            case pb.JoinExpr():
                read = self._of_from((item.larg, item.rarg), names, outer)
                condition = self._size(unwrap_node(item.quals), names, replace(outer, tree=0).beside(read))
                read = replace(read, tree=read.tree + condition.nodes)
                return read.called(item.alias.aliasname, texts(item.alias.colnames)) if item.alias.aliasname else read
            case _:
                size = self._size(item, names, outer)
                return Source((), size, size, {}, size.nodes).called(alias_of(item))

    def _size(self, node: Message, names: Mapping[str, Source], source: Source) -> Size:
        self._visits[0] += 1
        if self._visits[0] > _MOST_VISITS:
            raise OverflowError("the query is nested in a way that takes too long to look through")
        size = self._size_of(node, names, source)
        size = size._replace(characters=min(_CEILING, size.characters), nodes=min(_CEILING, size.nodes))
        self.largest = max(self.largest, size.characters)
        return size

    def _size_of(  # noqa: PLR0911 - a table of nodes
        self, node: Message, names: Mapping[str, Source], source: Source
    ) -> Size:
        match node:
            case pb.A_Const():
                return Size(_length(node))
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
            case pb.TypeCast():
                return self._of_cast(node, self._size(unwrap_node(node.arg), names, source))
            case _:
                return self._of_node(type(node).__name__, self._sizes(children(node), names, source))

    def _of_node(self, kind: str, sizes: list[Size]) -> Size:
        if kind in READING_NODES:
            self._work(TOO_MUCH if any(size.is_text for size in sizes) else effort_of(kind), sizes)
        if kind in COLLECTING_NODES:
            return collected(added(sizes))
        size = added(sizes) if kind in ADDING_NODES else larger(sizes, is_tree=True)
        if kind in WRAPPING_NODES:
            size = wrapped(size)._replace(is_text=False)
        return size._replace(builds=True) if kind in ADDING_NODES else size

    def _of_cast(self, cast: pb.TypeCast, size: Size) -> Size:
        name, is_array = texts(cast.type_name.names)[-1:], bool(cast.type_name.array_bounds)
        effort = effort_of_cast(*name, is_array=is_array, is_text=size.is_text) if name else TOO_MUCH
        self._work(effort, [size])
        size = size._replace(nodes=size.nodes + 1)
        if name and not is_array and name[0] in TEXT_TYPES:
            return size._replace(is_text=size.collections > 0)
        return wrapped(size)._replace(is_text=False)

    def _of_column(self, column: pb.ColumnRef, source: Source) -> Size:
        *path, name = texts(column.fields) or ("",)
        if column.fields[-1].HasField("a_star"):
            return source.row
        if not path and name in source.aliases:
            return wrapped(source.aliases[name].row)
        alias = path[-1] if path else None
        size = source.find(name, alias)
        if path and name in BY_DOT:
            row = source.aliases[path[-1]].row if alias in source.aliases else source.row
            return larger((size, self._made_by_call(name, [wrapped(row)], column.location)))
        return size

    def _of_operator(self, node: pb.A_Expr, names: Mapping[str, Source], source: Source) -> Size:
        left, right = sizes = [self._size(unwrap_node(side), names, source) for side in (node.lexpr, node.rexpr)]
        name = node.name[-1].string.sval if node.name else ""
        if name in KEEPING:
            self._work(effort_of(name), sizes)
        if name in LIKE:
            self._search(left, right, node.location)
        if not _are_written_out(node):
            self._match(right, node.location)
        if (name in CONTAINING and _is_long_for(left, right)) or (name in PATHS and left.collections):
            self.searches.append(node.location)
        if name == "||":
            return wrapped(added(sizes))._replace(builds=True)
        size = larger(sizes, is_tree=True)
        if name in TAKING:
            return taken_out(size)
        return size if name in KEEPING else size._replace(collections=0, is_text=False, builds=False)

    def _of_sub_link(self, link: pb.SubLink, names: Mapping[str, Source], source: Source) -> Size:
        size = larger(self._sizes(children(link), names, source), is_tree=True)
        if any(part.string.sval in OPERATORS for part in link.oper_name):
            self._match(size, link.location)
        if link.sub_link_type == pb.ARRAY_SUBLINK:
            return collected(size)
        return size if link.sub_link_type == pb.EXPR_SUBLINK else Size(nodes=size.nodes)

    def _of_indirection(self, node: pb.A_Indirection, names: Mapping[str, Source], source: Source) -> Size:
        size = larger(self._sizes(children(node), names, source), is_tree=True)
        if any(part.HasField("a_star") for part in node.indirection):
            return size._replace(nodes=size.nodes * STAR)
        if any(part.HasField("a_indices") and not part.a_indices.is_slice for part in node.indirection):
            size = taken_out(size)
        for part in node.indirection:
            if part.string.sval in BY_DOT:
                size = self._made_by_call(part.string.sval, [size], 0)
        return size

    def _of_call(self, call: pb.FuncCall, names: Mapping[str, Source], source: Source) -> Size:
        sizes = self._sizes((unwrap_node(argument) for argument in call.args), names, source)
        order = self._sizes((unwrap_node(item) for item in call.agg_order), names, source)
        more = [*order, self._size(unwrap_node(call.agg_filter), names, source)]
        if not _are_written_out(call):
            self._match(larger(sizes[place] for place in places_of_patterns(call)), call.location)
        given = [*sizes, *order] if call.agg_within_group else sizes  # `mode() WITHIN GROUP (ORDER BY x)` is one of x
        made = self._made_by_call(call.funcname[-1].string.sval, given, call.location)
        if (
            call.funcname[-1].string.sval in _TO_A_LENGTH
            and len(call.args) > 1
            and call.args[1].a_const.HasField("ival")
        ):
            made = made._replace(characters=min(made.characters, max(0, call.args[1].a_const.ival.ival)))
        return made._replace(nodes=made.nodes + sum(size.nodes for size in more))

    def _made_by_call(self, name: str, sizes: list[Size], location: int) -> Size:
        self._work(effort_of(name), sizes)
        if name in COLLECTING and not any(size.collections for size in sizes):
            self._has_long_elements |= any(size.characters > LONGEST_ELEMENT for size in sizes)
        if name in SEARCHING and len(sizes) > 1:
            self._search(sizes[0], sizes[1], location)
        if name in READING and any(size.collections for size in sizes):
            self.searches.append(location)
        made = self._made_by(name, sizes or [COLUMN])
        if name in TEXTS and made.collections:
            made = made._replace(is_text=True)
        return made._replace(builds=True) if name in BUILDERS else made

    def _made_by(self, name: str, sizes: list[Size]) -> Size:
        if name in COLLECTING:
            return collected(added(sizes))
        if name in MULTIPLYING:
            product = 1
            for size in sizes:
                product *= max(1, size.characters)
            size = added(sizes)._replace(characters=product)
        else:
            size = added(sizes) if name in ADDING else larger(sizes, is_tree=True)
        if name in PADDING and len(sizes) > 1:
            return Size(PADDED, size.nodes)
        if name in NUMBERS:
            return Size(COLUMN_SIZE, size.nodes)
        if name in SPLITTING:
            return size._replace(collections=size.collections + 1, is_text=False)
        if name in TAKING_APART:
            return taken_out(size)
        return wrapped(size)._replace(is_text=False) if name in WRAPPING else size

    def _work(self, effort: int, sizes: list[Size]) -> None:
        """Note that something works on values. Between the functions of one row PostgreSQL looks at no clock."""
        if any(size.collections for size in sizes):
            self.effort += effort
        self.built += sum(size.characters for size in sizes if not size.collections and size.characters > LONGEST_BUILT)

    def _search(self, text: Size, needle: Size, location: int) -> None:
        """Note a search whose time no cancellation would end."""
        is_short = needle.characters <= LONGEST_NEEDLE and not needle.collections
        is_bounded = not needle.collections and text.characters * needle.characters <= MOST_SEARCHED
        if not (is_short or (is_bounded and not text.collections)):
            self.searches.append(location)

    def _match(self, pattern: Size, location: int) -> None:
        """Note a pattern that is not written out, and may become large."""
        if pattern.collections or pattern.characters > LONGEST_PATTERN:
            self.searches.append(location)

    def _sizes(self, nodes: Iterable[Message], names: Mapping[str, Source], source: Source) -> list[Size]:
        return [self._size(node, names, source) for node in nodes]


def measure_growth(select: pb.SelectStmt) -> Growth:
    """Return how large a query may become."""
    growth = Growth()
    growth.of_select(select, {}, NOTHING)
    return growth


def _are_written_out(node: pb.A_Expr | pb.FuncCall) -> bool:
    return all(constant is not None for pattern in patterns(node) for constant in written_out(pattern))


def _is_long_for(left: Size, right: Size) -> bool:
    """Return whether to compare every part of one with every part of the other takes too long."""
    return bool(left.collections and right.collections) or left.characters * right.characters > MOST_SEARCHED


def _length(constant: pb.A_Const) -> int:
    if constant.HasField("sval"):
        return len(constant.sval.sval)
    return LONGEST_NUMBER if constant.HasField("fval") and "e" in constant.fval.fval.lower() else 1
