"""Names that a tool's declaration mentions must exist; names that look like secrets are kept out."""

from collections.abc import Mapping
from typing import Any

from placet.errors import ConfigurationError, ToolDefinitionError
from placet.redaction.keys import Secrecy, secrecy
from placet.tools.complaints import nearest, property_names
from placet.values.json import is_mapping
from placet.values.tool import ToolSpec
from placet.words.names import names_in_schema
from placet.words.template import check_template


def secret_names(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the property names in a schema that look like credentials, at any depth."""
    return frozenset(name for name in property_names(schema) if secrecy(name) is Secrecy.SECRET)


def check_names(spec: ToolSpec, *, open_output: bool) -> None:
    """Refuse a tool that mentions an argument or a field which does not exist.

    Args:
        spec: What the tool declares.
        open_output: Whether it declares nothing of what comes back, so that any field may be in it.

    Raises:
        ToolDefinitionError: A name in `redact`, `trusted_arguments`, `progress` or `answer`
            is not one of the tool's, or a template is malformed.
    """
    properties = spec.input_schema.get("properties")
    arguments: set[str] = set(map(str, properties)) if is_mapping(properties) else set()
    anywhere = property_names(spec.input_schema)
    result = property_names(spec.output_schema or {})
    _check(spec, "trusted_arguments", spec.trusted_arguments, arguments | anywhere)
    if not open_output:
        _check(spec, "redact", spec.redact, anywhere | result)
    for template in spec.progress.values():
        _check_template(spec, "progress", template, names_in_schema(spec.input_schema))
    for template in spec.answer.values():
        _check_template(spec, "answer", template, _names_in_answer(spec.output_schema, open_output=open_output))


def _names_in_answer(schema: Mapping[str, Any] | None, *, open_output: bool) -> frozenset[str]:
    """Return the names that an answer may use: the result's own, or `result` for one that is no object."""
    if open_output or schema is None:
        return frozenset({"*"})
    names = names_in_schema(schema)
    return names | {"result"} | {f"result.{name}" for name in names}


def _check_template(spec: ToolSpec, where: str, template: str, known: frozenset[str]) -> None:
    try:
        check_template(template, known)
    except ConfigurationError as error:
        raise ToolDefinitionError(f"{where} of tool {spec.name!r}: {error}") from error


def _check(spec: ToolSpec, where: str, names: Any, known: set[str]) -> None:
    for name in names:
        if name not in known:
            msg = f"{where} of tool {spec.name!r} names {name!r}, which the tool does not have; {nearest(name, known)}"
            raise ToolDefinitionError(msg)
