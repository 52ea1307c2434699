"""What each provider takes of JSON Schema when it promises to keep to a schema ("strict").

Facts of late 2026, from the providers' own SDKs and guides. Whatever a provider enforces,
the full schema is validated afterwards: strict decoding helps the model, it is no gate.
"""

from typing import Final

from placet.values.construction import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The subset of JSON Schema that a provider enforces.

    Attributes:
        name: Of the provider, as reports say it.
        keywords: Assertions that it enforces, apart from the shape of objects, lists and unions.
        formats: Values of `format` that it knows.
        all_required: Whether every property must be required; what is optional becomes nullable.
        references: Whether `$ref` and `$defs` may stand in a schema.
        recursion: Whether a type may hold itself.
        integer_enums: Whether an enum may hold numbers; if not, they travel as text.
        closed_only: Whether an object must name all its properties.
        null_type: Whether null is a type; if not, what may be null is marked `nullable`.
        type_lists: Whether `type` may be a list; if not, each type is a form of its own.
        explains: Whether what cannot be enforced is said in the description instead.
        max_properties: Of all objects of a schema together.
        max_depth: Of nested objects.
        max_enum_values: Of all enums together.
        max_name_chars: Of all names and enum values together.
    """

    name: str
    keywords: frozenset[str]
    formats: frozenset[str]
    all_required: bool = False
    references: bool = True
    recursion: bool = True
    integer_enums: bool = True
    closed_only: bool = True
    null_type: bool = True
    type_lists: bool = True
    explains: bool = True
    max_properties: int | None = None
    max_depth: int | None = None
    max_enum_values: int | None = None
    max_name_chars: int | None = None


_FORMATS: Final = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

OPENAI: Final = Dialect(
    name="OpenAI",
    keywords=frozenset(
        ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "minItems", "maxItems"]
    ),
    formats=_FORMATS,
    all_required=True,
    max_properties=5_000,
    max_depth=10,
    max_enum_values=1_000,
    max_name_chars=120_000,
)
"""`minLength` and `maxLength` are left out: OpenAI itself takes them, many compatible servers do not."""

ANTHROPIC: Final = Dialect(
    name="Anthropic",
    keywords=frozenset(),
    formats=_FORMATS | {"uri"},
    recursion=False,
    type_lists=False,
)

GEMINI: Final = Dialect(
    name="Gemini",
    keywords=frozenset(["minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern"]),
    formats=frozenset({"date-time"}),
    references=False,
    recursion=False,
    integer_enums=False,
    closed_only=False,
    null_type=False,
)
"""Gemini's older function declarations: an OpenAPI subset without references, and enums of texts alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """What a provider takes of strict tools in one request, summed over all of them.

    Attributes:
        tools: How many tools.
        optional: How many parameters that may be left out.
        unions: How many parameters of several types.
    """

    tools: int
    optional: int
    unions: int


ANTHROPIC_LIMITS: Final = RequestLimits(tools=20, optional=24, unions=16)


@dataclass(frozen=True, slots=True)
class Form:
    """How a provider wants to be told of a tool.

    Attributes:
        name: As `Toolset.schemas` takes it.
        dialect: Its subset of JSON Schema, or None where the full schema is sent.
        limits: What it takes in one request, or None.
        always: Whether its subset holds without strict too.
    """

    name: str
    dialect: Dialect | None = None
    limits: RequestLimits | None = None
    always: bool = False


FORMS: Final = {
    form.name: form
    for form in (
        Form("openai-chat", OPENAI),
        Form("openai-responses", OPENAI),
        Form("anthropic", ANTHROPIC, ANTHROPIC_LIMITS),
        Form("gemini", GEMINI, always=True),
        Form("mcp"),
        Form("json-schema"),
    )
}
