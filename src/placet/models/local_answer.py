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
import re
from typing import Final

from placet.errors import ModelProtocolError
from placet.values.call import ToolCall

_CLOSING: Final = {"{": "}", "[": "]"}
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_read_value: Final = json.JSONDecoder().raw_decode


def read_calls(said: str, place: int) -> tuple[ToolCall, ...]:
    """Return the calls that the engine has made, their arguments as it has written them.

    Args:
        said: The engine's own words.
        place: Where the answer stands in its conversation. It makes the ids of the calls
            unique in one history: `call_<place>_<index>`.

    Raises:
        ModelProtocolError: The words are not what the engine says.
    """
    try:
        json.loads(said)  # the whole of it is JSON, so its parts are
        return tuple(_read_call(text, f"call_{place}_{index}") for index, text in enumerate(_read_list(said)))
    except (ValueError, LookupError, RecursionError) as error:
        raise ModelProtocolError(f"the embedded model says what is no call: {said[:200]!r}") from error


def _read_list(said: str) -> list[str]:
    members = _read_object(said)
    if members["type"] != '"call"':
        raise ValueError("an answer of another type")
    return [text for _, text in _split(members["function_calls"], "[")]


def _read_call(text: str, call_id: str) -> ToolCall:
    members = _read_object(text)
    if members.keys() != {"name", "arguments"}:
        raise ValueError("a call has a name and arguments, and nothing else")
    name: object = json.loads(members["name"])
    if not isinstance(name, str) or not members["arguments"].startswith("{"):
        raise ValueError("the name is a text, and the arguments are an object")
    return ToolCall(call_id, name, members["arguments"])


def _read_object(text: str) -> dict[str, str]:
    """Return the members of an object: the text of each value by its name."""
    parts = _split(text, "{")
    members = dict(parts)
    if len(members) < len(parts):
        raise ValueError("a name stands twice")
    return members


def _split(text: str, opening: str) -> list[tuple[str, str]]:
    """Return name and text of each value in an object, or in an array, where the names are empty.

    A decoded value would have lost how it was written: 1e3, 49.90, a name that stands twice.

    Raises:
        ValueError: It is neither.
        LookupError: It ends too early.
    """
    at = _skip(text, 0)
    if text[at] != opening:
        raise ValueError(f"{opening} expected")
    parts: list[tuple[str, str]] = []
    at = _skip(text, at + 1)
    while text[at] != _CLOSING[opening]:
        if parts:
            at = _skip(text, at + 1)  # a comma: the text is known to be JSON
        name = ""
        if opening == "{":
            name, at = _read_value(text, at)
            at = _skip(text, _skip(text, at) + 1)  # a colon
        end = _read_value(text, at)[1]
        parts.append((name, text[at:end]))
        at = _skip(text, end)
    return parts


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at
