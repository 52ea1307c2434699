"""From the engine's own words to calls, strictly. Nothing is mended: what is not exactly a call is none.

The engine answers with one JSON object. Of its members only two count here:

| member | what it holds |
|---|---|
| `type` | `"call"` |
| `function_calls` | the calls, `{"name": …, "arguments": {…}}`, maybe none |

It also names calls that it holds back (`suppressed_calls`), because it is not confident. They are
left held back: measured on the shop's questions, more of them are wrong than right.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from placet.errors import ModelProtocolError
from placet.values.call import ToolCall

_DECODER: Final = json.JSONDecoder()
_BLANK: Final = " \t\r\n"


def read_calls(said: str, place: int) -> tuple[ToolCall, ...]:
    """Return the calls that the engine has made.

    Args:
        said: The engine's own words.
        place: Where the answer stands in its conversation. It makes the ids of the calls
            unique in one history: `call_<place>_<index>`.

    Raises:
        ModelProtocolError: The words are not what the engine says.
    """
    try:
        members = dict(_members(said, _skip(said, 0)))
        calls = members["function_calls"] if said[slice(*members["type"])] == '"call"' else None
        if calls is None:
            raise ValueError("no type 'call'")
        return tuple(
            _read_call(said, start, f"call_{place}_{index}")
            for index, (start, _) in enumerate(_elements(said, calls[0]))
        )
    except (ValueError, KeyError, IndexError, RecursionError) as error:
        raise ModelProtocolError(f"the embedded model says what is no call: {said[:200]!r}") from error


def _read_call(said: str, start: int, call_id: str) -> ToolCall:
    members = dict(_members(said, start))
    if members.keys() != {"name", "arguments"}:
        raise ValueError("a call has a name and arguments, and nothing else")
    name = json.loads(said[slice(*members["name"])])
    arguments = said[slice(*members["arguments"])]
    if not isinstance(name, str) or not arguments.startswith("{"):
        raise ValueError("the name is a text, and the arguments are an object")
    return ToolCall(call_id, name, arguments)


def _members(said: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the names of an object's members, and where the text of their values begins and ends."""
    for at in _items(said, at, "{", "}"):
        key, at = _value(said, at)
        at = _skip(said, at)
        if not isinstance(key, str) or said[at] != ":":
            raise ValueError("a member has a name")
        start = _skip(said, at + 1)
        yield key, (start, _value(said, start)[1])


def _elements(said: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield where the text of an array's elements begins and ends."""
    for start in _items(said, at, "[", "]"):
        yield start, _value(said, start)[1]
