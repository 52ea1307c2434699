"""Attempt and Ready: a call on its way through the gate, before and after it is known to be a call at all."""

from typing import Any

from placet.runtime.record import CallRecord
from placet.runtime.site import CallSite
from placet.tools.arguments import Arguments
from placet.tools.context import Context
from placet.tools.tool import Tool
from placet.values.call import ToolCall
from placet.values.construction import dataclass, made_quickly


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call on its way through the gate, and what the audit log is told of it.

    Attributes:
        call: The wish.
        site: Where it stands.
        record: What the audit log is told of it.
        started: When it was proposed, monotonic seconds.
        digest: Keyed digest of tool and arguments, or empty where nothing needs it.
    """

    call: ToolCall
    site: CallSite
    record: CallRecord
    started: float
    digest: str = ""


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A call whose tool is open to the principal and whose arguments are valid.

    Attributes:
        attempt: The call on its way.
        tool: What would run.
        arguments: What it would get.
        context: What it may know; today's principal is in it.
    """

    attempt: Attempt
    tool: Tool
    arguments: Arguments
    context: Context[Any]
