"""Provenance: where the value of an argument came from."""

from enum import StrEnum

from placet.values.construction import dataclass


class Origin(StrEnum):
    """Where a value was first seen."""

    PERSON = "person"
    """The whole value stands in what the person said."""
    DEVELOPER = "developer"
    """A default of the tool, or given by the program that made the call."""
    TOOL = "tool"
    """In the output of a tool whose data only the house can write."""
    MODEL = "model"
    """Nowhere: the model has worked it out, and nothing untrusted was there to work it out from."""
    UNTRUSTED = "untrusted"
    """In the output of a tool whose data others can write, or nowhere while such output was there:
    what is ambiguous is untrusted."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where one argument came from.

    Attributes:
        origin: Where it was first seen.
        tool: In the output of which tool, or empty.
    """

    origin: Origin
    tool: str = ""

    def __str__(self) -> str:
        return f"{self.origin.value}: {self.tool}" if self.tool else self.origin.value
