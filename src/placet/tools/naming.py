"""Naming: from the exact name of a tool that comes from elsewhere to one that every provider takes.

Sources call their tools as they like (`admin.tools/list`); providers take letters, digits, `_`
and `-`, 64 of them. What the model is told here is an alias, and an alias is a way to make one
tool pass for another. So it depends on the exact name alone, never on the order in which a
source lists its tools nor on what else it lists, and two names never share one:

- a name that every provider takes is its own alias;
- any other is what can be read of it, and after a `_` twenty hex digits of its SHA-256;
- a name that looks as if it ended in such digits is given some of its own.

A source that changes its list tomorrow cannot make an alias of today mean another of its tools
without finding a second preimage of 80 bits; and should it find one, digests of calls and of
declarations are over the exact name (`ToolSpec.identity`), so that no approval and no recorded
effect follows.
"""

import hashlib
import re
from typing import Final

from placet.values.tool import TOOL_NAME, Remote

SEPARATOR: Final = "__"
"""Between the source's name and the rest."""

_DIGITS: Final = 20
_MOST_READABLE: Final = 64 - _DIGITS - 2
"""Characters before the digits, so that `TOOL_NAME` takes the whole: a `_` stands between, and may stand in front."""
_LOOKS_MADE: Final = re.compile(rf".*_[0-9a-f]{{{_DIGITS}}}")
_UNTAKEN: Final = re.compile(r"[^A-Za-z0-9_-]+")


def alias_of(remote: Remote, *, prefix: bool) -> str:
    """Return what a remote tool is called here.

    Args:
        remote: Its source and its exact name.
        prefix: Whether the source's name stands before it, as `source__name`.

    Returns:
        What `TOOL_NAME` takes: 1 to 64 letters, digits, `_` and `-`, beginning with a letter or `_`.
    """
    before = f"{remote.source}{SEPARATOR}" if prefix else ""
    whole = before + remote.name
    if TOOL_NAME.fullmatch(whole) and not _LOOKS_MADE.fullmatch(whole):
        return whole
    digits = hashlib.sha256(remote.name.encode()).hexdigest()[:_DIGITS]
    words = _UNTAKEN.sub("_", remote.name).strip("_")[: _MOST_READABLE - len(before)].rstrip("_")
    made = f"{before}{words}_{digits}" if words else f"{before}tool_{digits}"
    return made if TOOL_NAME.fullmatch(made) else f"_{made}"  # none begins with a digit or a `-`
