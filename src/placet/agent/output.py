"""Structured output: a validated object as the last word.

Strict modes of providers are an aid; the full validation here always runs. An answer that
does not fit is asked again a bounded number of times, and the model is told field by field
what did not fit.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

from placet.errors import ConfigurationError, ToolDefinitionError
from placet.tools.arguments import ArgumentReader, Arguments
from placet.tools.raw_arguments import RawForm, plain_dict
from placet.tools.typed_arguments import form_of_type, is_object_type
from placet.values.construction import dataclass
from placet.values.decision import Deny, Reason
from placet.values.json import Json, JsonObject, is_mapping

_FENCED: Final = re.compile(r"\s*```(?:json|JSON)?[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)


CUT_OUTPUT: Final = Deny(Reason.CUT_OFF, "it was cut off at the token limit", hint="Say it in fewer words")
"""What is said to an answer that was cut: what it holds may look whole and be half of what was meant."""


class Contract(Protocol):
    """What a run ends with, where that is more than words."""

    @property
    def schema(self) -> JsonObject:
        """Its JSON Schema, as providers are told."""
        ...

    def read(self, text: str) -> Arguments | Deny:
        """Return the object that a model's reply holds, or why it holds none."""
        ...

    def value_of(self, read: Arguments) -> Any:
        """Return what the caller gets."""
        ...

    def load(self, output: Json) -> Any:
        """Return what the caller gets of an output that is stored with its run."""
        ...


@dataclass(frozen=True, slots=True)
class OutputContract:
    """What the last word must be.

    Attributes:
        schema: Its JSON Schema, as providers are told.
        reader: Reads and validates it.
        plain: Whether it is given out as a dict rather than as an instance of a type.
    """

    schema: JsonObject
    reader: ArgumentReader
    plain: bool

    def read(self, text: str) -> Arguments | Deny:
        """Return the object that a reply holds, or why it holds none.

        The whole reply is the object, bare or in one fence of code; an object somewhere
        inside a reply is not looked for, as nobody knows whether it was meant.
        """
        fenced = _FENCED.fullmatch(text)
        return self.reader.read(fenced[1] if fenced else text.strip())

    def value_of(self, read: Arguments) -> Any:
        """Return what the caller gets."""
        return plain_dict(read.value) if self.plain else read.value

    def load(self, output: Json) -> Any:
        """Return what the caller gets of a stored output; as it is stored, when the type does not take it any more."""
        read = self.reader.read_json(output) if isinstance(output, Mapping) else None
        return self.value_of(read) if isinstance(read, Arguments) else output


def make_contract(kind: Any) -> OutputContract:
    """Return the contract of an output type.

    Args:
        kind: A pydantic model, a dataclass or a TypedDict, or the JSON Schema of an object.

    Raises:
        ConfigurationError: It is none of these.
    """
    try:
        if is_mapping(kind):
            raw = RawForm(kind, "output")
            return OutputContract(raw.schema, ArgumentReader(raw), plain=True)
        if is_object_type(kind):
            typed = form_of_type(kind, "output", ())
            return OutputContract(typed.schema, ArgumentReader(typed), plain=False)
    except ToolDefinitionError as error:
        raise ConfigurationError(f"not a type of output: {error}") from error
    raise ConfigurationError(
        f"not a type of output: {kind!r}; give a pydantic model, a dataclass, a TypedDict, "
        "or the JSON Schema of an object"
    )


def complaint_of(deny: Deny) -> str:
    """Return what the model is told of an answer that does not fit."""
    hint = f" {deny.hint}." if deny.hint else ""
    return (
        f"Your answer does not fit the form that was asked for: {deny.message}.{hint} "
        "Answer again with nothing but one JSON object of that form."
    )
