"""Toolset: named tools kept together, with what must hold of all of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from placet.errors import ConfigurationError, DuplicateToolError, ToolDefinitionError
from placet.tools.class_tool import build_class_tool
from placet.tools.plan import Providers
from placet.tools.tool import DECLARATION, Declaration, Tool
from placet.tools.wire_tools import compile_tools
from placet.values.call import ToolResult
from placet.values.json import JsonObject
from placet.values.outcome import Refused, Waiting
from placet.values.principal import EVERYONE, Principal
from placet.values.tool import Effect, ToolSpec, VisibleTools

PREFIXES: Final = ("functions.", "default_api.", "default_api:")
"""What models are known to put before a tool's name. The rest must be an exact name."""


class CallsTools(Protocol):
    """What takes a call through the gate: an agent. A toolset knows the tools, and nothing of how they are executed."""

    async def call(
        self, tool: str, arguments: JsonObject, *, principal: Principal | str, key: str | None = None
    ) -> ToolResult | Waiting | Refused:
        """Return what comes of a call, through the gate."""
        ...


class Toolset:
    """Named tools kept together. Everything about them is worked out when it is built.

    Args:
        tools: Tools, classes that `@tool` has declared, or instances of them.
        providers: Dependencies by type, for constructors and `Injected` parameters.
        policy_permits: Tools that declare no roles because a policy says who may call them.

    Raises:
        DuplicateToolError: Two tools have one name.
        ToolDefinitionError: One of them cannot be a tool, or is not safe as it is declared.
    """

    __slots__ = ("_calls", "_permits", "_tools", "_visible")

    def __init__(
        self, tools: Iterable[Any], *, providers: Providers | None = None, policy_permits: Collection[str] = ()
    ) -> None:
        self._calls: CallsTools | None = None
        self._tools: dict[str, Tool] = {}
        self._permits = frozenset(policy_permits)
        self._visible: dict[frozenset[str], VisibleTools] = {}
        for given in tools:
            tool = _build(given, MappingProxyType(dict(providers or {})))
            if tool.name in self._tools:
                raise DuplicateToolError(_alike(self._tools[tool.name].spec, tool.spec))
            _check_safe(tool.spec, self._permits)
            self._tools[tool.name] = tool

    def find(self, name: str) -> Tool | None:
        """Return the tool of exactly this name, known prefixes of providers apart, or None."""
        tool = self._tools.get(name)
        if tool is None:
            for prefix in PREFIXES:
                if name.startswith(prefix):
                    return self._tools.get(name.removeprefix(prefix))
        return tool

    def visible(self, roles: frozenset[str]) -> VisibleTools:
        """Return the tools that a principal of these roles may see, worked out once for each set of roles."""
        known = self._visible.get(roles)
        if known is None:
            specs = tuple(tool.spec for tool in self._tools.values() if _may_see(tool.spec, roles))
            known = self._visible.setdefault(roles, VisibleTools(specs))
        return known

    def schemas(
        self, principal: Principal | Collection[str], form: str = "openai-chat", *, strict: bool = False
    ) -> tuple[JsonObject, ...]:
        """Return what a provider is told of the tools that this principal may see.

        Args:
            principal: A principal, or the roles of one.
            form: `"openai-chat"`, `"openai-responses"`, `"anthropic"`, `"gemini"`, `"mcp"` or `"json-schema"`.
            strict: Whether the provider is asked to keep to the schemas where it can. What it
                cannot enforce, `placet.tools.wire_tools.compile_tools` reports.

        Raises:
            ConfigurationError: There is no such form.
            ToolDefinitionError: The provider cannot be told of a tool.
        """
        roles = principal.roles if isinstance(principal, Principal) else frozenset(principal)
        seen = self.visible(roles)
        key = f"schemas:{form}:{'strict' if strict else 'relaxed'}"
        entries: tuple[JsonObject, ...] | None = seen.wire.get(key)
        if entries is None:
            entries = seen.wire[key] = tuple(tool.entry for tool in compile_tools(seen.specs, form, strict=strict))
        return entries

    async def execute(
        self, name: str, arguments: JsonObject, principal: Principal | str, *, key: str | None = None
    ) -> ToolResult | Waiting | Refused:
        """Return what comes of a call, through the gate of the agent to which this toolset belongs.

        It is `Agent.call`, said of a toolset: `await agent.tools.execute("look", {"name": "sky"}, principal)`.

        Args:
            name: The tool's name.
            arguments: Its arguments.
            principal: On whose behalf, or their id.
            key: The caller's idempotency key; needed for calls that change something or wait.

        Raises:
            ConfigurationError: It belongs to no agent, so that there is no gate to go through.
            StoreError: The store or the directory cannot be read.
        """
        if self._calls is None:
            raise ConfigurationError(
                f"these tools belong to no agent, so nothing decides about a call of {name!r}: give them to "
                "Agent(…, tools=…), and use agent.tools.execute(…)"
            )
        return await self._calls.call(name, arguments, principal=principal, key=key)

    def owned_by(self, agent: CallsTools) -> "Toolset":
        """Return the same tools as those of an agent, through whose gate `execute` goes.

        What is made of them by `combine`, `prefix` or `filter` belongs to nobody again.
        """
        owned = Toolset(())
        owned._tools, owned._permits, owned._visible = self._tools, self._permits, self._visible
        owned._calls = agent
        return owned

    def combine(self, *others: "Toolset") -> "Toolset":
        """Return one toolset of all of them.

        Raises:
            DuplicateToolError: Two tools have one name.
        """
        permits = self._permits.union(*(other._permits for other in others))  # noqa: SLF001 - our own class
        return Toolset([tool for toolset in (self, *others) for tool in toolset], policy_permits=permits)

    def prefix(self, prefix: str) -> "Toolset":
        """Return the same tools with a prefix before each name, for instance `"crm__"`.

        Raises:
            ToolDefinitionError: No provider takes a name with this prefix.
        """
        permits = {prefix + name for name in self._permits}
        return Toolset([tool.renamed(prefix + tool.name) for tool in self], policy_permits=permits)

    def filter(self, keep: Callable[[ToolSpec], bool]) -> "Toolset":
        """Return the tools of which `keep` holds."""
        return Toolset([tool for tool in self if keep(tool.spec)], policy_permits=self._permits)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools


def _alike(first: ToolSpec, second: ToolSpec) -> str:
    """Return what is said of two tools of one name, and the mend."""
    if first.remote is None and second.remote is None:
        return f"two tools are called {first.name!r}; rename one, or give one toolset a prefix"
    if first.remote == second.remote:
        return f"one tool is in the toolset twice, {first.remote}, as {first.name!r}; leave one out"
    each = ", ".join(str(spec.remote or "the application's own") for spec in (first, second))
    return f"two tools would be called {first.name!r} ({each}); put the source before the name: prefix=True"


def _may_see(spec: ToolSpec, roles: frozenset[str]) -> bool:
    return spec.roles is None or EVERYONE in spec.roles or not spec.roles.isdisjoint(roles)


def _build(given: Any, providers: Mapping[type, Any]) -> Tool:
    if isinstance(given, Tool):
        return given.bind(providers)
    kind = given if isinstance(given, type) else type(given)
    declaration = vars(kind).get(DECLARATION)
    if isinstance(declaration, Declaration):
        return build_class_tool(declaration, providers, None if given is kind else given)
    name = getattr(given, "__name__", None) or kind.__name__
    what = "class" if isinstance(given, type) or not callable(given) else "function"
    msg = f"{what} {name!r} is not declared as a tool: put @tool(effect=...) above it"
    raise ToolDefinitionError(msg)


def _check_safe(spec: ToolSpec, permits: frozenset[str]) -> None:
    name = spec.name
    if not spec.roles and (spec.roles is not None or name not in permits):
        msg = (
            f"nobody may call tool {name!r}: say who, as in roles={{'support'}} or roles={{EVERYONE}}, "
            "or name it in a policy rule"
        )
        raise ToolDefinitionError(msg)
    if spec.effect is Effect.READ or spec.waiver:
        return
    if spec.authorise is None and spec.approval is None:
        either = "authorise=..., " if spec.effect is Effect.WRITE else ""
        msg = (
            f"tool {name!r} is declared as {spec.effect} and nothing holds it back: give it {either}"
            f"approval=Approval.always(approvers={{...}}), or waiver='why it needs {'neither' if either else 'none'}'"
        )
        raise ToolDefinitionError(msg)
    if spec.effect is Effect.DESTRUCTIVE and spec.approval is None:
        msg = (
            f"tool {name!r} is destructive and asks nobody: give it "
            "approval=Approval.always(approvers={...}), or waiver='why nobody need be asked'"
        )
        raise ToolDefinitionError(msg)
