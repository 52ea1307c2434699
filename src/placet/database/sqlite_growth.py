"""How often a query for SQLite repeats its own parts, told from its tokens.

SQLite copies the body of a `WITH` at each use, and puts an expression in the place of each name
for it, before it looks at any clock: twenty lines of `a1 AS (SELECT … FROM a0, a0)` take 2 GB and
14 s (measured on 3.40). So uses are multiplied along the query, and too many are refused.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from placet.database.sqlite_text import Token

MOST_RELATIONS: Final = 500
"""Relations that are read, when the body of each `WITH` stands wherever it is named."""
MOST_NAMES: Final = 10_000
"""Names in one column, when each name for an expression is replaced by it."""

_QUERY: Final = frozenset({"select", "with", "values"})
_ENDS_LIST: Final = frozenset(
    {"from", "where", "group", "having", "order", "limit", "window", "union", "except", "intersect"}
)
_OWN: Final = frozenset({"group", "distinct", "limit"})
"""What makes a sub-query one that is not merged into the query around it."""
_NO_NAMES: Final = frozenset(
    """
    all and as asc between by case cast collate current desc distinct else end escape exists filter following glob in is
    isnull like not notnull null or over partition preceding range row rows select then unbounded when
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
_SOURCES: Final = frozenset({"from", "join", ","})


class Growth(NamedTuple):
    """What a query comes to: relations, and names in its largest column."""

    relations: int = 1
    names: int = 1


def measure_growth(words: Sequence[Token], bodies: Mapping[int, int]) -> Growth:
    """Return what a query comes to when its parts stand wherever they are named.

    Args:
        words: Of the query.
        bodies: What a `WITH` defines in it, as `placet.database.sqlite_text.definitions` says.
    """
    peak = [1]
    whole = _Query(_Text(words, bodies, peak), {}).measure(0, len(words))
    return Growth(whole.relations, max(peak))


def is_too_large(growth: Growth) -> bool:
    """Return whether preparing it alone would take too long, or too much memory."""
    return growth.relations > MOST_RELATIONS or growth.names > MOST_NAMES


class _Text(NamedTuple):
    """What all queries of one text share: `peak` holds the names of each."""

    words: Sequence[Token]
    bodies: Mapping[int, int]
    peak: list[int]


class _Query:
    """One query and what is in it; what a sub-query defines stays within it."""

    def __init__(self, text: _Text, known: Mapping[str, Growth]) -> None:
        self._text = text
        self._words = text.words
        self._known = dict(known)
        self._relations = 0
        self._source = 1
        self._column = 0
        self._widest = 0
        self._is_own = False

    def measure(self, start: int, end: int) -> Growth:
        """Return what stands between two places."""
        depth, index = 0, start
        in_list = False
        while index < end:
            word = self._words[index]
            sign = word.text if word.kind == "sign" else ""
            keyword = word.text if word.kind == "word" else ""
            body = self._text.bodies.get(index)
            if body is not None:
                close = self._close(body, end)
                self._known[word.text] = _Query(self._text, self._known).measure(body, close)
                index = close
            elif sign == "(" and self._opens_query(index, end):
                index = self._enter(index, end, in_list=in_list)
            else:
                depth += (sign == "(") - (sign == ")")
                if depth == 0 and (keyword in _ENDS_LIST or keyword == "select" or (sign == "," and in_list)):
                    self._end_column()
                    in_list = sign == "," or keyword == "select"
                self._is_own = self._is_own or (depth == 0 and keyword in _OWN)
                self._take(index, in_list=in_list)
            index += 1
        self._end_column()
        names = max(1, self._widest) * self._source
        self._text.peak.append(names)
        return Growth(max(1, self._relations), 1 if self._is_own else names)

    def _enter(self, index: int, end: int, *, in_list: bool) -> int:
        close = self._close(index + 1, end)
        inner = _Query(self._text, self._known).measure(index + 1, close)
        self._relations += inner.relations
        if in_list:
            self._column += inner.names
        else:
            self._source = max(self._source, inner.names)
        return close

    def _take(self, index: int, *, in_list: bool) -> None:
        word = self._words[index]
        if not word.is_name:
            return
        found = self._known.get(word.text)
        if found is not None and index and self._words[index - 1].text in _SOURCES and not in_list:
            self._relations += found.relations
            self._source = max(self._source, found.names)
        elif in_list and self._is_value(index):
            self._column += 1

    def _is_value(self, index: int) -> bool:
        """Return whether a word stands for a value: no keyword, call, alias or first part of a name."""
        word, after = self._words[index], self._words[index + 1 : index + 2]
        if word.kind == "string" or (word.kind == "word" and word.text in _NO_NAMES):
            return False
        follows_as = index and self._words[index - 1].text == "as"
        return not follows_as and not (after and after[0].kind == "sign" and after[0].text in ("(", "."))

    def _end_column(self) -> None:
        self._widest = max(self._widest, self._column)
        self._column = 0

    def _opens_query(self, index: int, end: int) -> bool:
        return index + 1 < end and self._words[index + 1].text in _QUERY and self._words[index + 1].kind == "word"

    def _close(self, index: int, end: int) -> int:
        """Return the place of the bracket that closes what was opened before a place."""
        depth = 1
        while index < end:
            word = self._words[index]
            if word.kind == "sign":
                depth += (word.text == "(") - (word.text == ")")
                if depth == 0:
                    return index
            index += 1
        return end
