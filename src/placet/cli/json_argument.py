"""A JSON object that was typed on the command line."""

from collections.abc import Mapping

import jiter

from placet.cli.door import Door
from placet.cli.exits import Exit, Failure
from placet.values.decision import Reason
from placet.values.json import Json, JsonObject
from placet.words.messages import NO_ARGUMENTS


def read_object(door: Door, text: str) -> JsonObject | Failure:
    """Return the object that a text says, or why it says none.

    The same key twice is none: which of the two would count must not be a matter of order.
    """
    try:
        value: Json = jiter.from_json(
            text.encode("utf-8", "surrogateescape"), allow_inf_nan=False, catch_duplicate_keys=True
        )
    except ValueError as error:
        return _wrong(door, str(error))
    if not isinstance(value, Mapping):
        return _wrong(door, text)
    return value


def _wrong(door: Door, message: str) -> Failure:
    return Failure(exit=Exit.INVALID, code=Reason.INVALID_ARGUMENTS, message=door.say(NO_ARGUMENTS, message=message))
