"""What must be seen in the text of a query for SQLite, beside what its authorizer sees.

SQLite asks the authorizer about tables, columns and functions, and needs no parser for that. It
does not ask which statement it is reading, nor about the arguments of a function, and it names a
`WITH` as the source of a read in the same way as a view. These three are read off the tokens.
"""

import re
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Final, NamedTuple

from placet.database.sqlite_policy import LONGEST_NEEDLE

_TOKEN: Final = re.compile(
    r"""
    (?>[\t-\r \ufeff]++|--[^\n]*+|/\*.*?(?:\*/|\Z))*+  # blanks and comments
    (?:(?P<string>'(?:[^']++|'')*+')
    |(?P<quoted>"(?:[^"]++|"")*+"|`(?:[^`]++|``)*+`|\[[^\]]*+\])
    |(?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<word>[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*+)
    |(?P<sign>.)
    |(?P<end>\Z))
    """,
    re.VERBOSE | re.DOTALL,
)
"""https://www.sqlite.org/lang_expr.html and tokenize.c; block comments are not nested."""

_KINDS: Final = {place: kind for kind, place in _TOKEN.groupindex.items()}
_END: Final = _TOKEN.groupindex["end"]
_OPENING: Final = re.compile(
    r"(?>[\t-\r \ufeff]++|--[^\n]*+|/\*.*?\*/)*+(?:select|with|values)\b",
    re.IGNORECASE | re.DOTALL,
)
_SEARCHING: Final = frozenset({"instr", "replace", "trim", "ltrim", "rtrim"})
_MATCHING: Final = frozenset({"like", "glob"})
_CASING: Final = frozenset({"lower", "upper"})
_QUOTED: Final = frozenset({"string", "quoted"})
_NAMING: Final = frozenset({"word", "quoted", "string"})


_LOWER: Final = {ord(letter): letter.lower() for letter in ascii_uppercase}


def fold(name: str) -> str:
    """Return a name as SQLite compares it: letters beyond ASCII are not one with their capitals."""
    return name.lower() if name.isascii() else name.translate(_LOWER)


class Token(NamedTuple):
    """One token: its kind, its text without quotes and in lower case, and where it stands."""

    kind: str
    text: str
    position: int

    @property
    def is_name(self) -> bool:
        """Whether it may name something; SQLite takes a string for a name where one is due."""
        return self.kind in _NAMING


def tokens(sql: str) -> tuple[Token, ...]:
    """Return the tokens of a text, blanks and comments left out."""
    found: list[Token] = []
    for match in _TOKEN.finditer(sql):
        place = match.lastindex or _END
        if place != _END:
            kind, text = _KINDS[place], match[place]
            found.append(Token(kind, _bare(text) if kind in _QUOTED else fold(text), match.start(place)))
    return tuple(found)


def is_query(sql: str) -> bool:
    """Return whether a text begins as a query does. EXPLAIN does not."""
    return _OPENING.match(sql) is not None


def depth(words: Sequence[Token]) -> int:
    """Return how deep brackets are nested."""
    deepest = now = 0
    for word in words:
        if word.kind == "sign":
            now += (word.text == "(") - (word.text == ")")
            deepest = max(deepest, now)
    return deepest


def definitions(words: Sequence[Token]) -> frozenset[str]:
    """Return what a `WITH` may define.

    A name is defined before `AS (`, `AS MATERIALIZED (` and `AS NOT MATERIALIZED (`, and may have
    its columns in brackets between.
    """
    found: set[str] = set()
    for index, word in enumerate(words):
        if word.text == "as" and word.kind == "word" and index:
            body = index + 1
            while _text(words, body) in ("not", "materialized"):
                body += 1
            name = _before_columns(words, index - 1)
            if _text(words, body) == "(" and name >= 0 and words[name].is_name:
                found.add(words[name].text)
    return frozenset(found)


def count_matches(words: Sequence[Token]) -> int:
    """Return how many LIKE and GLOB there are. Each may look at a whole value for every letter of its pattern."""
    return sum(word.text in _MATCHING and word.kind != "string" for word in words)


def find_unbounded_search(words: Sequence[Token]) -> Token | None:
    """Return a call that searches for a text of unknown length, or None.

    `trim(x, y)` compares every character of one with every character of the other, cannot be
    interrupted, and takes 39 s for 100,000 of each (SQLite 3.40). So `y` must be written out.
    """
    for index, word in enumerate(words):
        if word.text in _SEARCHING and word.kind != "string" and _text(words, index + 1) == "(":
            needle = tuple(_second_argument(words, index + 2))
            if needle and not _is_short(needle):
                return word
    return None


def _bare(text: str) -> str:
    end = text[-1]
    return fold(text[1:-1].replace(end * 2, end))


def _text(words: Sequence[Token], index: int) -> str:
    if index >= len(words) or words[index].kind in ("string", "quoted"):
        return ""
    return words[index].text


def _before_columns(words: Sequence[Token], index: int) -> int:
    """Return the place before `(a, b)`, if that ends here."""
    if _text(words, index) != ")":
        return index
    while index >= 0 and _text(words, index) != "(":
        index -= 1
    return index - 1


def _second_argument(words: Sequence[Token], index: int) -> Iterator[Token]:
    depth = argument = 0
    for word in words[index:]:
        sign = word.text if word.kind == "sign" else ""
        if sign == ")" and depth == 0:
            return
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            argument += 1
        elif argument == 1:
            yield word


def _is_short(needle: Sequence[Token]) -> bool:
    if len(needle) == 1:
        return needle[0].kind in ("string", "number") and len(needle[0].text) <= LONGEST_NEEDLE
    if len(needle) != 4 or (needle[1].text, needle[3].text) != ("(", ")"):
        return False
    function, inner = needle[0].text, needle[2]
    if function == "char":
        return inner.kind == "number"
    return function in _CASING and inner.kind == "string" and len(inner.text) <= LONGEST_NEEDLE
