"""Tools as providers want to be told of them, strict where they can, and what is lost on the way."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, assert_never

from placet.errors import ConfigurationError, ToolDefinitionError
from placet.tools.dialects import FORMS, Form, RequestLimits
from placet.tools.provider_schema import CompiledSchema, Strictness, compile_schema
from placet.tools.root_forms import relax
from placet.values.construction import dataclass
from placet.values.json import JsonObject
from placet.values.tool import Effect, ToolSpec


@dataclass(frozen=True, slots=True)
class WireTool:
    """One tool as a provider is told of it.

    Attributes:
        name: Of the tool.
        entry: What is sent.
        compiled: What became of its schema.
    """

    name: str
    entry: JsonObject
    compiled: CompiledSchema


_RISK: Final = {Effect.DESTRUCTIVE: 0, Effect.WRITE: 1, Effect.READ: 2}


def compile_tools(specs: Iterable[ToolSpec], form: str, *, strict: bool = False) -> tuple[WireTool, ...]:
    """Return tools as a provider is told of them, in the order of the specs.

    Where a provider bounds the strict tools of one request, the least risky lose it first.

    Args:
        specs: What the tools declare.
        form: `"openai-chat"`, `"openai-responses"`, `"anthropic"`, `"gemini"`, `"mcp"` or `"json-schema"`.
        strict: Whether the provider is asked to keep to the schemas.

    Raises:
        ConfigurationError: There is no such form.
        ToolDefinitionError: The provider cannot be told of a tool.
    """
    known = FORMS.get(form)
    if known is None:
        msg = f"there is no form {form!r} of tools; take one of {', '.join(sorted(FORMS))}"
        raise ConfigurationError(msg)
    compiled = [(spec, compile_schema(spec.input_schema, known.dialect, strict=strict)) for spec in specs]
    for spec, schema in compiled:
        if schema.strictness is Strictness.REFUSED:
            msg = f"tool {spec.name!r} cannot be told in the form {form!r}: {schema.reason}"
            raise ToolDefinitionError(msg)
    if known.limits is not None:
        compiled = _within(compiled, known.limits)
    return tuple(WireTool(spec.name, _entry(spec, schema, known), schema) for spec, schema in compiled)


def _within(
    compiled: list[tuple[ToolSpec, CompiledSchema]], limits: RequestLimits
) -> list[tuple[ToolSpec, CompiledSchema]]:
    """Return the same with strict taken from the least risky tools until the request fits."""
    order = sorted(
        (place for place, (_, schema) in enumerate(compiled) if schema.strictness is Strictness.STRICT),
        key=lambda place: (
            _RISK[compiled[place][0].effect],
            not compiled[place][0].open_world,
            compiled[place][1].optional + compiled[place][1].unions,
        ),
    )
    kept: set[int] = set()
    optional = unions = 0
    for place in order:
        schema = compiled[place][1]
        if (
            len(kept) < limits.tools
            and optional + schema.optional <= limits.optional
            and unions + schema.unions <= limits.unions
        ):
            kept.add(place)
            optional += schema.optional
            unions += schema.unions
    return [
        (spec, schema if place in kept or schema.strictness is not Strictness.STRICT else _loosened(schema))
        for place, (spec, schema) in enumerate(compiled)
    ]


def _loosened(schema: CompiledSchema) -> CompiledSchema:
    relaxed, lost = relax(schema.full)
    return replace(
        schema,
        schema=relaxed,
        strictness=Strictness.RELAXED,
        unenforced=lost,
        reason="the request has no room for another strict tool",
    )


def _entry(spec: ToolSpec, compiled: CompiledSchema, form: Form) -> JsonObject:
    strict = compiled.strictness is Strictness.STRICT
    schema = compiled.schema
    match form.name:
        case "openai-chat":
            function: dict[str, Any] = {"name": spec.name, "description": spec.description, "parameters": schema}
            if strict:
                function["strict"] = True
            return {"type": "function", "function": function}
        case "openai-responses":  # where strict is left out, the provider tries it and says nothing when it fails
            return {
                "type": "function", "name": spec.name, "description": spec.description, "parameters": schema,
                "strict": strict,
            }  # fmt: skip
        case "anthropic":
            entry: dict[str, Any] = {"name": spec.name, "description": spec.description, "input_schema": schema}
            return {**entry, "strict": True} if strict else entry
        case "mcp":
            return _mcp(spec, schema)
        case "gemini" | "json-schema":
            return {"name": spec.name, "description": spec.description, "parameters": schema}
        case _:
            assert_never(form.name)  # type: ignore[arg-type]  # FORMS has no other names


def _mcp(spec: ToolSpec, schema: JsonObject) -> JsonObject:
    entry: dict[str, Any] = {"name": spec.name, "description": spec.description, "inputSchema": schema}
    if spec.output_schema is not None:
        entry["outputSchema"] = spec.output_schema
    entry["annotations"] = {
        "readOnlyHint": spec.effect is Effect.READ,
        "destructiveHint": spec.effect is Effect.DESTRUCTIVE,
        "idempotentHint": spec.effect is Effect.READ,
        "openWorldHint": spec.open_world,
    }
    return entry
