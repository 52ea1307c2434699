"""Where a query for PostgreSQL takes a regular expression, and whether that is written out."""

from collections.abc import Iterator
from typing import Final

from google.protobuf.message import Message
from postgast import pg_query_pb2 as pb
from postgast.walk import unwrap_node

OPERATORS: Final = frozenset({"~", "!~", "~*", "!~*", "@?", "@@"})
"""Operators whose right side is a pattern, or a path that may hold one."""
_SIMILAR: Final = "similar_to_escape"
_FUNCTIONS: Final = {
    _SIMILAR: 0,
    **dict.fromkeys(
        """
        regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array
        regexp_split_to_table regexp_substr substring jsonb_path_exists jsonb_path_match jsonb_path_query
        jsonb_path_query_array jsonb_path_query_first
        """.split(),  # noqa: SIM905 - a list of words reads better than a list of quoted words
        1,
    ),
}
"""Functions that take a pattern, or a path that may hold one, and which of their arguments it is."""


_MAKING: Final = frozenset({_SIMILAR, "to_tsquery", "plainto_tsquery", "phraseto_tsquery", "websearch_to_tsquery"})
"""Functions that make what stands there out of a pattern that is theirs, or of none."""


def patterns(node: pb.A_Expr | pb.FuncCall) -> list[pb.Node]:
    """Return what stands where an operator or a function takes a pattern."""
    if isinstance(node, pb.A_Expr):
        return [node.rexpr] if node.name and node.name[-1].string.sval in OPERATORS else []
    return [node.args[place] for place in places_of_patterns(node)]


def places_of_patterns(call: pb.FuncCall) -> range:
    """Return which arguments of a call may be a pattern, from 0."""
    place = _FUNCTIONS.get(call.funcname[-1].string.sval)
    count = len(call.args)
    if place is None or place >= count:
        return range(0)
    is_named = any(argument.HasField("named_arg_expr") for argument in call.args)  # in whatever order
    return range(count) if is_named else range(place, place + 1)


def written_out(node: pb.Node) -> Iterator[pb.A_Const | None]:
    """Return the constants of which a pattern is one, and None for what is no constant."""
    inner = unwrap_node(node)
    match inner:
        case pb.A_Const():
            yield inner
        case pb.TypeCast() | pb.CollateClause() | pb.NamedArgExpr():
            yield from written_out(inner.arg)
        case pb.A_ArrayExpr():
            for element in inner.elements:
                yield from written_out(element)
        case pb.FuncCall() if inner.funcname[-1].string.sval in _MAKING:
            return
        case Message():
            yield None
