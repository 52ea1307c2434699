"""The words of a query for SQLite: names, numbers, reserved words, brackets and commas.

What `placet.database.sqlite_growth` counts, and what tells a query that needs no second look. They are
had in two ways: quickly from the text, which is done for every query, and exactly from its tokens,
which takes ten times as long and is done when the quick way is not certain.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from placet.database.sqlite_growth import KINDS, ODD, STRING, define_in_few, measure_growth
from placet.database.sqlite_policy import LONGEST_NEEDLE, MOST_MATCHES
from placet.database.sqlite_text import Token, fold

_SILENT: Final = re.compile(
    r"""'(?:[^']++|'')*+'|"(?:[^"]++|"")*+"|`(?:[^`]++|``)*+`|\[[^\]]*+\]|--[^\n]*+|/\*.*?(?:\*/|\Z)""", re.DOTALL
)
"""Strings, quoted names and comments, as in `placet.database.sqlite_text`."""
_PLAIN_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*+", re.IGNORECASE)

_NUMBER: Final = re.compile(r"[0-9](?<![\w$.][0-9])[0-9]{0,19}+(?:\.[0-9]{1,20}+)?+(?![\w$.])")
"""A short number that stands by itself. It begins with its digit and looks back from there: three times as quick."""
_ANY_NUMBER: Final = "0"

_QUOTING: Final = ('"', "`", "[", "--", "/*")
"""How what is neither a string nor plain begins."""
_NO_TEXT: Final = "''"
_NAMED: Final = re.compile(r"'\s*+(?:\(|as\s*+(?:\(|materialized|not))", re.IGNORECASE)
"""A string that a `WITH` may have as its name: what is read by another one may be that, or a table."""

_SEPARATING: Final = {ord(sign): " " for sign in map(chr, range(128)) if not sign.isalnum() and sign not in "_$.'(),"}
"""Blanks, operators and the rest: nothing is counted of them."""

_ARGUMENT: Final = r"(?:[^(),]++|\((?:[^()]++|\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))*+\))*+"
_SEARCH: Final = r"(?:instr|replace|trim)\s*+\("
_SEARCHES: Final = re.compile(_SEARCH)
_BOUNDED: Final = re.compile(
    rf"{_SEARCH}(?={_ARGUMENT}(?:\)|,\s*+(?:'|\d{{1,20}}+(?:\.\d{{1,20}}+)?|char\s*+\(\s*+\d{{1,20}}+\s*+\))\s*+[,)]))"
)
"""A call with one argument, or with a short text written out as its second."""

_MOST_CHARACTERS: Final = 2_000
"""Of a text that is looked at quickly: so few hold no more tokens than may be."""
_FEW_CHARACTERS: Final = 400
"""So few hold no more than two hundred names, and one SELECT of them repeats none often enough to matter."""
_TEXTS_REMEMBERED: Final = 256
"""At most. None is longer than is looked at quickly."""


def glance(sql: str, most_tokens: int, depth: int) -> frozenset[str] | None:
    """Return what a text defines by `WITH`, when it is certain that nothing else must be looked at.

    Args:
        sql: Of the query.
        most_tokens: That it may have.
        depth: Of its brackets, that it may have.

    Returns:
        The names, or None when it is not certain: then its tokens say what is wrong, if anything is.
    """
    if len(sql) > min(_MOST_CHARACTERS, most_tokens):
        return None
    quiet, longest = _quiet(sql)
    if quiet is None or quiet.count("(") > depth:
        return None
    text = quiet.lower()
    if _may_search(text):
        if longest > LONGEST_NEEDLE:
            return None
    elif len(text) <= _FEW_CHARACTERS and "with" not in text and text.count("select") + text.count("values") < 2:
        return frozenset() if _matches_little(text) else None
    return _define(_NUMBER.sub(_ANY_NUMBER, text))


@lru_cache(_TEXTS_REMEMBERED)
def _define(text: str) -> frozenset[str] | None:
    """Return what a text defines, when it is certain that it comes to little.

    Args:
        text: Quiet, in lower case, and each number the same, so that it is one for all queries that
            differ in their literals alone.
    """
    if not _matches_little(text) or (_may_search(text) and not _searches_little(text)):
        return None
    words = _split(text)
    few = define_in_few(words)
    if few is not None:
        return few
    growth = measure_growth(words)
    return growth.defined if growth.is_certain and not growth.is_too_large else None


def _matches_little(text: str) -> bool:
    return text.count("like") + text.count("glob") <= MOST_MATCHES


def _may_search(text: str) -> bool:
    return "trim" in text or "replace" in text or "instr" in text


def _searches_little(text: str) -> bool:
    return len(_SEARCHES.findall(text)) == len(_BOUNDED.findall(text))


def shape_of(sql: str) -> str:
    """Return a text in which literals are all the same, as far as it is certain that none of them is a name.

    What SQLite reads by its names is the same of both.
    """
    if any(sign in sql for sign in _QUOTING):
        return sql
    parts = sql.split(STRING)
    shape = _NUMBER.sub("1", _NO_TEXT.join(parts[::2]))
    return sql if len(parts) % 2 == 0 or not shape.isascii() or _NAMED.search(shape) else shape


def words_of(tokens: Sequence[Token], defined: Collection[str]) -> list[str]:
    """Return the words of a query, told from its tokens.

    Args:
        tokens: Of the query.
        defined: What its `WITH` defines: SQLite takes a string for a name where one is due.
    """
    words: list[str] = []
    for token in tokens:
        word = _word(token, defined)
        is_part = bool(words) and words[-1] not in KINDS and (word == "." or words[-1].endswith("."))
        if is_part and word and (word == "." or word not in KINDS):
            words[-1] += word
        elif word:
            words.append(word)
    return words


def _word(token: Token, defined: Collection[str]) -> str:
    match token.kind:
        case "sign":
            return token.text if token.text in "(),." else ""
        case "number":
            return _ANY_NUMBER
        case "string" if token.text not in defined:
            return STRING
        case "string" | "quoted":
            name = token.text.replace(".", "\0")
            return f'"{name}' if name in KINDS or name.isdigit() else name
        case _:
            return token.text


def _quiet(sql: str) -> tuple[str | None, int]:
    """Return a text without comments, and with each string and quoted name as one word, if that can be done.

    Beside it stand the characters of the longest of what was left out.
    """
    if any(sign in sql for sign in _QUOTING):
        silent = _SILENT.findall(sql)
        quiet = _SILENT.sub(_silence, sql)
        strings = sum([text[0] == STRING for text in silent])
        is_read = quiet.count(STRING) == strings and not any(sign in quiet for sign in '"`[')
    else:  # every second part is what stands between two quotes
        parts = sql.split(STRING)
        silent = parts[1::2]
        quiet = f" {STRING} ".join(parts[::2])
        is_read = len(parts) % 2 == 1
    return quiet if is_read and quiet.isascii() else None, max(map(len, silent), default=0)


def _silence(found: re.Match[str]) -> str:
    text = found[0]
    if text[0] in "-/":
        return " "
    if text[0] == STRING:
        return f" {STRING} "
    name = fold(text[1:-1])
    return f" {name} " if _PLAIN_NAME.fullmatch(name) and name not in KINDS else f" {ODD} "


def _split(text: str) -> list[str]:
    spaced = text.translate(_SEPARATING).replace("(", " ( ").replace(")", " ) ").replace(",", " , ")
    return spaced.split()
