"""Tool: one callable with its spec, made from a function, a class, or parts."""

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypedDict, TypeVar, Unpack, overload

from placet.errors import ConfigurationError, ToolDefinitionError
from placet.tools.arguments import ArgumentReader
from placet.tools.context import Context
from placet.tools.docstring import read_docstring
from placet.tools.home import home_of
from placet.tools.names import check_names
from placet.tools.output import OutputShaper
from placet.tools.parameters import Signature, Source, read_signature
from placet.tools.plan import Execute, Plan, Providers, make_plan
from placet.tools.raw_arguments import RawForm, plain_dict
from placet.tools.typed_arguments import TypedForm, form_of_parameters, form_of_type
from placet.values.approval import ApprovalRule
from placet.values.construction import dataclass
from placet.values.json import is_mapping
from placet.values.limits import (
    RESULT_BYTES,
    TOOL_MEMORY_BYTES,
    TOOL_TIMEOUT,
    Limit,
    RateLimit,
    ValueLimit,
    duration,
    parse_limit,
)
from placet.values.tool import Authorise, Effect, Isolation, Survival, ToolSpec

Load: TypeAlias = Callable[[Any, Context[Any]], Any]
"""From arguments and context to the resource, or None when there is none; may be async."""

ShowPreview: TypeAlias = Callable[[Any, Any, Context[Any]], Any]
"""From arguments, resource and context to a `Preview` or a text; may be async."""

Version: TypeAlias = Callable[[Any], Any]
"""From a resource to what tells one version of it from another: a number, a text, a time."""

Words: TypeAlias = str | Mapping[str, str]
"""A template, or one for each language."""


K = TypeVar("K")
W = TypeVar("W", bound=StrEnum)


class Options(TypedDict, total=False):
    """What can be declared of a tool apart from its name and its effect. See `ToolSpec` for what each means."""

    roles: Collection[str] | None
    timeout: timedelta | float | str
    limit: str | Limit | Sequence[str | Limit]
    resource: Load | None
    version: str | Version | None
    authorise: Authorise | None
    approval: ApprovalRule | None
    preview: ShowPreview | None
    redact: Collection[str]
    redact_for_model: bool
    waiver: str | None
    open_world: bool
    survival: Survival | str
    isolation: Isolation | str
    writable_output: bool
    trusted_arguments: Collection[str]
    max_result_bytes: int
    max_memory_bytes: int
    progress: Words
    answer: Words


class NamedOptions(Options, total=False):
    """The same, with a name and a description where they are not the code's own."""

    name: str | None
    description: str | None


_OPTIONS: Final = frozenset(NamedOptions.__annotations__)


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """One callable with its spec.

    Attributes:
        spec: Everything that is declared about it.
        reader: Reads a model's arguments.
        execute: From the validated arguments, the resource and the context to the result,
            or an awaitable of it. Called by the runtime alone, after the gate.
        is_async: Whether `execute` gives an awaitable.
        load: Loads the resource, or None.
        version: Tells which version of the resource was loaded, or None where a change of it does not matter.
        preview: Shows what would change, or None.
        output: Shapes what comes back.
        home: Where its code stands, as `module:name`, or empty where it runs in this process.
        binder: Builds `execute` anew once dependencies are known, or None when it needs none.
        dependencies: What the program has given it; their texts are kept out of records.
    """

    spec: ToolSpec
    reader: ArgumentReader
    execute: Execute
    is_async: bool
    load: Load | None
    version: Version | None
    preview: ShowPreview | None
    output: OutputShaper
    home: str = ""
    binder: Callable[[Providers], Plan] | None = field(default=None, repr=False)
    dependencies: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """What the model calls it by."""
        return self.spec.name

    def bind(self, providers: Providers) -> "Tool":
        """Return the tool with its dependencies.

        Raises:
            ToolDefinitionError: One of them is not provided.
        """
        if self.binder is None:
            return self
        plan = self.binder(providers)
        return dataclasses.replace(self, execute=plan.execute, binder=None, dependencies=plan.dependencies)

    def renamed(self, name: str) -> "Tool":
        """Return the same tool under another name.

        Raises:
            ToolDefinitionError: No provider takes the name.
        """
        return dataclasses.replace(self, spec=dataclasses.replace(self.spec, name=name))

    @staticmethod
    def define(
        *,
        name: str,
        description: str,
        parameters: Any,
        effect: Effect | str,
        handler: Callable[..., Any],
        returns: Any = inspect.Parameter.empty,
        **options: Unpack[Options],
    ) -> "Tool":
        """Return a tool that is built from parts rather than written.

        Args:
            name: What the model calls it by.
            description: What it does and when to use it.
            parameters: A pydantic model, dataclass or TypedDict, or a JSON Schema of an object.
            effect: What it does to the world.
            handler: Its code. The one parameter without a mark gets the validated arguments:
                an instance of the type, or a dict where `parameters` is a JSON Schema.
            returns: The type of what comes back; by default the handler's own annotation.
            options: As for `tool`.

        Raises:
            ToolDefinitionError: It cannot be a tool; the message says why.
        """
        signature = _whole_input(read_signature(handler), name)
        raw = is_mapping(parameters)
        form = (
            RawForm(parameters, name)
            if is_mapping(parameters)
            else form_of_type(parameters, name, options.get("redact", ()))
        )
        if returns is not inspect.Parameter.empty:
            signature = dataclasses.replace(signature, returns=returns)
        declared = Declared(name=name, description=description, effect=effect, options=options)
        return assemble(declared, handler, signature, form, whole=plain_dict if raw else None)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a decorator was given.

    Attributes:
        name: What the model calls the tool by.
        description: The prompt.
        effect: What it does to the world.
        options: What else was declared.
    """

    name: str
    description: str
    effect: Effect | str
    options: Options


@dataclass(frozen=True, slots=True)
class Declaration:
    """What `@tool` notes on a class; the tool itself is built by the toolset, with its dependencies.

    Attributes:
        kind: The class.
        effect: What the tool does to the world.
        options: What else was declared.
    """

    kind: type
    effect: Effect | str
    options: NamedOptions


DECLARATION: Final = "__placet_tool__"
"""Where `@tool` keeps its note on a class."""


def tool(*, effect: Effect | str, **options: Unpack[NamedOptions]) -> "_Decorator":
    """Declare a function, or a class with an `execute` method, as a tool.

    The docstring is the description, unless one is given; the descriptions of parameters
    come from its `Args` section. The input schema comes from the annotations, the output
    schema from the return type.

    Args:
        effect: What it does to the world: `"read"`, `"write"` or `"destructive"`.
        options: See `NamedOptions`, `Options` and `ToolSpec`.

    Returns:
        A decorator. On a function it gives a `Tool`; a class it leaves as it is, noted for
        the toolset that will construct it.
    """
    return _Decorator(effect, options)


class _Decorator:
    __slots__ = ("_effect", "_options")

    def __init__(self, effect: Effect | str, options: NamedOptions) -> None:
        self._effect = effect
        self._options = options

    @overload
    def __call__(self, target: type[K]) -> type[K]: ...  # type: ignore[overload-overlap]  # a class is callable too
    @overload
    def __call__(self, target: Callable[..., Any]) -> Tool: ...
    def __call__(self, target: Any) -> Any:
        if isinstance(target, type):
            setattr(target, DECLARATION, Declaration(target, self._effect, self._options))
            return target
        frame = inspect.currentframe()  # annotations that are texts may name what stands beside the function
        local = frame.f_back.f_locals if frame is not None and frame.f_back is not None else {}
        return _from_function(target, self._effect, self._options, local)


def _from_function(call: Any, effect: Effect | str, options: NamedOptions, local: Mapping[str, Any]) -> Tool:
    signature = read_signature(call, local=local)
    name = options.get("name") or signature.name
    doc = read_docstring(signature.doc)
    description = options.get("description") or doc.text
    form = form_of(signature, name, doc.parameters, options.get("redact", ()))
    declared = Declared(name=name, description=description, effect=effect, options=options)
    return assemble(declared, call, signature, form)


def form_of(signature: Signature, name: str, described: Mapping[str, str], redact: Collection[str]) -> TypedForm:
    """Return what the arguments of a callable must be like, by how its parameters are declared.

    Raises:
        ToolDefinitionError: They are declared in a way that cannot be read from JSON.
    """
    whole = signature.of(Source.INPUT)
    single = signature.of(Source.ARGUMENT)
    if len(whole) > 1 or (whole and single):
        msg = f"tool {name!r} declares an Input beside other arguments; its Input is the whole of them"
        raise ToolDefinitionError(msg)
    if whole:
        return form_of_type(whole[0].annotation, name, redact)
    return form_of_parameters(single, name, described, redact)


def _whole_input(signature: Signature, tool: str) -> Signature:
    """Return the signature with its one unmarked parameter taken for the whole input."""
    single = signature.of(Source.ARGUMENT)
    whole = signature.of(Source.INPUT)
    if len(single) + len(whole) > 1:
        names = ", ".join(parameter.name for parameter in (*whole, *single))
        msg = f"the handler of tool {tool!r} takes {names}: it gets all arguments as one, so let it take one"
        raise ToolDefinitionError(msg)
    parameters = tuple(
        dataclasses.replace(parameter, source=Source.INPUT) if parameter.source is Source.ARGUMENT else parameter
        for parameter in signature.parameters
    )
    return dataclasses.replace(signature, parameters=parameters)


def assemble(
    declared: Declared,
    call: Callable[..., Any],
    signature: Signature,
    form: RawForm | TypedForm,
    *,
    whole: Callable[[Any], Any] | None = None,
    nested: bool = False,
) -> Tool:
    """Return the tool of what was declared and read.

    Args:
        declared: Name, description, effect and options.
        call: The code.
        signature: What the code takes and gives back.
        form: What arguments must be like.
        whole: From the value of the arguments to what an `Input` parameter gets, where they differ.
        nested: Whether the code may start nested runs through a port it was constructed with.

    Raises:
        ToolDefinitionError: It cannot be a tool; the message says why.
    """
    options = declared.options
    name = declared.name
    output = OutputShaper(signature.returns, tool=name, max_bytes=options.get("max_result_bytes", RESULT_BYTES))
    load = options.get("resource")
    preview = options.get("preview")
    if signature.of(Source.LOADED) and load is None:
        msg = f"tool {name!r} takes a Loaded resource and names nobody who loads it: resource=load_…"
        raise ToolDefinitionError(msg)
    version = _version(options.get("version"), name, loads=load is not None)
    _check_arity(load, 2, f"resource of tool {name!r}", "(arguments, context)")
    _check_arity(preview, 3, f"preview of tool {name!r}", "(arguments, resource, context)")
    _check_rule(options.get("authorise"), 3, f"authorise of tool {name!r}", "(principal, resource, arguments)")
    approval = options.get("approval")
    condition = None if approval is None else approval.condition
    _check_rule(condition, 1, f"approval condition of tool {name!r}", "(arguments)")
    spec = _spec(declared, form, output)
    check_names(spec, open_output=output.is_open)

    def binder(providers: Providers) -> Plan:
        return make_plan(call, signature, providers, name, whole=whole, nested=nested)

    injected = bool(signature.of(Source.INJECTED))
    plan = Plan(_unbound(name), make_plan(call, _without_injected(signature), {}, name, whole=whole).is_async)
    if not injected:
        plan = binder({})
    return Tool(
        spec=spec,
        reader=ArgumentReader(form),
        execute=plan.execute,
        is_async=plan.is_async,
        load=load,
        version=version,
        preview=preview,
        output=output,
        home=home_of(call, signature, name) if spec.isolation is Isolation.PROCESS else "",
        binder=binder if injected else None,
    )


def _version(declared: str | Version | None, tool: str, *, loads: bool) -> Version | None:
    """Return what tells a version: the field of this name, or what was declared."""
    if declared is not None and not loads:
        msg = f"tool {tool!r} names the version of a resource that nobody loads: resource=load_…"
        raise ToolDefinitionError(msg)
    if not isinstance(declared, str):
        _check_arity(declared, 1, f"version of tool {tool!r}", "(resource)")
        return declared
    field_name = declared

    def version_of(resource: Any) -> Any:
        return resource[field_name] if is_mapping(resource) else getattr(resource, field_name)

    return version_of


def _without_injected(signature: Signature) -> Signature:
    kept = tuple(parameter for parameter in signature.parameters if parameter.source is not Source.INJECTED)
    return dataclasses.replace(signature, parameters=kept)


def _unbound(name: str) -> Execute:
    def execute(_value: Any, _resource: Any, _context: Context[Any]) -> Any:
        msg = f"tool {name!r} has dependencies: put it into a Toolset([...], providers={{...}})"
        raise ConfigurationError(msg)

    return execute


def _spec(declared: Declared, form: RawForm | TypedForm, output: OutputShaper) -> ToolSpec:
    options = declared.options
    name = declared.name
    _check_options(options, name)
    roles = options.get("roles")
    if isinstance(roles, str):
        msg = f"the roles of tool {name!r} are a set of words, as in roles={{{roles!r}}}, not {roles!r}"
        raise ToolDefinitionError(msg)
    secret = form.secret_fields
    try:
        return ToolSpec(
            name=name,
            description=declared.description,
            effect=_word(Effect, declared.effect, "effect"),
            input_schema=form.schema,
            output_schema=output.schema,
            roles=None if roles is None else frozenset(roles),
            open_world=options.get("open_world", False),
            authorise=options.get("authorise"),
            loads=options.get("resource") is not None,
            approval=options.get("approval"),
            waiver=options.get("waiver"),
            limits=_limits(options.get("limit", ())),
            timeout=duration(options.get("timeout", TOOL_TIMEOUT)),
            survival=_word(Survival, options.get("survival", Survival.ONCE), "survival"),
            isolation=_word(Isolation, options.get("isolation", Isolation.THREAD), "isolation"),
            redact=frozenset(options.get("redact", ())) | secret,
            redact_for_model=options.get("redact_for_model", False),
            secret_fields=secret,
            writable_output=options.get("writable_output", False),
            trusted_arguments=frozenset(options.get("trusted_arguments", ())),
            max_result_bytes=output.max_bytes,
            max_memory_bytes=options.get("max_memory_bytes", TOOL_MEMORY_BYTES),
            progress=_words(options.get("progress", {})),
            answer=_words(options.get("answer", {})),
        )
    except ValueError as error:
        msg = f"tool {name!r}: {error}"
        raise ToolDefinitionError(msg) from error


def _check_options(options: Mapping[str, object], tool: str) -> None:
    """Refuse what is no option: a rule that is misspelt, as `authorize`, would be left out, and nobody would know."""
    for odd in sorted(set(options) - _OPTIONS):
        from difflib import get_close_matches  # noqa: PLC0415 - for the error alone

        near = get_close_matches(odd, _OPTIONS, 1)
        mend = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(_OPTIONS))}"
        raise ToolDefinitionError(f"tool {tool!r} declares {odd!r}, which is no option of a tool; {mend}")


def _word(known: type[W], given: W | str, option: str) -> W:
    """Return the word of a set that was declared.

    Raises:
        ValueError: It is none of them.
    """
    try:
        return known(given)
    except ValueError as error:
        words = ", ".join(repr(word.value) for word in known)
        raise ValueError(f"{option} is one of {words}, not {given!r}") from error


def _limits(limit: str | Limit | Sequence[str | Limit]) -> tuple[Limit, ...]:
    several = (limit,) if isinstance(limit, str | RateLimit | ValueLimit) else limit
    return tuple(parse_limit(one) if isinstance(one, str) else one for one in several)


def _words(words: Words) -> dict[str, str]:
    return {"en": words} if isinstance(words, str) else dict(words)


def _check_rule(call: Callable[..., Any] | None, count: int, what: str, takes: str) -> None:
    """Refuse what the gate cannot ask: it waits for nothing, so an async rule would answer with a coroutine."""
    _check_arity(call, count, what, takes)
    if inspect.iscoroutinefunction(call):
        raise ToolDefinitionError(f"the {what} must not be async; what has to be fetched for it, resource= loads")


def _check_arity(call: Callable[..., Any] | None, count: int, what: str, takes: str) -> None:
    if call is None:
        return
    try:
        inspect.signature(call).bind(*(None,) * count)
    except (TypeError, ValueError) as error:
        msg = f"the {what} must take {takes}"
        raise ToolDefinitionError(msg) from error
