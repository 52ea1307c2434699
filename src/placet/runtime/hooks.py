"""Hooks: host code that watches calls of tools and models, and may change a call before it is decided.

A hook observes. One that changes the arguments of a tool call sends the call back to
validation, and decision and approval see what it made of them; where it changes a call that
a person has already approved, the yes counts for nothing. A hook before a call that breaks
refuses the call; one after it that breaks is logged, and changes nothing.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias, TypeVar

from placet.ports import ModelAnswer, ModelRequest
from placet.values.call import ToolResult
from placet.values.construction import dataclass
from placet.values.json import JsonObject
from placet.values.principal import Principal
from placet.values.tool import ToolSpec

_LOG: Final = logging.getLogger("placet")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One call of a tool, as a hook sees it.

    Attributes:
        run_id: Its run.
        key: Its key.
        principal: On whose behalf.
        tool: What the tool declares.
        arguments: A copy of its arguments; changing it changes nothing.
    """

    run_id: str
    key: str
    principal: Principal
    tool: ToolSpec
    arguments: JsonObject


BeforeTool: TypeAlias = Callable[[ToolUse], "JsonObject | Awaitable[JsonObject | None] | None"]
"""Returns other arguments, or None to leave them."""

AfterTool: TypeAlias = Callable[[ToolUse, ToolResult, Any], "Awaitable[None] | None"]
"""Told the result, and the `data` that the tool gave for hooks alone."""

BeforeModel: TypeAlias = Callable[[str, ModelRequest], "Awaitable[None] | None"]
"""Told the run and the question."""

AfterModel: TypeAlias = Callable[[str, ModelAnswer], "Awaitable[None] | None"]
"""Told the run and the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """What the host application wants to be told of. Each may be async; each is waited for.

    Attributes:
        before_tool: Before a valid call is looked up and decided.
        after_tool: After its result is recorded.
        before_model: Before a model is asked.
        after_model: After it has answered.
    """

    before_tool: BeforeTool | None = None
    after_tool: AfterTool | None = None
    before_model: BeforeModel | None = None
    after_model: AfterModel | None = None


async def settle(answer: "T | Awaitable[T]") -> T:
    """Return what a hook says, waiting for it if it is async."""
    if inspect.isawaitable(answer):
        waited: T = await answer
        return waited
    return answer


async def tell_after(hook: Callable[..., Any], *arguments: Any) -> None:
    """Tell a hook that comes after; what breaks in it is logged."""
    try:
        await settle(hook(*arguments))
    except Exception:  # noqa: BLE001 - an observer changes nothing
        _LOG.exception("a hook failed")
