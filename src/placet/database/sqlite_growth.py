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

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

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
        all and between case collate constraint else escape exists in is isnull not notnull null on or then using when
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
    "0": _NUMBER,  # as all numbers are given; what is left of others is taken for a name
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
    growth, ahead = _read(words, kinds, {})
    for _ in range(_MOST_LOOKS_AHEAD):
        if not ahead:
            return growth
        growth, later = _read(words, kinds, ahead)
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


def _read(  # noqa: C901, PLR0912, PLR0915 - every query waits for it
    words: Sequence[str], kinds: Sequence[int | None], ahead: Mapping[str, Part]
) -> tuple[Growth, Mapping[str, Part]]:
    """Return what a query comes to, and what is read in it before it is defined: SQLite looks ahead.

    One loop over the words, and what a query has come to in local names: that is the quickest.

    Args:
        words: Of the query, and three empty ones.
        kinds: Of the words.
        ahead: What is known already of what is defined only after it is read.
    """
    around: list[Any] = []
    opened: list[str] = []
    defined: dict[str, Part] = {}
    known = ahead
    unknown: set[str] = set()
    peak = 1
    is_certain = True
    name = before = ""
    in_list = is_ordered = is_grouped = is_distinct = False
    depth = column = widest = listed = bare = dotted = relations = 0
    states = source = pushed = 1
    for index, kind in enumerate(kinds):
        if kind is None:
            if in_list:
                column += 1
            elif "." in words[index]:
                dotted += 1
            else:
                bare += 1
        elif kind == _NOTHING or (kind == _STRING and in_list):
            continue
        elif kind == _NUMBER:
            if is_ordered:  # it is the number of a column
                bare += 1
        elif kind == _COMMA and in_list:
            if not depth:
                if column > widest:  # noqa: PLR1730 - a call would cost more than all the rest
                    widest = column
                listed += column
                column = 0
        elif kind == _COMMA or (kind == _FROM and kinds[index - 1] != _DISTINCT):  # IS DISTINCT FROM
            if kind == _FROM:
                if not depth:
                    widest, listed, column = max(widest, column), listed + column, 0
                    in_list = is_ordered = False
                if not in_list and kinds[index + 1] is None:
                    bare -= "." not in words[index + 1]  # it is no value
            read = words[index + 1]
            if kind == _COMMA and _defines(kinds, index + 2):
                continue
            if read in known:
                inside, names, pushing, _ = known[read]
                relations += inside
                source, pushed = max(source, names), max(pushed, pushing)
            elif read not in opened:  # what reads itself counts once
                unknown.add(read)
        elif kind == _OPENS:
            back, after = kinds[index - 1], kinds[index + 1]
            one = ""
            if back in _DEFINING and (one := _name_before(words, kinds, index)):
                bare -= not in_list
                is_certain = is_certain and one not in _UNCERTAIN
                defined.setdefault(one, _ONE)
            if after in _QUERY:
                around.append(
                    (name, before, in_list, is_ordered, is_grouped, is_distinct, depth, column, widest, listed, bare,
                     dotted, relations, states, source, pushed, known)
                )  # fmt: skip
                opened.append(one)
                name, before = one, words[index - 1]
                in_list = is_ordered = is_grouped = is_distinct = False
                depth = column = widest = listed = bare = dotted = relations = 0
                states = source = pushed = 1
            else:
                depth += 1
                if back is None and in_list and kinds[index - 2] != _AS:
                    column -= 1  # it is the name of a function
        elif kind == _CLOSES:
            if depth:
                depth -= 1
            elif around:
                widest, listed = max(widest, column, 1), listed + column
                names, pushing, whole = _names(
                    widest, listed, bare * widest + dotted, source, pushed, is_grouped, is_distinct
                )
                peak = max(peak, whole)
                inside, one, stood_after = max(relations, states), name, before
                (name, before, in_list, is_ordered, is_grouped, is_distinct, depth, column, widest, listed, bare,
                 dotted, relations, states, source, pushed, known) = around.pop()  # fmt: skip
                opened.pop()
                if one:
                    known = {**known, one: (inside, names, pushing, whole)}
                    defined[one] = _larger(defined[one], known[one])
                elif in_list:
                    relations, column = relations + inside, column + whole
                else:
                    relations += inside
                    if stood_after in _BEFORE_SOURCE:
                        source, pushed = max(source, names), max(pushed, pushing)
                    if stood_after not in _READING:  # it may be a value
                        bare += whole
        elif kind == _AS:
            if in_list and kinds[index + 1] is None:
                column -= 1  # what a column is called is no part of it
        elif kind >= _BY:
            weight = _weigh(kinds, words, index)
            if in_list:
                column += weight
            else:
                bare += weight
                is_certain = is_certain and (kind < _STRING or words[index - 1] not in _SOURCES)
        elif kind == _DISTINCT:
            is_distinct = is_distinct or kinds[index - 1] == _SELECT
        elif not depth and kind != _FROM:
            widest, listed, column = max(widest, column), listed + column, 0
            in_list, is_ordered = kind == _SELECT, kind in _ORDERING
            is_grouped = is_grouped or kind == _GROUPS
            states += kind == _STATES
    while True:
        widest, listed = max(widest, column, 1), listed + column
        _, _, whole = _names(widest, listed, bare * widest + dotted, source, pushed, is_grouped, is_distinct)
        peak = max(peak, whole)
        if not around:
            break
        (name, before, in_list, is_ordered, is_grouped, is_distinct, depth, column, widest, listed, bare,
         dotted, relations, states, source, pushed, known) = around.pop()  # fmt: skip
    looks = {one: defined[one] for one in (unknown & defined.keys()) | ahead.keys()}
    return Growth(max(relations, states), peak, frozenset(defined), is_certain), looks


def _names(
    widest: int, listed: int, pushes: int, source: int, pushed: int, grouped: bool, distinct: bool
) -> tuple[int, int, int]:
    """Return the names of one query: as it is merged, as it is pushed into, and in all of it."""
    merged = widest * source
    pushing = merged if grouped else widest * pushed
    whole = max(merged, listed * source + pushes * pushed)
    if whole > _MANY:
        merged, pushing, whole = min(merged, _MANY), min(pushing, _MANY), _MANY
    return 1 if grouped or distinct else merged, pushing, whole


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
