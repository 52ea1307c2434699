"""How large a regular expression becomes.

PostgreSQL writes the repetitions of an expression out when it compiles it, and looks at no clock in some
of what follows: `(b*a?){1,255}a` twenty times is at work 0.6 s past its time, and there are worse
(measured on 18.6; up to `LARGEST_PATTERN` 0.1 s). So a pattern must be written out in the query, where its
size can be told, or be short.
"""

import re
from typing import Final

LARGEST_PATTERN: Final = 1_000
"""Parts of a pattern that is written out, each as often as it is repeated."""
LONGEST_PATTERN: Final = 64
"""Characters of a pattern that is not."""

_PART: Final = re.compile(
    r"""
    (?P<nothing>\(\?\#[^)]*\))
    |(?P<opens>\()
    |(?P<closes>\))
    |\{(?P<least>\d{0,9}),?(?P<most>\d{0,9})\}
    |(?P<more>[*+?])
    |\\.
    |\[\^?+\]?+(?:\\.|\[[:.=][^\]]{1,20}\]|[^\]\\])*+(?:\]|\Z)
    |.
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANKS: Final = re.compile(r"\s+|#[^\n]*")
"""What an expanded pattern, `(?x)`, leaves out."""
_ESCAPED: Final = re.compile(r"\\(?=[(){}])")
"""Brackets that are ones in a basic pattern, `(?b)`."""
_CEILING: Final = 10**9


def measure_pattern(text: str) -> int:
    """Return how many parts a pattern has, each as often as its repetitions say.

    Of the ways in which it may be read (expanded, basic) the one that comes to most is meant: too much is said
    rather than too little.
    """
    return max(_measure(text), _measure(_BLANKS.sub("", text)), _measure(_ESCAPED.sub("", text)))


def _measure(text: str) -> int:
    around: list[int] = []
    total = last = 0  # of this bracket, its last part not included
    for part in _PART.finditer(text):
        match part.lastgroup:
            case "nothing":
                continue
            case "opens":
                around.append(total + last)
                total = last = 0
            case "closes" if around:
                total, last = around.pop(), total + last + 1
            case "least" | "most":
                last *= max([1, *(int(number) for number in part.group("least", "most") if number)])
            case "more":
                last += 1
            case _:
                total, last = total + last, 1
        last = min(last, _CEILING)
    return sum(around) + total + last
