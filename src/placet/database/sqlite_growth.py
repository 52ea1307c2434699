"""How often a query for SQLite repeats its own parts, told from its words.

SQLite copies the body of a `WITH` at each use, and puts an expression in the place of each name
for it, before it looks at any clock: twenty lines of `a1 AS (SELECT … FROM a0, a0)` take 2 GB and
14 s, and so do three sub-queries of two hundred names a column (measured on 3.40). So uses are
multiplied along the query, and too many are refused. What is counted may be too much, never too
little:

- a word that SQLite may take for a name is one, `rows` and `window` too: only its reserved words
  are none (`%fallback ID` in parse.y);
- a sub-query is merged into the query around it unless it groups or is DISTINCT; LIMIT alone does
  not keep it apart (`flattenSubquery` in select.c);
- what stands outside the list of columns is pushed into a sub-query even if that groups
  (`pushDownWhereTerms`), and there a bare name may be one for a column.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

MOST_RELATIONS: Final = 500
"""Relations that are read, when the body of each `WITH` stands wherever it is named."""
MOST_NAMES: Final = 10_000
"""Names in one query, when each name for an expression is replaced by it. One takes some 150 bytes."""
_MOST_TOGETHER: Final = 500_000
"""Names times relations: a query is copied for each SELECT of a UNION ALL that it reads."""

STRING: Final = "'"
"""How a string stands among the words."""
ODD: Final = "$"
"""How a quoted name stands among the words when it could be taken for something else."""

_NOTHING, _NUMBER, _COMMA, _OPENS, _CLOSES, _AS, _FROM, _SELECT, _ENDS, _ORDERS, _GROUPS, _STATES, _DISTINCT = range(13)
_BY, _WITH, _MATERIALIZED, _STRING, _ODD = range(13, 18)
KINDS: Final = {
    **dict.fromkeys(
        """
        all and between case collate constraint else escape exists in is isnull not notnull on or then using when
        """.split(),  # noqa: SIM905 - a list of words reads better than a list of quoted words
        _NOTHING,
    ),
    **dict.fromkeys(("where", "having", "limit"), _ENDS),
    **dict.fromkeys(("union", "except", "intersect"), _STATES),
    "group": _GROUPS,
    "order": _ORDERS,
    **dict.fromkeys(("from", "join"), _FROM),
    "by": _BY,
    "with": _WITH,
    "materialized": _MATERIALIZED,
    **dict.fromkeys(("select", "values"), _SELECT),
    "as": _AS,
    "distinct": _DISTINCT,
    "(": _OPENS,
    ")": _CLOSES,
    ",": _COMMA,
    STRING: _STRING,
    ODD: _ODD,
    **dict.fromkeys(("0", "null"), _NUMBER),  # as all numbers are given; what is left of others is taken for a name
    "": _NOTHING,
}
"""Words that are no names, or not always. Whatever else stands in a query counts as one."""

_NEVER_NAMES: Final = frozenset(range(_BY)) - {_NUMBER}
_QUERY: Final = frozenset({_SELECT, _WITH})
_DEFINING: Final = frozenset({_AS, _MATERIALIZED})
_ORDERING: Final = frozenset({_ORDERS, _GROUPS})
_READING: Final = frozenset({"from", "join"})
_SOURCES: Final = frozenset({"from", "join", ","})
_BEFORE_SOURCE: Final = frozenset({"from", "join", ",", "("})
_QUOTED: Final = frozenset({_STRING, _ODD})
_UNCERTAIN: Final = frozenset({STRING, ODD})
_MAYBE_NAMES: Final = frozenset({STRING, ODD, "by", "with", "materialized"})
_MANY: Final = 10**9
"""More than this is not counted."""


Part: TypeAlias = tuple[int, int, int, int]
"""What one query comes to, wherever it stands: relations that it reads; names in its widest column, for
the query that it is merged into; the same for what is pushed into it; names in all of it."""

_ONE: Final[Part] = (1, 1, 1, 1)
_MOST_LOOKS_AHEAD: Final = 10
"""Of one `WITH` at another that looks ahead itself. Each is one more time over the words."""


class Growth(NamedTuple):
    """What a text comes to when its parts stand wherever they are named.

    Attributes:
        relations: That are read.
        names: In the largest of its queries.
        defined: What a `WITH` defines anywhere in it.
        is_certain: Whether each word could be told for what it is.
    """

    relations: int
    names: int
    defined: frozenset[str] = frozenset()
    is_certain: bool = True

    @property
    def is_too_large(self) -> bool:
        """Whether preparing it alone would take too long, or too much memory."""
        names, relations = self.names, self.relations
        return relations > MOST_RELATIONS or names > MOST_NAMES or relations * names > _MOST_TOGETHER


def measure_growth(words: Sequence[str]) -> Growth:
    """Return what a query comes to when its parts stand wherever they are named.

    Args:
        words: Of the query, as `placet.database.sqlite_words` gives them.
    """
    words = [*words, "", "", ""]  # each has three after it, and the first has two before it
    kinds = list(map(KINDS.get, words))
    growth, ahead = _Reader(words, kinds, {}).read()
    for _ in range(_MOST_LOOKS_AHEAD):
        if not ahead:
            return growth
        growth, later = _Reader(words, kinds, ahead).read()
        if later == ahead:
            return growth
        ahead = later
    return growth._replace(relations=_MANY)


def define_in_few(words: Sequence[str]) -> frozenset[str] | None:
    """Return what so few words define that they cannot come to much, however they are arranged, or None for more.

    Names multiply once in each query, those of what is read among them, and once more where one is a
    column's own. A product of numbers with one sum is largest when they are equal.
    """
    spaced = " ".join(words)
    queries = 1 + spaced.count("( select") + spaced.count("( with") + spaced.count("( values")
    names = len(words) - 2 * spaced.count("(") - spaced.count(",")
    most = (queries + 1) * MOST_NAMES ** (1 / (queries + 1))
    if most < names <= 2 * most:  # reserved words are none
        names = len([word for word in words if KINDS.get(word) not in _NEVER_NAMES])
    if names > most:
        return None
    defined = _definitions(words) if " as (" in spaced or "materialized (" in spaced else frozenset[str]()
    return defined if defined.isdisjoint(_UNCERTAIN) else None


def _definitions(words: Sequence[str]) -> frozenset[str]:
    kinds = list(map(KINDS.get, words))
    places = [index for index, kind in enumerate(kinds) if kind == _OPENS and kinds[index - 1] in _DEFINING]
    return frozenset([name for index in places if (name := _name_before(words, kinds, index))])


class _Query:
    """One query, as far as its words have been read.

    Attributes:
        name: Which a `WITH` gives it, or an empty one.
        before: The word before its bracket.
        known: What each name comes to that it may read.
        depth: Of brackets in it that hold no query.
        in_list: Whether its list of columns is being read,
        is_ordered: or what it is ordered or grouped by.
        is_grouped: Whether it groups,
        is_distinct: or is DISTINCT: it is then merged into none.
        column: Names of the column that is being read,
        widest: of its widest one,
        listed: and of all that have ended.
        bare: Names outside of the list that may be a column's,
        dotted: and such that are those of a table's.
        relations: That it reads.
        states: Its SELECTs, one more for each UNION.
        source: Names in the widest column of what it reads, as it is merged,
        pushed: and as it is pushed into.
    """

    __slots__ = (
        "bare", "before", "column", "depth", "dotted", "in_list", "is_distinct", "is_grouped", "is_ordered", "known",
        "listed", "name", "pushed", "relations", "source", "states", "widest",
    )  # fmt: skip

    def __init__(self, name: str, before: str, known: Mapping[str, Part]) -> None:
        self.name, self.before, self.known = name, before, known
        self.in_list = self.is_ordered = self.is_grouped = self.is_distinct = False
        self.depth = self.column = self.widest = self.listed = self.bare = self.dotted = self.relations = 0
        self.states = self.source = self.pushed = 1

    def end_column(self) -> None:
        """Note that a column has been read."""
        self.widest, self.listed, self.column = max(self.widest, self.column), self.listed + self.column, 0

    def count(self, names: int) -> None:
        """Count names that may be a column's."""
        if self.in_list:
            self.column += names
        else:
            self.bare += names

    def read_from(self, part: Part) -> None:
        """Count what it reads."""
        relations, names, pushing, _ = part
        self.relations += relations
        self.source, self.pushed = max(self.source, names), max(self.pushed, pushing)

    def comes_to(self) -> Part:
        """Return what it comes to, when its last word has been read."""
        self.end_column()
        widest = max(self.widest, 1)
        merged = widest * self.source
        pushing = merged if self.is_grouped else widest * self.pushed
        whole = max(merged, self.listed * self.source + (self.bare * widest + self.dotted) * self.pushed)
        names = 1 if self.is_grouped or self.is_distinct else min(merged, _MANY)
        return max(self.relations, self.states), names, min(pushing, _MANY), min(whole, _MANY)


class _Reader:
    """Goes through the words of a text once.

    Args:
        words: Of the query, and three empty ones.
        kinds: Of the words.
        ahead: What is known already of what is defined only after it is read: SQLite looks ahead.
    """

    def __init__(self, words: Sequence[str], kinds: Sequence[int | None], ahead: Mapping[str, Part]) -> None:
        self._words = words
        self._kinds = kinds
        self._ahead = ahead
        self._query = _Query("", "", ahead)
        self._around: list[_Query] = []
        self._defined: dict[str, Part] = {}
        self._unknown: set[str] = set()
        self._peak = 1
        self._is_certain = True

    def read(self) -> tuple[Growth, Mapping[str, Part]]:
        """Return what the text comes to, and what is read in it before it is defined."""
        for index, (word, kind) in enumerate(zip(self._words, self._kinds, strict=True)):
            query = self._query
            if kind in _STEPS:
                _STEPS[kind](self, index)
            elif kind == _NOTHING:
                continue
            elif query.in_list:
                query.column += 1
            elif "." in word:
                query.dotted += 1
            else:
                query.bare += 1
        part = self._end()
        while self._around:  # a bracket too few
            self._query = self._around.pop()
            part = self._end()
        defined = self._defined
        looks = {one: defined[one] for one in (self._unknown & defined.keys()) | self._ahead.keys()}
        return Growth(part[0], self._peak, frozenset(defined), self._is_certain), looks

    def _end(self) -> Part:
        part = self._query.comes_to()
        self._peak = max(self._peak, part[3])
        return part

    def number(self, _: int) -> None:
        query = self._query
        if query.in_list:  # what is put in the place of a name has its values in it
            query.column += 1
        elif query.is_ordered:  # it is the number of a column
            query.bare += 1

    def comma(self, index: int) -> None:
        query = self._query
        if not query.in_list:
            if not _defines(self._kinds, index + 2):
                self._source(self._words[index + 1])
        elif not query.depth:
            query.end_column()

    def from_(self, index: int) -> None:
        if self._kinds[index - 1] == _DISTINCT:  # IS DISTINCT FROM
            return
        query, read = self._query, self._words[index + 1]
        if not query.depth:
            query.end_column()
            query.in_list = query.is_ordered = False
        if not query.in_list and self._kinds[index + 1] is None:
            query.bare -= "." not in read  # it is no value
        self._source(read)

    def _source(self, name: str) -> None:
        query = self._query
        if name in query.known:
            query.read_from(query.known[name])
        elif not any(name == one.name for one in (query, *self._around)):  # what reads itself counts once
            self._unknown.add(name)

    def opens(self, index: int) -> None:
        words, kinds, query = self._words, self._kinds, self._query
        back = kinds[index - 1]
        name = _name_before(words, kinds, index) if back in _DEFINING else ""
        if name:
            query.bare -= not query.in_list
            self._is_certain = self._is_certain and name not in _UNCERTAIN
            self._defined.setdefault(name, _ONE)
        if kinds[index + 1] in _QUERY:
            self._around.append(query)
            self._query = _Query(name, words[index - 1], query.known)
            return
        query.depth += 1

    def closes(self, _: int) -> None:
        query = self._query
        if query.depth:
            query.depth -= 1
        elif self._around:
            part = self._end()
            self._query = self._around.pop()
            self._place(query, part)

    def _place(self, inner: _Query, part: Part) -> None:
        """Count a query that has ended in the one around it."""
        query, whole = self._query, part[3]
        if inner.name:
            query.known = {**query.known, inner.name: part}
            self._defined[inner.name] = _larger(self._defined[inner.name], part)
        elif query.in_list:
            query.relations, query.column = query.relations + part[0], query.column + whole
        else:
            if inner.before in _BEFORE_SOURCE:
                query.read_from(part)
            else:
                query.relations += part[0]
            if inner.before not in _READING:  # it may be a value
                query.bare += whole

    def as_(self, index: int) -> None:
        if self._query.in_list and self._kinds[index + 1] is None:
            self._query.column -= 1  # what a column is called is no part of it

    def maybe_name(self, index: int) -> None:
        """Count a word that SQLite takes for a name here, and there for something else."""
        query, words, kinds = self._query, self._words, self._kinds
        query.count(_weigh(kinds, words, index))
        if not query.in_list and kinds[index] in _QUOTED and words[index - 1] in _SOURCES:
            self._is_certain = False

    def string(self, index: int) -> None:
        if self._query.in_list:
            self._query.column += 1
        else:
            self.maybe_name(index)

    def distinct(self, index: int) -> None:
        self._query.is_distinct = self._query.is_distinct or self._kinds[index - 1] == _SELECT

    def clause(self, index: int) -> None:
        query, kind = self._query, self._kinds[index]
        if query.depth:
            return
        query.end_column()
        query.in_list, query.is_ordered = kind == _SELECT, kind in _ORDERING
        query.is_grouped = query.is_grouped or kind == _GROUPS
        query.states += kind == _STATES


_STEPS: Final[Mapping[int | None, Callable[[_Reader, int], None]]] = {
    _NUMBER: _Reader.number,
    _COMMA: _Reader.comma,
    _FROM: _Reader.from_,
    _OPENS: _Reader.opens,
    _CLOSES: _Reader.closes,
    _AS: _Reader.as_,
    _DISTINCT: _Reader.distinct,
    _STRING: _Reader.string,
    **dict.fromkeys((_BY, _WITH, _MATERIALIZED, _ODD), _Reader.maybe_name),
    **dict.fromkeys((_SELECT, _ENDS, _ORDERS, _GROUPS, _STATES), _Reader.clause),
}
"""What a word of each kind does. One of no kind is a name."""


def _larger(one: Part, other: Part) -> Part:
    return max(one[0], other[0]), max(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _weigh(kinds: Sequence[int | None], words: Sequence[str], index: int) -> int:
    """Return what a word counts that SQLite takes for a name here, and there for something else."""
    before = kinds[index - 1]
    if kinds[index] == _BY:
        if words[index - 1] == "partition" and kinds[index - 2] == _OPENS:
            return -1  # which has been counted
        return int(before not in _ORDERING)
    if kinds[index] == _WITH:
        return int(index > 0 and before != _OPENS)
    return int(kinds[index] != _STRING)


def _defines(kinds: Sequence[int | None], index: int) -> bool:
    """Return whether what stands here makes the name before it one that is defined, or one of a function."""
    return kinds[index] == _OPENS or (kinds[index] == _AS and kinds[index + 1] in (_OPENS, _MATERIALIZED, _NOTHING))


def _name_before(words: Sequence[str], kinds: Sequence[int | None], index: int) -> str:
    """Return what `name AS (`, `name (a, b) AS (` and `name AS NOT MATERIALIZED (` define, or nothing."""
    index -= 1
    if kinds[index] == _MATERIALIZED:
        index -= 2 if words[index - 1] == "not" else 1
    if kinds[index] != _AS or not index:
        return ""
    index -= 1
    if kinds[index] == _CLOSES:
        while index >= 0 and kinds[index] != _OPENS:
            index -= 1
        index -= 1
    name = words[index].rpartition(".")[2] if index >= 0 else ""
    is_name = name not in KINDS and not name.isdigit()
    return name if is_name or name in _MAYBE_NAMES else ""
