"""KeptState: the state of a workflow, which is stored with the run as JSON and comes back as the same type."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jiter
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from placet.errors import ConfigurationError
from placet.values.json import Json, JsonObject


@dataclass(slots=True, eq=False)
class KeptState:
    """A state, and how it is written down.

    Fields are written by their own names, whatever aliases they have, so that what is
    written can always be read. What a model does not write (private attributes, computed
    fields) is not kept.

    Attributes:
        kind: Its type.
        value: The state as it is now.
    """

    kind: type[BaseModel]
    value: Any

    def dump(self) -> JsonObject:
        """Return the state as JSON.

        Raises:
            ConfigurationError: It is of another type, or holds something that cannot be written.
        """
        if not isinstance(self.value, self.kind):
            raise ConfigurationError(
                f"the state is a {type(self.value).__name__}, not a {self.kind.__name__}: "
                "a stage changes the state that it gets, or returns another of its type"
            )
        try:
            text = self.value.model_dump_json(by_alias=False, round_trip=True, warnings="error")
        except (PydanticSerializationError, ValueError, TypeError) as error:
            raise ConfigurationError(f"the state {self.kind.__name__} cannot be written as JSON: {error}") from error
        written: JsonObject = jiter.from_json(text.encode("utf-8", "surrogatepass"))
        return written

    def restore(self, written: Json) -> None:
        """Take a state that was written down.

        Raises:
            ConfigurationError: It does not fit the type, or does not fit it any more.
        """
        try:
            self.value = self.kind.model_validate_json(to_json(written), by_alias=False, by_name=True)
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors(include_input=False)]
            raise ConfigurationError(
                f"what is kept does not fit the state {self.kind.__name__} ({'; '.join(faults)})"
            ) from error

    def keep(self) -> JsonObject:
        """Return the state as JSON, and go on with what that reads as.

        A run that was never interrupted so goes on with the same state as one that was, and a
        state that would not survive shows at once.

        Raises:
            ConfigurationError: It cannot be written down, or would not come back as it is.
        """
        written = self.dump()
        self.restore(written)
        if self.dump() != written:
            raise ConfigurationError(
                f"the state {self.kind.__name__} reads differently from how it is written: "
                "a validator or serialiser of its own changes it each time"
            )
        return written

    def set(self, values: Mapping[str, Any]) -> None:
        """Put values into fields; they are validated when the state is kept."""
        self.value = self.value.model_copy(update=dict(values))

    def copy(self) -> "KeptState":
        """Return the same state, apart from this one.

        Raises:
            ConfigurationError: It cannot be written down.
        """
        twin = KeptState(self.kind, None)
        twin.restore(self.dump())
        return twin


def state_of(run_id: str) -> str:
    """Return the id of the note that keeps the state of a nested run as its turns leave it."""
    return f"{run_id}~"
