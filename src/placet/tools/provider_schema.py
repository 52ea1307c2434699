"""A tool's schema as a provider takes it: strict, relaxed or refused, with a report of what is lost."""

import json
from enum import StrEnum

import jiter

from placet.tools.dialects import Dialect
from placet.tools.restore import restore
from placet.tools.root_forms import relax
from placet.tools.schema_compiler import Compiler, NotStrictError, RefusedError
from placet.values.construction import dataclass
from placet.values.json import JsonObject, is_object


class Strictness(StrEnum):
    """What became of a schema."""

    STRICT = "strict"
    """The provider keeps the model to its shape."""
    RELAXED = "relaxed"
    """The provider is told of it and does not keep the model to it."""
    REFUSED = "refused"
    """The provider cannot even be told of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledSchema:
    """A tool's schema as a provider takes it.

    Attributes:
        schema: What is sent.
        strictness: What became of it.
        unenforced: What the provider does not enforce, as `"amount: minimum"`. The validator does.
        reason: Why it is not strict, or empty.
        optional: How many properties are optional.
        unions: How many properties are unions.
        full: The tool's own schema.
    """

    schema: JsonObject
    strictness: Strictness
    unenforced: tuple[str, ...] = ()
    reason: str = ""
    optional: int = 0
    unions: int = 0
    full: JsonObject

    def restore(self, text: str) -> str:
        """Return arguments that a model wrote for `schema` as the tool's own schema wants them.

        What is optional may have come as null, and a number of an enum as text. What is not
        an object stays as it is, for the reader to refuse.
        """
        if self.schema == self.full:
            return text
        try:
            sent = jiter.from_json(text.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
        except ValueError:
            return text
        if not is_object(sent):
            return text
        restored = restore(self.full, sent)
        return text if restored == sent else json.dumps(restored, ensure_ascii=False)


def compile_schema(full: JsonObject, dialect: Dialect | None, *, strict: bool) -> CompiledSchema:
    """Return a schema as a provider takes it.

    Args:
        full: The tool's own schema.
        dialect: What the provider takes, or None when it takes everything.
        strict: Whether it is asked to keep to it.
    """
    if dialect is None:
        return CompiledSchema(schema=full, strictness=Strictness.RELAXED, reason="nothing is enforced here", full=full)
    if not strict and dialect.closed_only:
        schema, lost = relax(full)
        return CompiledSchema(
            schema=schema, strictness=Strictness.RELAXED, unenforced=lost, reason="strict was not asked for", full=full
        )
    compiler = Compiler(full, dialect)
    try:
        schema = compiler.compile()
    except NotStrictError as error:
        schema, lost = relax(full)
        return CompiledSchema(
            schema=schema, strictness=Strictness.RELAXED, unenforced=lost, reason=str(error), full=full
        )
    except RefusedError as error:
        return CompiledSchema(schema={}, strictness=Strictness.REFUSED, reason=str(error), full=full)
    return CompiledSchema(
        schema=schema,
        strictness=Strictness.STRICT if dialect.closed_only else Strictness.RELAXED,
        unenforced=tuple(dict.fromkeys(compiler.lost)),
        optional=compiler.optional,
        unions=compiler.unions,
        full=full,
    )
