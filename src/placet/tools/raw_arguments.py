"""Arguments of a tool that is given by a JSON Schema: validated with jsonschema-rs, offline."""

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from placet.errors import ToolDefinitionError
from placet.tools.arguments import Arguments, refuse
from placet.tools.complaints import MAX_COMPLAINTS, nearest
from placet.tools.names import secret_names
from placet.values.decision import Deny
from placet.values.json import JsonObject

PATTERN_STEPS = 100_000
"""So many steps may a pattern go back; one that needs more refuses what it is matched against."""

PATTERN_BYTES = 10_000_000


class RawArguments:
    """A JSON object of which every argument is an attribute.

    It has no methods of its own, so that an argument may have any name: `items` is the
    argument of that name. `args["name"]`, `name in args`, `len` and iteration do as with a dict.
    """

    __slots__ = ("__values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self.__values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Any:
        return self.__values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.__values

    def __iter__(self) -> Iterator[str]:
        return iter(self.__values)

    def __len__(self) -> int:
        return len(self.__values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RawArguments) and self.__values == other.__values

    __hash__ = None  # type: ignore[assignment]  # it holds dicts and lists


def plain_dict(arguments: RawArguments) -> dict[str, Any]:
    """Return the arguments as a dict of its own."""
    return {name: arguments[name] for name in arguments}


def offline(uri: str) -> Any:
    """Refuse to fetch a schema: a tool's meaning must not depend on what a server says today.

    Raises:
        ValueError: Always.
    """
    msg = f"{uri!r} is not fetched: put the schema under $defs and refer to it by #/$defs/..."
    raise ValueError(msg)


def compile_validator(schema: Any, *, formats: bool = True) -> jsonschema_rs.Validator:
    """Return the validator of a JSON Schema: offline, formats checked, patterns bounded.

    Raises:
        jsonschema_rs.ValidationError: It is no schema, or refers to what is not in it.
    """
    options = jsonschema_rs.FancyRegexOptions(backtrack_limit=PATTERN_STEPS, size_limit=PATTERN_BYTES)
    return jsonschema_rs.validator_for(schema, retriever=offline, validate_formats=formats, pattern_options=options)


class RawForm:
    """What the arguments of a tool must be like that is given by a JSON Schema.

    The root is closed unless the schema says otherwise; so are objects below it that name
    their properties and stand in no combination. Defaults of properties are filled in.

    Attributes:
        schema: The schema, closed.
        secret_fields: Names of the fields that look like secrets.
    """

    __slots__ = ("_defaults", "_secret", "_validator", "schema", "secret_fields")

    def __init__(self, schema: Mapping[str, Any], tool: str) -> None:
        plain = _plain_schema(schema, tool)
        self.schema: JsonObject = _close_root(plain)
        self.secret_fields = secret_names(self.schema)
        self._defaults = _has_defaults(self.schema)
        try:
            self._validator = compile_validator(self.schema)
        except (ValueError, jsonschema_rs.ValidationError) as error:
            msg = f"the parameters of tool {tool!r} are no JSON Schema that can be used offline: {error}"
            raise ToolDefinitionError(msg) from error

    def check(self, text: bytes, parsed: dict[str, Any], note: str | None) -> Arguments | Deny:
        """Return the arguments, validated and written down, or why they are refused."""
        del text
        try:
            if not self._validator.is_valid(parsed):
                return self._complain(parsed)
            if self._defaults:
                filled = _fill(self.schema, copy.deepcopy(parsed))
                if self._validator.is_valid(filled):
                    parsed = filled
        except ValueError:  # a pattern went back too often
            return refuse("the arguments could not be checked against a pattern of the tool", "send shorter text")
        written = json.dumps(parsed, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return Arguments(RawArguments(parsed), written, note)

    def _complain(self, parsed: dict[str, Any]) -> Deny:
        said: list[str] = []
        hint: str | None = None
        for error in self._validator.iter_errors(parsed):
            line, found = _complaint(error, self.schema)
            hint = hint or found
            if line not in said:
                said.append(line)
            if len(said) > MAX_COMPLAINTS:
                break
        return refuse("; ".join(said[:MAX_COMPLAINTS]) or "the arguments have not the declared form", hint)


def _complaint(error: jsonschema_rs.ValidationError, schema: JsonObject) -> tuple[str, str | None]:
    """Return what is said of one error. Its own message holds the value, which is never repeated."""
    path = ".".join(str(part)[:60] for part in error.instance_path)
    kind = error.kind
    name = kind.name
    where = path or "the arguments"
    match name:
        case "additionalProperties" | "unevaluatedProperties":
            unexpected = list(getattr(kind, "unexpected", []))
            shown = ", ".join(str(one)[:60] for one in unexpected[:5])
            known = schema.get("properties", {}) if not path else {}
            hint = nearest(unexpected[0], known) if unexpected and known else None  # type: ignore[arg-type]  # an object, by JSON Schema
            return f"{f'{path}.' if path else ''}{shown}: is unknown to this tool", hint
        case "required":
            return f"{f'{path}.' if path else ''}{getattr(kind, 'property', '')}: is required", None
        case "type":
            types = getattr(kind, "types", ())
            return f"{where}: must be of type {' or '.join(map(str, types))}", None
        case "enum":
            options = getattr(kind, "options", ())
            return f"{where}: must be one of {json.dumps(options, ensure_ascii=False)[:300]}", None
        case _:
            rule = error.schema_path[-1] if error.schema_path else name
            return f"{where}: does not satisfy {rule!r} of the schema", None


# ── building ──────────────────────────────────────────────────────────────────────────


def _plain_schema(schema: Mapping[str, Any], tool: str) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = json.loads(json.dumps(schema, allow_nan=False))
    except (TypeError, ValueError) as error:
        msg = f"the parameters of tool {tool!r} are not JSON: {error}"
        raise ToolDefinitionError(msg) from error
    kinds = plain.get("type", "object")
    if "object" not in ([kinds] if isinstance(kinds, str) else kinds):
        msg = f"the parameters of tool {tool!r} must be a schema of an object, not of {kinds!r}"
        raise ToolDefinitionError(msg)
    return {**plain, "type": "object"}


_COMBINED = frozenset({
    "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas",
    "patternProperties", "additionalProperties", "unevaluatedProperties",
})  # fmt: skip


def _close_root(schema: dict[str, Any]) -> dict[str, Any]:
    stated = {"additionalProperties", "unevaluatedProperties"} & schema.keys()
    if stated:
        return _close_below(schema)
    closed = _close_below(schema)
    combined = _COMBINED & schema.keys() - {"patternProperties"}
    closed["unevaluatedProperties" if combined else "additionalProperties"] = False
    closed.setdefault("properties", {})
    return closed


def _close_below(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with the objects closed that stand under properties and items, in no combination."""
    closed = dict(schema)
    properties = closed.get("properties")
    if isinstance(properties, dict):
        closed["properties"] = {name: _close_object(inner) for name, inner in properties.items()}
    if isinstance(closed.get("items"), dict):
        closed["items"] = _close_object(closed["items"])
    return closed


def _close_object(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    closed = _close_below(schema)
    if "properties" in closed and not _COMBINED & closed.keys():
        closed["additionalProperties"] = False
    return closed


def _has_defaults(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    inner = [*schema.get("properties", {}).values(), schema.get("items")]
    return "default" in schema or any(_has_defaults(part) for part in inner)


def _fill(schema: Any, value: Any) -> Any:
    if isinstance(value, dict) and isinstance(schema, Mapping):
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                _fill(inner, value[name])
            elif isinstance(inner, Mapping) and "default" in inner:
                value[name] = copy.deepcopy(inner["default"])
    elif isinstance(value, list) and isinstance(schema, Mapping):
        for item in value:
            _fill(schema.get("items"), item)
    return value
