"""How deep the tree of a query may become, told from its tokens alone.

libpg_query recurses once for every level of the tree, and takes the whole process down when the
stack ends (https://github.com/pganalyze/libpg_query/issues/348). Tokens are flat, so they are
looked at first. The number is never too small: operators of one bracket count as a chain up to
the next comma, because `1+1+1` and `NOT NOT x` are as deep as they are long, and set operations
count across commas.
"""

from collections.abc import Iterable
from typing import Final

from postgast import pg_query_pb2 as pb

from placet.database.facts import Measure

_OPENING: Final = frozenset({pb.ASCII_40, pb.ASCII_91, pb.CASE})
_CLOSING: Final = frozenset({pb.ASCII_41, pb.ASCII_93, pb.END_P})
_COMMA: Final = pb.ASCII_44
_SET_OPERATIONS: Final = frozenset({pb.UNION, pb.INTERSECT, pb.EXCEPT})
_COMMENTS: Final = frozenset({pb.SQL_COMMENT, pb.C_COMMENT})
_FLAT: Final = frozenset(
    {
        pb.IDENT, pb.UIDENT, pb.FCONST, pb.SCONST, pb.USCONST, pb.BCONST, pb.XCONST, pb.ICONST, pb.NULL_P,
        pb.TRUE_P, pb.FALSE_P, pb.ASCII_46, pb.ASCII_59, pb.AND, pb.OR, pb.WHEN, pb.THEN, pb.ELSE, pb.AS, pb.FROM,
        pb.WHERE, pb.ON, pb.ASCII_42,
    }
)  # fmt: skip
"""What adds no level: names, constants, and words between siblings. PostgreSQL keeps chains of
`AND` and of `OR` in one node."""

_UNRESERVED: Final = pb.UNRESERVED_KEYWORD


def measure(tokens: Iterable[pb.ScanToken]) -> Measure:
    """Return how many tokens there are, and how deep they may be nested."""
    groups = [_Group()]
    count = depth = 0
    parameter: int | None = None
    for token in tokens:
        kind = token.token
        if kind in _COMMENTS:
            continue
        count += 1
        if kind in _OPENING:
            groups[-1].chain += 1
            groups.append(_Group())
            depth = max(depth, len(groups) - 1)
        elif kind in _CLOSING:
            _close(groups)
        else:
            groups[-1].add(kind, is_name=token.keyword_kind == _UNRESERVED)
            if kind == pb.PARAM and parameter is None:
                parameter = token.start
    while len(groups) > 1:  # what was never closed
        _close(groups)
    return Measure(count, depth, groups[0].level(), parameter)


class _Group:
    """What stands between two brackets: elements with commas between them."""

    __slots__ = ("chain", "deepest", "inner", "set_operations")

    def __init__(self) -> None:
        self.chain = 0
        self.inner = 0
        self.deepest = 0
        self.set_operations = 0

    def add(self, kind: int, *, is_name: bool) -> None:
        if kind == _COMMA:
            self.end_element()
        elif kind in _SET_OPERATIONS:
            self.set_operations += 1
        elif kind not in _FLAT and (not is_name or kind == pb.AT):
            self.chain += 1

    def end_element(self) -> None:
        self.deepest = max(self.deepest, self.chain + self.inner)
        self.chain = self.inner = 0

    def level(self) -> int:
        self.end_element()
        return self.deepest + self.set_operations


def _close(groups: list[_Group]) -> None:
    if len(groups) > 1:
        level = groups.pop().level()
        groups[-1].inner = max(groups[-1].inner, level)
