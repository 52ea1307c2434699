"""ToolSource: tools that come from elsewhere, under names that every provider takes.

What a source says of its tools is a description, not a permission: effect, roles and whose yes
is needed are declared here, by the application, for each exact name.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

from placet.errors import ToolDefinitionError
from placet.tools.context import Context
from placet.tools.naming import alias_of
from placet.tools.plan import is_async
from placet.tools.tool import Options, Tool
from placet.values.construction import dataclass
from placet.values.tool import Effect, Remote

CallRemote: TypeAlias = Callable[[str, dict[str, Any], Context[Any]], Awaitable[Any]]
"""From the exact name, the validated arguments and the context to an awaitable of what the tool gives back."""


@dataclass(frozen=True, slots=True)
class ToolSource:
    """One place from which tools come: a server, another program.

    Attributes:
        name: What the application calls it. It stands in records beside each tool's exact name.
        call: Calls a tool there by its exact name. The only way in; it goes through the gate as any tool's code does.
        prefix: Whether each tool is called `source__name` here. Without it two sources that
            both have a `send_email` do not go into one toolset.

    What comes from elsewhere calls out and can be written by others, so its tools have
    `open_world=True` and `writable_output=True` unless the application says otherwise.

    Raises:
        ToolDefinitionError: A source cannot have this name (see `Remote`), or its call is no async
            function of three arguments.
    """

    name: str
    call: CallRemote
    prefix: bool = False

    def __post_init__(self) -> None:
        Remote(self.name, "any")  # raises where no source can have this name
        try:
            inspect.signature(self.call).bind(None, None, None)
        except (TypeError, ValueError) as error:
            msg = f"the call of source {self.name!r} must take (name, arguments, context)"
            raise ToolDefinitionError(msg) from error
        if not is_async(self.call):
            msg = f"the call of source {self.name!r} must be an async function: what it waits for is the network"
            raise ToolDefinitionError(msg)

    def tool(
        self,
        name: str,
        *,
        description: str,
        parameters: Mapping[str, Any],
        effect: Effect | str,
        **options: Unpack[Options],
    ) -> Tool:
        """Return one of its tools, which runs exactly the remote tool of this name.

        Args:
            name: Its exact name there, of 1 to 256 visible characters.
            description: What it does and when to use it.
            parameters: The JSON Schema of its arguments.
            effect: What it does to the world, as the application knows it.
            options: As for `tool`.

        Raises:
            ToolDefinitionError: It cannot be a tool; the message says why.
        """
        remote = Remote(self.name, name)
        call = self.call
        options.setdefault("open_world", True)
        options.setdefault("writable_output", True)

        async def run(arguments: dict[str, Any], context: Context[Any]) -> Any:
            return await call(remote.name, arguments, context)

        made = Tool.define(
            name=alias_of(remote, prefix=self.prefix),
            description=description,
            parameters=parameters,
            effect=effect,
            handler=run,
            **options,
        )
        return replace(made, spec=replace(made.spec, remote=remote))
