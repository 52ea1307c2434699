"""Arguments of a call on their way over the wire; what they mean is decided in `placet.tools.arguments`."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import jiter

from placet.tools.arguments import ArgumentReader, Arguments


class _AsSent:
    """The form that takes every object, as it was sent."""

    schema: Mapping[str, Any] = MappingProxyType({})

    def check(self, text: bytes, parsed: dict[str, Any], note: str | None) -> Arguments:
        """Return the object and its text."""
        return Arguments(parsed, text.decode(), note)


_READER: Final = ArgumentReader(_AsSent())


def write_text(value: object) -> str:
    """Return a JSON value as the text that a model would have written; one that cannot be written is no JSON."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "["


def is_object(text: str) -> bool:
    """Whether a text is one whole JSON object."""
    if not text.rstrip().endswith("}"):
        return False
    try:
        return isinstance(jiter.from_json(text.encode("utf-8", "surrogatepass"), allow_inf_nan=False), dict)
    except ValueError:
        return False


def write_object(text: str) -> str:
    """Return arguments as the text that goes back to a provider: always one JSON object.

    It is the object that the tool would get. What would be refused, broken, glued together or
    no object at all, goes back as `{}`: many servers parse the history, and would refuse every
    further request of the conversation.
    """
    arguments = _READER.read(text)
    return arguments.text if isinstance(arguments, Arguments) else "{}"


def read_object(text: str) -> Mapping[str, Any]:
    """Return the object that goes back to a provider which wants no text; see `write_object`."""
    arguments = _READER.read(text)
    return arguments.value if isinstance(arguments, Arguments) else {}
