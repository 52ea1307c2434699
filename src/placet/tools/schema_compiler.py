"""The compiler from JSON Schema into the subset that a provider enforces."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from placet.tools.dialects import Dialect
from placet.tools.root_forms import ROOT_FORMS, relax
from placet.tools.schema_parts import definition, definition_name, definitions, names_type
from placet.values.json import JsonObject, is_array, is_mapping

Schema = dict[str, Any]


class NotStrictError(Exception):
    """The subset cannot say it. The message says what, and where."""


class RefusedError(Exception):
    """The wire cannot carry it. The message says what, and where."""


_STRUCTURE: Final = frozenset(
    [
        "properties",
        "required",
        "additionalProperties",
        "unevaluatedProperties",
        "items",
        "prefixItems",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "$ref",
        "$defs",
        "definitions",
    ]
)
"""Keywords that the compiler rewrites one by one."""

_ANNOTATIONS: Final = frozenset({
    "title", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$comment", "discriminator",
})  # fmt: skip
_IMPOSSIBLE: Final = ("not", "if", "then", "else", "dependentSchemas", "dependentRequired", "$dynamicRef")
_LOOK_AROUND: Final = re.compile(r"\(\?(?:[=!]|<[=!])")


class Compiler:
    """Rewrites one schema into one dialect.

    Attributes:
        lost: What the provider does not enforce, as `"amount: minimum"`.
        optional: How many properties are optional.
        unions: How many properties are unions.
    """

    def __init__(self, full: JsonObject, dialect: Dialect) -> None:
        self._root: Any = full
        self._dialect = dialect
        self._open: list[str] = []
        self._defs: dict[str, Schema] = {}
        self._names = 0
        self._properties = 0
        self._enum_values = 0
        self.lost: list[str] = []
        self.optional = 0
        self.unions = 0

    def compile(self) -> Schema:
        """Return the schema in the dialect.

        Raises:
            NotStrictError: The dialect cannot say it.
            RefusedError: The wire cannot carry it.
        """
        root = {key: value for key, value in self._root.items() if key not in ("$defs", "definitions")}
        forms = [key for key in ROOT_FORMS if key in root and key != "unevaluatedProperties"]
        if forms and self._dialect.closed_only:
            msg = f"the arguments say {forms[0]!r}"
            raise NotStrictError(msg)
        if forms:
            relaxed, lost = relax(self._root)
            self.lost.extend(lost)
            root = {key: value for key, value in relaxed.items() if key not in ("$defs", "definitions")}
        schema = self._schema(root, "arguments", 0)
        schema["type"] = "object"
        if self._defs:
            schema["$defs"] = self._defs
        self._check_limits()
        return schema

    def _schema(self, schema: Any, path: str, depth: int) -> Schema:
        if not is_mapping(schema) or (not schema and self._dialect.closed_only):
            msg = f"{path} may be anything"
            raise NotStrictError(msg)
        if "$ref" in schema:
            return self._reference(schema, path, depth)
        schema = self._merged(schema, path)
        impossible = [key for key in _IMPOSSIBLE if key in schema]
        if impossible and self._dialect.closed_only:
            msg = f"{path} says {impossible[0]!r}"
            raise NotStrictError(msg)
        made: Schema = {}
        words: list[str] = []
        for key, value in schema.items():
            self._keyword(made, words, key, value, path)
        self._union(made, schema, path, depth)
        if names_type(schema, "object") or "properties" in schema:
            self._object(made, schema, path, depth + 1)
        if names_type(schema, "array") or "items" in schema or "prefixItems" in schema:
            self._array(made, words, schema, path, depth)
        self._enum(made, schema, path)
        return self._finished(made, words, path)

    def _finished(self, made: Schema, words: list[str], path: str) -> Schema:
        if self._dialect.closed_only and not made.keys() & {"type", "anyOf", "enum", "$ref"}:
            msg = f"{path} may be anything"
            raise NotStrictError(msg)
        if is_array(made.get("type")) and not self._dialect.type_lists:
            made = _split(made)
        if words and self._dialect.explains:
            described = made.get("description", "")
            made["description"] = f"{described} ({'; '.join(words)})".strip()
        return made

    def _keyword(self, made: Schema, words: list[str], key: str, value: Any, path: str) -> None:
        if self._enforces(key, value):
            made[key] = value
        elif key == "default":
            words.append(f"default: {json.dumps(value, ensure_ascii=False)}")
        elif key not in _STRUCTURE | _ANNOTATIONS:
            self.lost.append(f"{path}: {key}")
            words.append(f"{key}: {json.dumps(value, ensure_ascii=False)}")

    def _enforces(self, key: str, value: Any) -> bool:
        match key:
            case "type" | "description":
                return True
            case "format":
                return value in self._dialect.formats
            case "pattern":
                return key in self._dialect.keywords and not _LOOK_AROUND.search(str(value))
            case "minItems":
                return key in self._dialect.keywords or value in (0, 1)
            case _:
                return key in self._dialect.keywords

    def _merged(self, schema: Mapping[str, Any], path: str) -> Mapping[str, Any]:
        parts = schema.get("allOf")
        if parts is None:
            return schema
        if len(parts) == 1 and is_mapping(parts[0]):
            rest = {key: value for key, value in schema.items() if key != "allOf"}
            inner = self._resolve(parts[0], path) if "$ref" in parts[0] else parts[0]
            return {**inner, **rest}
        if self._dialect.closed_only:
            msg = f"{path} says 'allOf'"
            raise NotStrictError(msg)
        self.lost.append(f"{path}: allOf")
        return schema

    def _union(self, made: Schema, schema: Mapping[str, Any], path: str, depth: int) -> None:
        arms = schema.get("anyOf") or schema.get("oneOf")
        if arms:
            if "oneOf" in schema:
                self.lost.append(f"{path}: that only one form may fit")
            made["anyOf"] = [self._schema(arm, path, depth) for arm in arms]
            made.pop("type", None)
        if not self._dialect.null_type:
            _mark_nullable(made)

    def _object(self, made: Schema, schema: Mapping[str, Any], path: str, depth: int) -> None:
        rest = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if self._dialect.closed_only:
            if rest not in (None, False) or (rest is None and "properties" not in schema):
                msg = f"{path} is an object of any keys"
                raise NotStrictError(msg)
            made["additionalProperties"] = False
        made["type"] = schema.get("type", "object")
        if self._dialect.max_depth is not None and depth > self._dialect.max_depth:
            msg = f"{path} is nested deeper than {self._dialect.max_depth} objects"
            raise NotStrictError(msg)
        required = list(schema.get("required", []))
        properties: Schema = {}
        for name, inner in schema.get("properties", {}).items():
            place = name if path == "arguments" else f"{path}.{name}"
            made_inner = self._schema(inner, place, depth)
            if name not in required:
                self.optional += 1
                if self._dialect.all_required:
                    made_inner = _nullable(made_inner)
            if "anyOf" in made_inner or is_array(made_inner.get("type")):
                self.unions += 1
            self._properties += 1
            self._names += len(name)
            properties[name] = made_inner
        made["properties"] = properties
        made["required"] = list(properties) if self._dialect.all_required else required

    def _array(self, made: Schema, words: list[str], schema: Mapping[str, Any], path: str, depth: int) -> None:
        prefix = schema.get("prefixItems")
        if prefix is not None:
            distinct: list[Schema] = []
            for place, item in enumerate(prefix):
                inner = self._schema(item, f"{path}.{place}", depth)
                if inner not in distinct:
                    distinct.append(inner)
            made["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
            if len(distinct) > 1:
                self.lost.append(f"{path}: which item is of which type")
                words.append("in this order: " + ", ".join(str(item.get("type", "value")) for item in prefix))
        elif "items" in schema:
            made["items"] = self._schema(schema["items"], f"{path}[]", depth)
        elif self._dialect.closed_only:
            msg = f"{path} is a list of anything"
            raise NotStrictError(msg)
        else:
            made["items"] = {}

    def _enum(self, made: Schema, schema: Mapping[str, Any], path: str) -> None:
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if values is None:
            return
        if not self._dialect.integer_enums and any(not isinstance(value, str) for value in values):
            made["type"] = "string"
            values = [value if isinstance(value, str) else json.dumps(value) for value in values]
        if not self._dialect.null_type:
            values = [value for value in values if value != "null"]
        made["enum"] = list(values)
        made.setdefault("type", _type_of(values))
        self._enum_values += len(values)
        size = sum(len(value) for value in values if isinstance(value, str))
        self._names += size
        if len(values) > _LONG_ENUM and size > _LONG_ENUM_CHARS and self._dialect.max_enum_values is not None:
            msg = f"{path} has an enum of more than {_LONG_ENUM_CHARS} characters"
            raise NotStrictError(msg)

    def _resolve(self, schema: Mapping[str, Any], path: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] | None = definition(self._root, str(schema["$ref"]))
        if found is None:
            msg = f"{path} refers to {schema['$ref']!r}, which the schema does not define"
            raise NotStrictError(msg)
        return found

    def _reference(self, schema: Mapping[str, Any], path: str, depth: int) -> Schema:
        name = definition_name(str(schema["$ref"]))
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        recursive = name in self._open or self._holds_itself(name)
        if recursive and not self._dialect.recursion:
            msg = f"{path}: {name} holds itself, which {self._dialect.name} does not take"
            raise NotStrictError(msg) if self._dialect.references else RefusedError(msg)
        target = self._resolve(schema, path)
        if not recursive and (siblings or not self._dialect.references):
            return self._schema({**target, **siblings}, path, depth)
        if siblings.keys() - {"default"}:
            self.lost.extend(f"{path}: {key}" for key in siblings)
        if name not in self._defs and name not in self._open:
            self._open.append(name)
            self._defs[name] = self._schema(target, name, depth)
            self._open.remove(name)
        return {"$ref": f"#/$defs/{name}"}

    def _holds_itself(self, name: str) -> bool:
        known = definitions(self._root)
        seen: set[str] = set()
        pending = [known.get(name)]
        while pending:
            for reference in _references(pending.pop()):
                if reference == name:
                    return True
                if reference not in seen:
                    seen.add(reference)
                    pending.append(known.get(reference))
        return False

    def _check_limits(self) -> None:
        dialect = self._dialect
        for what, count, limit in (
            ("properties", self._properties, dialect.max_properties),
            ("enum values", self._enum_values, dialect.max_enum_values),
            ("characters of names and enums", self._names, dialect.max_name_chars),
        ):
            if limit is not None and count > limit:
                msg = f"the arguments have {count} {what}; {dialect.name} takes {limit}"
                raise NotStrictError(msg)


_LONG_ENUM: Final = 250
_LONG_ENUM_CHARS: Final = 15_000


def _nullable(schema: Schema) -> Schema:
    if "anyOf" in schema:
        arms = schema["anyOf"]
        return schema if {"type": "null"} in arms else {**schema, "anyOf": [*arms, {"type": "null"}]}
    kinds = schema.get("type")
    if is_array(kinds) and "null" in kinds:
        return schema
    described = {key: schema[key] for key in ("description",) if key in schema}
    inner = {key: value for key, value in schema.items() if key != "description"}
    return {"anyOf": [inner, {"type": "null"}], **described}


_OWN: Final = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "string": frozenset({"format", "pattern"}),
}
"""Keywords that speak of one type alone."""


def _split(made: Schema) -> Schema:
    """Return a schema of several types as a choice of schemas of one type each."""
    kinds = made.pop("type")
    if "enum" in made:
        return made
    described = {key: made.pop(key) for key in ("description",) if key in made}
    foreign = frozenset[str]().union(*_OWN.values())
    arms = [
        {"type": kind, **{key: value for key, value in made.items() if key in _OWN.get(kind, ()) or key not in foreign}}
        for kind in kinds
    ]
    return {"anyOf": arms, **described}


def _mark_nullable(made: Schema) -> None:
    """Say that a value may be null in the words of a wire that has no type for it."""
    arms = made.get("anyOf", [])
    kept = [arm for arm in arms if arm.get("type") != "null"]
    if len(kept) < len(arms):
        made["nullable"] = True
        made["anyOf"] = kept
        if len(kept) == 1:
            del made["anyOf"]
            for key, value in kept[0].items():
                made.setdefault(key, value)
    kinds = made.get("type")
    if is_array(kinds):
        rest = [kind for kind in kinds if kind != "null"]
        if len(rest) < len(kinds):
            made["nullable"] = True
        made["type"] = rest[0] if len(rest) == 1 else "string"


_KINDS: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def _type_of(values: Sequence[object]) -> Any:
    kinds = sorted({_KINDS.get(type(value), "object") for value in values})
    return kinds[0] if len(kinds) == 1 else kinds


def _references(schema: Any) -> list[str]:
    found: list[str] = []
    pending = [schema]
    while pending:
        place = pending.pop()
        if is_mapping(place):
            reference = place.get("$ref")
            if isinstance(reference, str):
                found.append(definition_name(reference))
            pending.extend(place.values())
        elif is_array(place):
            pending.extend(place)
    return found
