"""Names that a tool's declaration mentions must exist; names that look like secrets are kept out."""

import re
from collections.abc import Mapping
from typing import Any, Final

from placet.errors import ToolDefinitionError
from placet.tools.complaints import nearest, property_names
from placet.values.tool import ToolSpec

_SECRET: Final = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|passcode|pwd|secret|token|api_?key|access_?key|private_?key|"
    r"authorization|credentials?)(?:$|_(?!count|limit|budget|type|name|id$|ids$))"
)
"""Credentials alone: a bank account is a matter for `redact`, a password never is."""

PLACEHOLDER: Final = re.compile(r"\{(\w+)(?:\.\w+)*\}")
"""A place in a template that an argument or a result's field fills."""


def secret_names(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the property names in a schema that look like credentials, at any depth."""
    return frozenset(name for name in property_names(schema) if _SECRET.search(_words(name)))


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def check_names(spec: ToolSpec, *, open_output: bool) -> None:
    """Refuse a tool that mentions an argument or a field which does not exist.

    Args:
        spec: What the tool declares.
        open_output: Whether it declares nothing of what comes back, so that any field may be in it.

    Raises:
        ToolDefinitionError: A name in `redact`, `trusted_arguments`, `progress` or `answer`
            is not one of the tool's.
    """
    properties = spec.input_schema.get("properties")
    arguments = set(map(str, properties)) if isinstance(properties, Mapping) else set()
    anywhere = property_names(spec.input_schema)
    result = property_names(spec.output_schema or {})
    _check(spec, "trusted_arguments", spec.trusted_arguments, arguments | anywhere)
    if not open_output:
        _check(spec, "redact", spec.redact, anywhere | result)
    for template in spec.progress.values():
        _check(spec, "progress", PLACEHOLDER.findall(template), arguments)
    if result:
        for template in spec.answer.values():
            _check(spec, "answer", PLACEHOLDER.findall(template), result | arguments)


def _check(spec: ToolSpec, where: str, names: Any, known: set[str]) -> None:
    for name in names:
        if name not in known:
            msg = f"{where} of tool {spec.name!r} names {name!r}, which the tool does not have; {nearest(name, known)}"
            raise ToolDefinitionError(msg)
