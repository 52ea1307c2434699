"""ToolCall: a wish. ToolResult: what the model is told about it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from placet.values.construction import dataclass, made_quickly
from placet.values.json import Json


class Wire(StrEnum):
    """How a call came in. The audit log says it."""

    NATIVE = "native"
    """The provider's own tool calls."""
    TEXT = "text"
    """The text protocol, for models without function calling."""
    DIRECT = "direct"
    """No model: a program or a person named the tool."""


@made_quickly
@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model's wish to have a tool run. Nothing in it is trusted.

    Attributes:
        id: Unique among the calls of one history; ties the result to the call on the
            wire. It is no key: providers repeat and invent ids.
        name: As the model wrote it.
        arguments: JSON text as the model wrote it; `"{}"` when it wrote none. It may be
            anything, and is parsed in one place only (`placet.tools.arguments`).
        fault: Why the call cannot be known, for instance because the reply was cut at the
            token limit. A call with a fault is refused with these words, never executed.
        wire: How it came in.
        provider_state: What this provider wants back unchanged with the call, opaque.
        note: What the reading of the wire had to mend (one level of quotes unwrapped …),
            for the audit log.
    """

    id: str
    name: str
    arguments: str = "{}"
    fault: str | None = None
    wire: Wire = Wire.NATIVE
    provider_state: Mapping[str, Json] | None = None
    note: str | None = None


OK: Final = "ok"
"""The code of a result that is no error."""


@made_quickly
@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told about one call. Exactly one for each call, in call order.

    Attributes:
        call_id: The id of the call.
        content: The observation: text, never empty. From a tool it is data, not
            instructions, and what the model reads is fenced with `fence`.
        is_error: Whether the call did not do what was asked.
        code: `"ok"`, a `Reason`, or the stable code of a failure (`tool_error`,
            `internal_error`, `timeout`, `bad_output`).
        fence: Marker of this result alone, unknown to the tool. Empty: placet's own words.
        cut_from: Size in bytes before the content was cut to its cap, or None.
        answer: The same for the person, from the tool's answer template; only where the
            model writes no prose.
    """

    call_id: str
    content: str
    is_error: bool = False
    code: str = OK
    fence: str = ""
    cut_from: int | None = None
    answer: str = ""
