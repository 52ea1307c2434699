"""The plan of a tool: how its code is called, worked out once when the tool is built."""

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from placet.errors import ConfigurationError, ToolDefinitionError
from placet.tools.context import Context, NestedRuns, RuntimePort, enter_call, leave_call
from placet.tools.encode import MAX_ITEMS, Gathered, gather
from placet.tools.parameters import EMPTY, Parameter, Signature, Source
from placet.values.construction import dataclass

Execute: TypeAlias = Callable[[Any, Any, Context[Any]], Any]
"""From the validated arguments, the loaded resource and the context to the result, or an awaitable of it."""

Providers: TypeAlias = Mapping[type, Any]
"""Dependencies by their type."""

_Read: TypeAlias = Callable[[Any, Any, Context[Any]], Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a tool's code is called.

    Attributes:
        execute: The call itself; it needs no dependency any more.
        is_async: Whether it gives back an awaitable.
        dependencies: What the program has given it.
    """

    execute: Execute
    is_async: bool
    dependencies: tuple[Any, ...] = ()


def is_async(call: Callable[..., Any]) -> bool:
    """Return whether calling it gives an awaitable."""
    while isinstance(call, functools.partial):
        call = call.func
    inner = call if inspect.isroutine(call) else type(call).__call__
    return inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner)


def make_plan(
    call: Callable[..., Any],
    signature: Signature,
    providers: Providers,
    tool: str,
    *,
    whole: Callable[[Any], Any] | None = None,
    nested: bool = False,
) -> Plan:
    """Return how a callable is called.

    Args:
        call: The tool's code.
        signature: What it takes.
        providers: Dependencies by type.
        tool: The tool's name.
        whole: From the value of the arguments to what an `Input` parameter gets, where they differ.
        nested: Whether the code may start nested runs through a port it was constructed with.

    Raises:
        ToolDefinitionError: A dependency has no provider.
    """
    run = _bounded(call)
    names = [parameter.name for parameter in signature.parameters]
    plain = all(
        parameter.source is Source.ARGUMENT and not parameter.keyword_only for parameter in signature.parameters
    )
    execute = _plain(run, names) if plain else _mixed(run, signature.parameters, providers, tool, whole)
    asynchronous = is_async(call)
    if nested and asynchronous:
        execute = _with_runtime(execute)
    injected = [one for one in signature.parameters if one.source is Source.INJECTED]
    return Plan(execute, asynchronous, tuple(provide(one, providers, f"tool {tool!r}") for one in injected))


def _plain(call: Callable[..., Any], names: Sequence[str]) -> Execute:
    match len(names):
        case 0:
            return lambda _value, _resource, _context: call()
        case 1:
            one = attrgetter(names[0])
            return lambda value, _resource, _context: call(one(value))
        case _:
            several = attrgetter(*names)
            return lambda value, _resource, _context: call(*several(value))


def _mixed(
    call: Callable[..., Any],
    parameters: Sequence[Parameter],
    providers: Providers,
    tool: str,
    whole: Callable[[Any], Any] | None,
) -> Execute:
    first: list[_Read] = []
    named: list[tuple[str, _Read]] = []
    for parameter in parameters:
        read = _read(parameter, providers, tool, whole)
        if parameter.keyword_only:
            named.append((parameter.name, read))
        else:
            first.append(read)
    if not named:
        return lambda value, resource, context: call(*[read(value, resource, context) for read in first])
    return lambda value, resource, context: call(
        *[read(value, resource, context) for read in first],
        **{name: read(value, resource, context) for name, read in named},
    )


def _read(  # noqa: PLR0911 - one line a source
    parameter: Parameter, providers: Providers, tool: str, whole: Callable[[Any], Any] | None
) -> _Read:
    match parameter.source:
        case Source.ARGUMENT:
            attribute = attrgetter(parameter.name)
            return lambda value, _resource, _context: attribute(value)
        case Source.INPUT:
            if whole is not None:
                return lambda value, _resource, _context: whole(value)
            return lambda value, _resource, _context: value
        case Source.LOADED:
            return lambda _value, resource, _context: resource
        case Source.CONTEXT:
            return lambda _value, _resource, context: context
        case Source.STATE:
            return _state(parameter, tool)
        case Source.INJECTED:
            dependency = provide(parameter, providers, f"tool {tool!r}")
            return lambda _value, _resource, _context: dependency


def _state(parameter: Parameter, tool: str) -> _Read:
    kind = parameter.annotation

    def read(_value: Any, _resource: Any, context: Context[Any]) -> Any:
        state = context.state
        if state is None or (isinstance(kind, type) and not isinstance(state, kind)):
            msg = f"tool {tool!r} works on a state of type {kind!r}, which this call has not: use it in its workflow"
            raise ConfigurationError(msg)
        return state

    return read


def provide(parameter: Parameter, providers: Providers, who: str) -> Any:
    """Return the dependency that a parameter asks for by its type.

    Raises:
        ToolDefinitionError: There is none of this type, and no default.
    """
    kind = parameter.annotation
    if isinstance(kind, type) and kind in providers:
        return providers[kind]
    if kind is RuntimePort:
        return NestedRuns()
    if parameter.default is not EMPTY:
        return parameter.default
    if kind is EMPTY:
        msg = f"{who} asks for {parameter.name!r} without saying of which type: annotate it"
        raise ToolDefinitionError(msg)
    name = getattr(kind, "__name__", repr(kind))
    msg = (
        f"{who} asks for {parameter.name!r} of type {name}, which nobody provides: "
        f"Toolset([...], providers={{{name}: ...}})"
    )
    raise ToolDefinitionError(msg)


def _bounded(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the callable with a generator's items gathered where the tool runs, under its timeout."""
    inner = call if inspect.isroutine(call) else type(call).__call__
    if inspect.isasyncgenfunction(inner):

        async def gather_async(*positional: Any, **named: Any) -> Gathered:
            items = Gathered()
            stream: AsyncIterator[Any] = call(*positional, **named)
            async for item in stream:
                if len(items) == MAX_ITEMS:
                    items.more = True
                    break
                items.append(item)
            return items

        return gather_async
    if inspect.isgeneratorfunction(inner):
        return lambda *positional, **named: gather(call(*positional, **named))
    return call


def _with_runtime(execute: Execute) -> Execute:
    async def run(value: Any, resource: Any, context: Context[Any]) -> Any:
        token = enter_call(context)
        try:
            return await execute(value, resource, context)
        finally:
            leave_call(token)

    return run
