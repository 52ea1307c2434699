"""Placeholders of a statement: `:name` for a value, `{name}` for one of several variants."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from placet.errors import ConfigurationError

_TOKEN: Final = re.compile(
    r"""
    (?P<blank>\s++|--[^\n]*+|/\*.*?\*/)
    |(?P<string>[eE]'(?:[^'\\]|\\.|'')*+'|'(?:[^']|'')*+'|\$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$)
    |(?P<quoted>"(?:[^"]|"")*+")
    |(?P<cast>::)
    |:(?P<value>[A-Za-z_]\w*)
    |\{(?P<variant>[A-Za-z_]\w*)\}
    |(?P<word>[A-Za-z_\u0080-\U0010ffff][\w$\u0080-\U0010ffff]*)
    |(?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_VERBS: Final = frozenset({"select", "values", "table", "insert", "update", "delete", "merge", "replace"})
_MATCHERS: Final = frozenset({"like", "ilike", "glob"})
_EXPRESSIONS: Final = frozenset({"similar", "regexp"})
"""What is followed by a pattern that is more than a LIKE's, as `~` and the second argument of `regexp_like` are."""
_OPERATOR: Final = frozenset("+-*/<>=~!@#%^&|`?")
_MISTAKEN: Final = frozenset({"Zs", "Cf", "Pd", "Pi", "Pf"})
"""Kinds of characters that a text editor writes in place of a blank, a minus and a quote, or that nobody sees."""
_OPENING: Final = frozenset({"(", "[", "case"})
_CLOSING: Final = frozenset({")", "]", "end"})
_ENDING: Final = frozenset(
    """
    , ; and as else escape except fetch from group having intersect limit offset on or order returning then union when
    where window
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""What ends a pattern, where it stands in no bracket of the pattern's own."""
_BACKSLASHES: Final = (r"'\'", r"e'\\'")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One place in a statement.

    Attributes:
        name: What stands there.
        is_variant: Whether it is one of several texts, and no value.
        is_matched: Whether a LIKE is looking at it.
        escape: The constant after ESCAPE, or None.
        is_expression: Whether it stands in a regular expression, or in the pattern of SIMILAR TO.
        is_asked_for_null: Whether nothing is asked of it but whether it is null, as of a filter that may be left out.
        is_sorted_by: Whether it is all that ORDER BY or GROUP BY says, which is the same for every row.
    """

    name: str
    is_variant: bool
    is_matched: bool = False
    escape: str | None = None
    is_expression: bool = False
    is_asked_for_null: bool = False
    is_sorted_by: bool = False

    @property
    def is_escaped(self) -> bool:
        """Whether it is said that a backslash escapes, which is how values are escaped."""
        return self.escape in _BACKSLASHES

    @property
    def is_escaped_otherwise(self) -> bool:
        """Whether something else is said, so that wildcards in an escaped value would count."""
        return self.escape is not None and not self.is_escaped


def placeholders(sql: str, where: str) -> tuple[Placeholder, ...]:
    """Return the places of a statement, in its order.

    Args:
        sql: The statement.
        where: What to call it when something is wrong with it.

    Raises:
        ConfigurationError: A string, a quoted name or a comment has no end, a comment stands in
            another, a value is written as `$1`, or a character is mistaken for a plain one.
    """
    _check_ends(sql, where)
    matches = [match for match in _TOKEN.finditer(sql) if match.lastgroup != "blank"]
    patterns = _patterns(matches)
    expressions = _expressions(matches)
    return tuple(
        Placeholder(
            name=match["variant"] or match["value"],
            is_variant=bool(match["variant"]),
            is_matched=index in patterns,
            escape=patterns.get(index),
            is_expression=index in expressions,
            is_asked_for_null=_is_asked_for_null(matches[index + 1 : index + 6]),
            is_sorted_by=_is_sorted_by(matches, index),
        )
        for index, match in enumerate(matches)
        if match["variant"] or match["value"]
    )


def _check_ends(sql: str, where: str) -> None:
    for match in _TOKEN.finditer(sql):
        rest = sql[match.start() :][:30]
        if match.lastgroup == "sign" and match[0] in "'\"":
            raise ConfigurationError(f"{where}: a string or a quoted name has no end, from {rest!r}")
        if match.lastgroup == "sign" and rest.startswith("/*"):
            raise ConfigurationError(f"{where}: a comment has no end, from {rest!r}")
        if match[0].startswith("/*") and "/*" in match[0][2:]:  # PostgreSQL nests them, SQLite does not
            raise ConfigurationError(f"{where}: a comment stands in a comment, from {rest!r}")
        if match.lastgroup == "sign" and match[0] == "$":
            raise ConfigurationError(f"{where}: a value is written as :name, not as {rest[:2]!r}")
        if odd := _mistaken(match):
            raise ConfigurationError(
                f"{where}: {unicodedata.name(odd, 'a character')} (U+{ord(odd):04X}) stands outside of texts and "
                f"comments, near {rest!r}; write a plain one"
            )


def _mistaken(match: re.Match[str]) -> str | None:
    """Return a character of a token that only looks like a blank, a minus or a quote, or like nothing."""
    if match.lastgroup in ("string", "quoted") or match[0].isascii() or match[0].startswith(("--", "/*")):
        return None
    return next((letter for letter in match[0] if unicodedata.category(letter) in _MISTAKEN and letter != " "), None)


def without_end(sql: str) -> str:
    """Return a statement without the semicolon that ends it, and the comments behind it."""
    tokens = (match for match in _TOKEN.finditer(sql) if match.lastgroup != "blank" and match[0] != ";")
    return sql[: max((match.end() for match in tokens), default=0)]


def has_comment(sql: str) -> bool:
    """Return whether a comment stands in a text."""
    return any(match.lastgroup == "blank" and not match[0].isspace() for match in _TOKEN.finditer(sql))


def written_otherwise(sql: str) -> str | None:
    """Return what SQLite takes for a value though it is not written as `:name`, or None: `?`, `?1`, `@name`."""
    found = (match.start() for match in _TOKEN.finditer(sql) if match.lastgroup == "sign" and match[0] in "?@")
    return next((re.findall(r"[?@]\w*", sql[start:])[0] for start in found), None)


def fill_variants(sql: str, chosen: Mapping[str, str]) -> str:
    """Return the statement with the texts of the chosen variants."""
    return "".join(chosen[match["variant"]] if match["variant"] else match[0] for match in _TOKEN.finditer(sql))


def number_values(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return the statement with `$1`, `$2` in place of `:a`, `:b`, and the names in that order."""
    names: dict[str, int] = {}

    def parts() -> Iterator[str]:
        for match in _TOKEN.finditer(sql):
            name = match["value"]
            yield f"${names.setdefault(name, len(names) + 1)}" if name else match[0]

    text = "".join(parts())
    return text, tuple(names)


def has_several(sql: str) -> bool:
    """Return whether a semicolon stands between two statements."""
    return any(match.lastgroup == "sign" and match[0] == ";" for match in _TOKEN.finditer(sql))


def is_select(sql: str) -> bool:
    """Return whether a statement is one that gives rows and changes nothing, as far as its verb tells."""
    return _verb(sql) in ("select", "values", "table")


def counts_changes(sql: str) -> bool:
    """Return whether a statement changes rows, so that it can be said how many, if it gives none back."""
    return _verb(sql) in ("insert", "update", "delete", "merge", "replace")


def _verb(sql: str) -> str:
    """Return the word that says what a statement does; what is named by WITH stands in brackets before it."""
    depth, is_with = 0, False
    for match in _TOKEN.finditer(sql):
        word = match[0].lower()
        depth += (word == "(") - (word == ")")
        if match.lastgroup == "blank" or word in "()":
            continue
        if not is_with and word != "with":
            return word
        is_with = True
        if depth == 0 and word in _VERBS:
            return word
    return ""


def gives_back(sql: str) -> bool:
    """Return whether a statement that changes rows says RETURNING."""
    return any(match.lastgroup == "word" and match[0].lower() == "returning" for match in _TOKEN.finditer(sql))


def _patterns(matches: Sequence[re.Match[str]]) -> dict[int, str | None]:
    """Return the tokens that stand in the pattern of a LIKE, with what escapes there.

    A pattern may be any expression, `'%' || lower(:name)`, and reaches as far as one may.
    """
    found: dict[int, str | None] = {}
    for index, match in enumerate(matches):
        word = match[0].lower()
        is_operator = word == "~" and index > 0 and matches[index - 1][0] == "~"
        if is_operator or (match.lastgroup == "word" and word in _MATCHERS):
            end = _end_of_pattern(matches, index + 1)
            after = [other[0].lower() for other in matches[end : end + 2]]
            escape = after[1] if after[:1] == ["escape"] and len(after) > 1 else None
            found.update(dict.fromkeys(range(index + 1, end), escape))
    return found


def _expressions(matches: Sequence[re.Match[str]]) -> frozenset[int]:
    """Return the tokens that stand in a regular expression: behind `~`, SIMILAR TO, or second in `regexp_like(…)`."""
    found: set[int] = set()
    for index, match in enumerate(matches):
        start = None
        if (match.lastgroup == "word" and match[0].lower() in _EXPRESSIONS) or _is_tilde(matches, index):
            start = index + 1
        elif match.lastgroup == "word" and match[0].lower().startswith("regexp_") and match.end() < len(match.string):
            start = _end_of_pattern(matches, index + 2) + 1  # behind the first argument, and its comma
        if start is not None:
            found.update(range(start, _end_of_pattern(matches, start)))
    return frozenset(found)


def _is_asked_for_null(after: Sequence[re.Match[str]]) -> bool:
    """Return whether what stands behind a value is IS NULL, or IS NOT NULL; the value may be cast."""
    words = [match[0].lower() for match in after]
    if words[:1] == ["::"]:
        words = words[2:]
    return words[:2] == ["is", "null"] or words[:3] == ["is", "not", "null"]


def _is_sorted_by(matches: Sequence[re.Match[str]], index: int) -> bool:
    """Return whether a value stands behind ORDER BY or GROUP BY, and nothing is made of it."""
    before = [match[0].lower() for match in matches[max(0, index - 2) : index]]
    after = matches[index + 1][0].lower() if index + 1 < len(matches) else ";"
    return before in (["order", "by"], ["group", "by"]) and after in {*_ENDING, *_CLOSING, "asc", "desc", "nulls"}


def _is_tilde(matches: Sequence[re.Match[str]], index: int) -> bool:
    """Return whether a token is the `~` of `~`, `~*`, `!~` or `!~*`, and of no other operator."""
    match = matches[index]
    if match.lastgroup != "sign" or match[0] != "~":
        return False
    text, before, after = match.string, match.start() - 1, match.end()
    around = (text[before] if before >= 0 else ""), text[after : after + 1]
    return around[0] not in _OPERATOR - {"!"} and around[1] not in _OPERATOR - {"*"}


def _end_of_pattern(matches: Sequence[re.Match[str]], start: int) -> int:
    depth = 0
    for index in range(start, len(matches)):
        word = matches[index][0].lower()
        if word in _OPENING:
            depth += 1
        elif depth == 0 and (word in _CLOSING or word in _ENDING):
            return index
        elif word in _CLOSING:
            depth -= 1
    return len(matches)
