"""Pydantic's core schema of a type, rewritten so that JSON is read and written by placet's laws.

The user's classes are not touched: what is rewritten is a copy, and validator and
serialiser are built from it. The laws are these:

- objects are closed, nested ones too, unless their class says `extra="allow"`;
- bytes travel as base64;
- a boolean is no number, not even where Python says that `True == 1`;
- what is written down is what would be read again: under the names that are accepted,
  excluded fields included, computed ones left out, secrets with their value;
- sets are written in one order.
"""

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from typing import Any, Final, TypeAlias, TypeGuard, cast

from pydantic_core import PydanticCustomError, SchemaSerializer, SchemaValidator, core_schema, to_json

from placet.tools.encode import order_in_set
from placet.values.construction import dataclass
from placet.values.json import is_array, is_mapping

Node = dict[str, Any]

_ONE: Final = (
    "schema", "items_schema", "keys_schema", "values_schema", "extras_schema", "extras_keys_schema", "lax_schema",
    "strict_schema", "json_schema", "python_schema", "return_schema", "arguments_schema", "var_args_schema",
    "var_kwargs_schema",
)  # fmt: skip
_MANY: Final = ("choices", "steps", "definitions", "fields", "items_schema", "arguments_schema")

CLOSED_CONFIG: Final = {
    "extra_fields_behavior": "forbid",
    "val_json_bytes": "base64",
    "ser_json_bytes": "base64",
    "ser_json_timedelta": "iso8601",
}

_EXACT: Final = frozenset({
    "any", "bool", "bytes", "date", "datetime", "decimal", "enum", "float", "int", "literal", "none", "nullable", "str",
    "time", "timedelta", "url", "multi-host-url", "uuid", "list", "tuple", "set", "frozenset", "dict", "union",
    "tagged-union", "model", "model-fields", "model-field", "dataclass", "dataclass-args", "dataclass-field",
    "typed-dict", "typed-dict-field", "default", "definitions", "definition-ref", "named-tuple", "complex",
    "json-or-python", "lax-or-strict",
})  # fmt: skip
"""Kinds of which it is known that reading what was written gives the same again."""


@dataclass(frozen=True, slots=True)
class Default:
    """One fixed default.

    Attributes:
        name: The field that has it.
        value: The default.
        schema: What it must satisfy, rewritten.
        plain: Whether no function of the user's has a say in that.
    """

    name: str
    value: Any
    schema: Any
    plain: bool


@dataclass(slots=True)
class Traits:
    """What a rewritten schema holds, gathered on the way.

    Attributes:
        kinds: Every kind of node.
        secrets: Names of the fields that hold secrets by their type.
        own_init: Classes whose `__init__` would be run instead of the rewritten laws.
        factories: Whether a default comes from a function that is not a plain container.
        defaults: Each fixed default.
    """

    kinds: set[str] = field(default_factory=set[str])
    secrets: set[str] = field(default_factory=set[str])
    own_init: list[type] = field(default_factory=list[type])
    factories: bool = False
    defaults: list["Default"] = field(default_factory=list[Any])

    @property
    def stable(self) -> bool:
        """Whether what is written down is certain to be read as the same again."""
        return not self.factories and self.kinds <= _EXACT

    @property
    def ordered(self) -> bool:
        """Whether equal arguments are written as equal texts without sorting keys."""
        return not self.kinds & {"any", "dict", "model-extras"} and self.kinds <= _EXACT


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten core schema, and what it holds.

    Attributes:
        schema: The core schema, as pydantic-core takes it.
        traits: What was found in it on the way.
    """

    schema: Any
    traits: Traits

    def validator(self) -> SchemaValidator:
        """Return a validator that keeps the laws."""
        return SchemaValidator(self.schema, _root_config(), _use_prebuilt=False)

    def serializer(self) -> SchemaSerializer:
        """Return a serialiser that keeps the laws."""
        return SchemaSerializer(self.schema, _root_config(), _use_prebuilt=False)


def _root_config() -> core_schema.CoreConfig:
    return cast("core_schema.CoreConfig", CLOSED_CONFIG)


def rewrite_for_arguments(schema: Mapping[str, Any]) -> Rewritten:
    """Return the copy by which arguments are read and written."""
    traits = Traits()
    rewriter = _Rewriter(traits, _ARGUMENT_LAWS)
    return Rewritten(rewriter.rewrite(schema, ""), traits)


def rewrite_for_output(schema: Mapping[str, Any]) -> Rewritten:
    """Return the copy by which a declared output is written: sets in one order, bytes as base64."""
    traits = Traits()
    rewriter = _Rewriter(traits, _OUTPUT_LAWS)
    return Rewritten(rewriter.rewrite(schema, ""), traits)


class _Rewriter:
    """Walks a core schema by the keys that hold schemas, so that no user's value is taken for one."""

    __slots__ = ("_laws", "_traits")

    def __init__(self, traits: Traits, laws: Mapping[str, "Law"]) -> None:
        self._traits = traits
        self._laws = laws

    def rewrite(self, node: Mapping[str, Any], name: str) -> Node:
        traits = self._traits
        copy = dict(node)
        kind = copy.get("type")
        outside, traits.kinds = traits.kinds, set()  # a law sees the kinds inside its node alone
        if isinstance(kind, str):
            traits.kinds.add(kind)
        for key in _ONE:
            if _is_node(copy.get(key)):
                copy[key] = self.rewrite(copy[key], name)
        for key in _MANY:
            if key in copy:
                copy[key] = self._several(copy[key], name, named=key == "fields")
        serialization = copy.get("serialization")
        if is_mapping(serialization):
            traits.kinds.add("own-serialization")
            copy["serialization"] = {
                key: self.rewrite(value, name) if key in ("schema", "return_schema") and _is_node(value) else value
                for key, value in serialization.items()
            }
        law = self._laws.get(kind) if isinstance(kind, str) else None
        made = copy if law is None else law(copy, name, traits)
        traits.kinds |= outside
        return made

    def _several(self, value: Any, name: str, *, named: bool) -> Any:
        if is_array(value):
            return [self._one_of(item, name) for item in value]
        if is_mapping(value) and not _is_schema(value):
            return {
                key: self.rewrite(item, str(key) if named else name) if _is_node(item) else item
                for key, item in value.items()
            }
        return value

    def _one_of(self, item: Any, name: str) -> Any:
        if _is_tuple(item):
            first, *rest = item
            return (self.rewrite(first, name), *rest) if _is_node(first) else item
        if not _is_node(item):
            return item
        own = item.get("name")
        return self.rewrite(item, own if isinstance(own, str) else name)


def _is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _is_node(value: Any) -> bool:
    return is_mapping(value) and (isinstance(value.get("type"), str) or _is_node(value.get("schema")))


def _is_schema(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("type"), str)


def _close(node: Node, name: str, traits: Traits) -> Node:
    del name
    config = dict(node.get("config", {}))
    open_by_class = config.get("extra_fields_behavior") == "allow" or node.get("extra_behavior") == "allow"
    config |= CLOSED_CONFIG
    if open_by_class:
        config["extra_fields_behavior"] = "allow"
        traits.kinds.add("model-extras")
    elif node.get("extra_behavior") == "ignore":
        node["extra_behavior"] = "forbid"
    node["config"] = config
    node.pop("computed_fields", None)
    if node.get("post_init"):  # it may change a field, and would change it again
        traits.kinds.add("post-init")
    if node.get("custom_init"):
        traits.own_init.append(node["cls"])
    return node


def _close_fields(node: Node, name: str, traits: Traits) -> Node:
    del name
    node.pop("computed_fields", None)
    if node.get("extra_behavior") == "ignore":
        node["extra_behavior"] = "forbid"
    if node.get("extra_behavior") == "allow" or "extras_schema" in node:
        traits.kinds.add("model-extras")
    return node


def _name_as_read(node: Node, name: str, traits: Traits) -> Node:
    if node.get("init") is False:  # a dataclass sets it itself, and nobody else may
        node["serialization_exclude"] = True
        return node
    node.pop("serialization_exclude", None)
    node.pop("serialization_exclude_if", None)
    read_as = node.get("validation_alias")
    if is_array(read_as):
        path = read_as[0] if read_as and is_array(read_as[0]) else read_as
        if len(path) != 1:
            traits.kinds.add("alias-path")
        read_as = path[0]
    if isinstance(read_as, str):
        node["serialization_alias"] = read_as
        if name in traits.secrets:
            traits.secrets.add(read_as)
    else:
        node.pop("serialization_alias", None)
    return node


def _exact(node: Node, name: str, traits: Traits) -> Node:
    del name, traits
    members: list[Any] = node.get("members") or node.get("expected") or []
    values: list[object] = [member.value if isinstance(member, Enum) else member for member in members]
    if not any(isinstance(value, int) for value in values):
        return node
    allowed = {type(value) for value in values}

    def refuse_likeness(value: Any) -> Any:
        if isinstance(value, bool):
            if bool not in allowed:
                raise PydanticCustomError("not_boolean", "Input must not be a boolean")
        elif isinstance(value, int | float) and value in (0, 1) and not allowed & {int, float}:
            raise PydanticCustomError("boolean", "Input should be true or false")
        return value

    return cast("Node", core_schema.no_info_before_validator_function(refuse_likeness, cast("Any", node)))


_DIGITS: Final = re.compile(r"\s*[+-]?[0-9.]+\s*")


def _no_timestamp(node: Node, name: str, traits: Traits) -> Node:
    """Refuse digits as a date and time: pydantic takes "20310506" for seconds, which is a day of 1970."""
    del name, traits

    strict = SchemaValidator(cast("Any", node))

    def read_text(value: Any) -> Any:
        if not isinstance(value, str):
            return strict.validate_python(value, strict=True)
        if _DIGITS.fullmatch(value):
            raise PydanticCustomError("datetime_digits", "must be a date and time as 2031-05-06T07:08:09Z")
        return strict.validate_json(to_json(value), strict=True)

    return cast("Node", core_schema.no_info_plain_validator_function(read_text))


def _only_json(node: Node, name: str, traits: Traits) -> Node:
    """Write NaN and the infinities as null, whatever the class says: JSON has no words for them."""
    del name, traits
    if "config" in node:
        node["config"] = {**node["config"], "ser_json_inf_nan": "null"}
    return node


def _sorted_set(node: Node, name: str, traits: Traits) -> Node:
    del name, traits
    if "serialization" in node:
        return node

    def write(items: Any, handler: Callable[[Any], Any]) -> Any:
        return sorted(handler(items), key=order_in_set)

    plain = cast("Any", node.copy())
    node["serialization"] = core_schema.wrap_serializer_function_ser_schema(write, schema=plain, when_used="json")
    return node


def _standard_base64(node: Node, name: str, traits: Traits) -> Node:
    """Write bytes in the alphabet of RFC 4648 section 4; pydantic reads it, and writes that of section 5."""
    del name, traits
    if "serialization" not in node:
        node["serialization"] = core_schema.plain_serializer_function_ser_schema(
            lambda data: base64.b64encode(data).decode(), when_used="json"
        )
    return node


def _bare_secret(node: Node, name: str, traits: Traits) -> Node:
    """Write a secret with its value: what is materialised is what will run."""
    if not (_makes_secret(node) or _hides_secret(node)):
        return node
    traits.secrets.add(name)
    node["serialization"] = core_schema.plain_serializer_function_ser_schema(_reveal)
    return node


def _reveal(secret: Any) -> Any:
    value = None if secret is None else secret.get_secret_value()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _makes_secret(node: Node) -> bool:
    """Whether a node makes a `SecretStr`, a `SecretBytes`, or a class of their kind."""
    if node.get("type") == "function-after":
        made_by = node["function"]["function"]
        return isinstance(made_by, type) and hasattr(made_by, "get_secret_value")
    return any(
        _is_node(node.get(key)) and _makes_secret(node[key]) for key in ("json_schema", "strict_schema", "lax_schema")
    )


def _hides_secret(node: Node) -> bool:
    """Whether a node is written by the function with which pydantic hides a `Secret[...]`."""
    function = node.get("serialization", {}).get("function")
    name: str = getattr(function, "__name__", "")
    return getattr(function, "__module__", "") == "pydantic.types" and name.startswith("_serialize_secret")


_PLAIN_FACTORIES: Final = frozenset({bool, dict, float, frozenset, int, list, set, str, tuple})


def _note_default(node: Node, name: str, traits: Traits) -> Node:
    factory = node.get("default_factory")
    if "default" in node:
        traits.defaults.append(Default(name, node["default"], node["schema"], traits.kinds <= _EXACT))
    elif factory in _PLAIN_FACTORIES:
        traits.defaults.append(Default(name, factory(), node["schema"], traits.kinds <= _EXACT))
    else:
        traits.factories = True
    return node


Law: TypeAlias = Callable[[Node, str, Traits], Node]
"""From a node, whose schemas are rewritten already, the name of the field that holds it, and
what is gathered, to the node as it is to be."""

_ARGUMENT_LAWS: Final[Mapping[str, Law]] = {
    "model": _close,
    "dataclass": _close,
    "typed-dict": _close,
    "model-fields": _close_fields,
    "dataclass-args": _close_fields,
    "model-field": _name_as_read,
    "dataclass-field": _name_as_read,
    "typed-dict-field": _name_as_read,
    "literal": _exact,
    "enum": _exact,
    "set": _sorted_set,
    "frozenset": _sorted_set,
    "bytes": _standard_base64,
    "datetime": _no_timestamp,
    "lax-or-strict": _bare_secret,
    "json-or-python": _bare_secret,
    "function-after": _bare_secret,
    "default": _note_default,
}

_OUTPUT_LAWS: Final[Mapping[str, Law]] = {
    "model": _only_json,
    "dataclass": _only_json,
    "typed-dict": _only_json,
    "set": _sorted_set,
    "frozenset": _sorted_set,
    "bytes": _standard_base64,
}
