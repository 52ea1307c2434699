"""Placeholders of a statement: `:name` for a value, `{name}` for one of several variants."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from placet.errors import ConfigurationError

_TOKEN: Final = re.compile(
    r"""
    (?P<blank>\s++|--[^\n]*+|/\*.*?\*/)
    |(?P<string>[eE]'(?:[^'\\]|\\.|'')*+'|'(?:[^']|'')*+'|\$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$)
    |(?P<quoted>"(?:[^"]|"")*+")
    |(?P<cast>::)
    |:(?P<value>[A-Za-z_]\w*)
    |\{(?P<variant>[A-Za-z_]\w*)\}
    |(?P<word>[A-Za-z_\u0080-\U0010ffff][\w$\u0080-\U0010ffff]*)
    |(?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_MATCHERS: Final = frozenset({"like", "ilike", "glob"})
_BETWEEN: Final = frozenset({"|", "(", "any", "all"})


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One place in a statement.

    Attributes:
        name: What stands there.
        is_variant: Whether it is one of several texts, and no value.
        is_matched: Whether a LIKE is looking at it.
        is_escaped: Whether an ESCAPE follows.
    """

    name: str
    is_variant: bool
    is_matched: bool = False
    is_escaped: bool = False


def placeholders(sql: str, where: str) -> tuple[Placeholder, ...]:
    """Return the places of a statement, in its order.

    Args:
        sql: The statement.
        where: What to call it when something is wrong with it.

    Raises:
        ConfigurationError: A string or a quoted name has no end.
    """
    matches = [match for match in _TOKEN.finditer(sql) if match.lastgroup != "blank"]
    for match in matches:
        if match.lastgroup == "sign" and match[0] in "'\"":
            raise ConfigurationError(
                f"{where}: a string or a quoted name has no end, from {sql[match.start() :][:30]!r}"
            )
    return tuple(
        Placeholder(
            name=match["variant"] or match["value"],
            is_variant=bool(match["variant"]),
            is_matched=_is_matched(matches, index),
            is_escaped=_is_escaped(matches, index),
        )
        for index, match in enumerate(matches)
        if match["variant"] or match["value"]
    )


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
    """Return whether a statement begins as one that gives rows and changes nothing."""
    first = next((match for match in _TOKEN.finditer(sql) if match.lastgroup != "blank" and match[0] != "("), None)
    return first is not None and first[0].lower() in ("select", "with", "values", "table")


def _is_matched(matches: list[re.Match[str]], index: int) -> bool:
    """Return whether a LIKE stands before, with nothing but the parts of its pattern between."""
    for match in reversed(matches[:index]):
        word = match[0].lower()
        if word in _MATCHERS:
            return True
        if match.lastgroup != "string" and word not in _BETWEEN and not match["value"]:
            return False
    return False


def _is_escaped(matches: list[re.Match[str]], index: int) -> bool:
    after = [match[0].lower() for match in matches[index + 1 : index + 3]]
    return after == ["escape", r"'\'"]
