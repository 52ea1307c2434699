"""How a tool's parameters are declared, and where the value of each comes from.

Each mark is transparent for type checkers: `Loaded[Order]` is `Order`.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from placet.errors import ToolDefinitionError
from placet.tools.context import Context
from placet.values.construction import dataclass

T = TypeVar("T")

EMPTY: Final = inspect.Parameter.empty
"""In place of an annotation or a default that is not there."""


class Source(Enum):
    """Where the value of a parameter comes from."""

    ARGUMENT = "argument"
    """One argument of the model, by the parameter's name."""
    INPUT = "input"
    """All validated arguments together."""
    LOADED = "loaded"
    """The resource that was loaded and authorised."""
    STATE = "state"
    """The workflow's state."""
    CONTEXT = "context"
    """The context of the call."""
    INJECTED = "injected"
    """A dependency, by its type, from the toolset's providers."""


Input: TypeAlias = Annotated[T, Source.INPUT]
"""The whole validated input: the tool's schema is that of `T` itself."""

Loaded: TypeAlias = Annotated[T, Source.LOADED]
"""The resource that was loaded and authorised, handed over so that nothing is fetched twice."""

State: TypeAlias = Annotated[T, Source.STATE]
"""The state of the workflow in which the tool runs."""

Injected: TypeAlias = Annotated[T, Source.INJECTED]
"""A dependency by type, from the toolset's providers. It never stands in the schema."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a callable.

    Attributes:
        name: As it is written.
        source: Where its value comes from.
        annotation: Its type, without the mark; `EMPTY` when there is none.
        default: Its default, or `EMPTY`.
        keyword_only: Whether it must be passed by name.
    """

    name: str
    source: Source
    annotation: Any
    default: Any
    keyword_only: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """What a callable takes and gives back.

    Attributes:
        name: The callable's own name.
        parameters: In order.
        returns: The annotation of what comes back, or `EMPTY`.
        doc: The docstring, or empty.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: Any
    doc: str

    def of(self, source: Source) -> tuple[Parameter, ...]:
        """Return the parameters whose value comes from there."""
        return tuple(parameter for parameter in self.parameters if parameter.source is source)


def read_signature(call: Callable[..., Any], *, local: Mapping[str, Any] = MappingProxyType({})) -> Signature:
    """Return what a callable takes and gives back.

    Args:
        call: A function, a bound method, a `functools.partial` or an object with `__call__`.
            What a partial has bound is not a parameter any more.
        local: Names of the place of definition, for annotations that are texts.

    Raises:
        ToolDefinitionError: It has no readable signature, it takes `*args` or `**kwargs`, or
            an annotation names what cannot be found.
    """
    function, bound = _unwrap_partial(call)
    name = getattr(function, "__name__", None) or type(function).__name__
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        raw = inspect.signature(call)
        hints = get_type_hints(target, localns=dict(local), include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        msg = f"the signature of {name!r} cannot be read ({error}); annotate it with types that its module can see"
        raise ToolDefinitionError(msg) from error
    parameters = tuple(
        _parameter(name, parameter, hints.get(parameter.name, parameter.annotation))
        for parameter in raw.parameters.values()
        if parameter.name not in bound
    )
    returns = hints.get("return", EMPTY)
    return Signature(name=name, parameters=parameters, returns=returns, doc=inspect.getdoc(function) or "")


def _unwrap_partial(call: Callable[..., Any]) -> tuple[Callable[..., Any], frozenset[str]]:
    bound: set[str] = set()
    while isinstance(call, functools.partial):
        bound.update(call.keywords)
        call = call.func
    return call, frozenset(bound)


def _parameter(tool: str, parameter: inspect.Parameter, hint: Any) -> Parameter:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
        msg = (
            f"tool {tool!r} takes {stars}{parameter.name}, so a model could send anything: "
            "name each parameter, or declare one of type list[...] or dict[str, ...]"
        )
        raise ToolDefinitionError(msg)
    source, annotation = read_mark(hint)
    return Parameter(
        name=parameter.name,
        source=source,
        annotation=annotation,
        default=parameter.default,
        keyword_only=parameter.kind is inspect.Parameter.KEYWORD_ONLY,
    )


def read_mark(hint: Any) -> tuple[Source, Any]:
    """Return where a value comes from, and its type without the mark."""
    if hint is Context or get_origin(hint) is Context:
        return Source.CONTEXT, hint
    if get_origin(hint) is Annotated:
        inner, *metadata = get_args(hint)
        marks = [item for item in metadata if isinstance(item, Source)]
        if marks:
            rest = tuple(item for item in metadata if not isinstance(item, Source))
            return marks[0], Annotated[inner, *rest] if rest else inner
        if inner is Context or get_origin(inner) is Context:
            return Source.CONTEXT, inner
    return Source.ARGUMENT, hint
