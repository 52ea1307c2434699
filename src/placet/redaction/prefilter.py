"""A cheap "surely not": one pass over a text before the passes that find what is in it.

Most texts hold nothing to hide, and say so in one pass of the Rust regex engine that pydantic
brings along: it looks for all words at once, where `re` tries them one after the other. On
10 kB of prose that is 17 µs against 250 µs for 45 times `word in text`.
"""

from collections.abc import Callable
from functools import cache

from pydantic_core import SchemaValidator, core_schema


def prefilter(pattern: str) -> Callable[[str], bool]:
    """Return a function that says whether a text may match; only its False is to be relied on.

    Args:
        pattern: In the syntax of Rust's `regex`: no look-around, no back-references. It must
            match whenever the finders behind it would.
    """

    @cache
    def matches() -> Callable[[str], bool]:  # half a millisecond, and a short run looks for little
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python

    def may_match(text: str) -> bool:
        return matches()(text) or not (text.isascii() or _is_utf8(text))

    return may_match


def _is_utf8(text: str) -> bool:
    """Whether the engine could read the text at all; lone surrogates it refuses."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
