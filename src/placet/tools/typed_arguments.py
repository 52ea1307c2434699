"""Arguments of a typed tool: a function's parameters, or one type that is the whole input."""

import dataclasses
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, Final, TypeGuard, get_args, get_origin

import jiter
from pydantic import BaseModel, GetCoreSchemaHandler, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic_core import (
    PydanticUndefined,
    PydanticUndefinedType,
    SchemaError,
    SchemaSerializer,
    SchemaValidator,
    ValidationError,
    core_schema,
    to_json,
    to_jsonable_python,
)

from placet.errors import ToolDefinitionError, described
from placet.tools.arguments import Arguments, refuse
from placet.tools.complaints import complain, place_of, property_names
from placet.tools.core_schema import Rewritten, rewrite_for_arguments
from placet.tools.json_schema import schema_of
from placet.tools.names import secret_names
from placet.tools.parameters import EMPTY, Parameter
from placet.values.construction import maker
from placet.values.decision import Deny
from placet.values.json import JsonObject, is_array, is_object

_new_arguments: Final = maker(Arguments)

MAX_EXACT_FLOAT: Final = 2**53
"""Up to here a whole number survives the way through a float."""

_DIGITS: Final = 15
"""So many significant digits survive the way through a float."""


class TypedForm:
    """What the arguments of a typed tool must be like. Built once; `check` is on the way of every call.

    Attributes:
        schema: JSON Schema of what the model may send.
        secret_fields: Names of the fields that hold secrets, by their type or by their name.
    """

    __slots__ = (
        "_decimals", "_ordered", "_secret", "_serializer", "_stable", "_to_json", "_validate", "_validator",
        "schema", "secret_fields",
    )  # fmt: skip

    def __init__(self, schema: JsonObject, rewritten: Rewritten, secret: Collection[str]) -> None:
        self._validator: SchemaValidator = rewritten.validator()
        self._serializer: SchemaSerializer = rewritten.serializer()
        self._validate: Callable[..., Any] = self._validator.validate_json
        self._to_json: Callable[..., bytes] = self._serializer.to_json
        self._stable = rewritten.traits.stable
        self._ordered = rewritten.traits.ordered
        self._decimals = "decimal" in rewritten.traits.kinds
        self.schema = schema
        self.secret_fields = frozenset(rewritten.traits.secrets & property_names(schema)) | secret_names(schema)
        self._secret = self.secret_fields | frozenset(secret)

    def check(self, text: bytes, parsed: dict[str, Any], note: str | None) -> Arguments | Deny:
        """Return the arguments, validated and written down, or why they are refused."""
        if self._decimals and _loses_digits(text):
            return refuse(
                f"a number has more than {_DIGITS} digits and would lose some", "send exact numbers as text in quotes"
            )
        try:
            value = self._validate(text, strict=True, by_alias=True, by_name=False)
        except ValidationError as error:
            mended = _whole_numbers(parsed, error)
            if mended is None:
                return self._complain(error, parsed)
            try:
                value = self._validate(mended, strict=True, by_alias=True, by_name=False)
            except ValidationError as still:
                return self._complain(still, parsed)
        except Exception as error:  # noqa: BLE001 - a validator of the tool's own broke: what broke it does not run
            return _broken("a validator of the tool broke", error)
        if self._stable and self._ordered:
            written = self._to_json(value, by_alias=True, round_trip=True, warnings=False)
            return _new_arguments(value, written.decode(), note)
        return self._write_with_care(value, parsed, note)

    def _write_with_care(self, value: Any, parsed: dict[str, Any], note: str | None) -> Arguments | Deny:
        try:
            text = self._write(value)
            if not self._stable and self._reread(text) != text:
                # A validator that changes what it gets would change it twice: keep what was sent, with the defaults.
                sent = _dump(_filled(parsed, jiter.from_json(text.encode())))
                if self._reread(sent) != text:
                    return _broken("what the tool's validators make of the arguments cannot be written down", None)
                text = sent
        except Exception as error:  # noqa: BLE001 - not written down, not run
            return _broken("the arguments cannot be written down", error)
        return Arguments(value, text, note)

    def _write(self, value: Any) -> str:
        written = self._to_json(value, by_alias=True, round_trip=True, warnings=False, fallback=_nothing)
        return written.decode() if self._ordered else _dump(jiter.from_json(written))

    def _reread(self, text: str) -> str | None:
        try:
            return self._write(self._validate(text, strict=True, by_alias=True, by_name=False))
        except ValidationError:
            return None

    def _complain(self, error: ValidationError, parsed: dict[str, Any]) -> Deny:
        errors = error.errors(include_url=False)
        message, hint = complain(errors, parsed, self.schema, self._secret)
        return refuse(message, hint)


def _nothing(value: Any) -> None:
    """Stand in for what has no JSON form; the re-reading then finds that it does not hold."""
    del value


def _broken(message: str, error: Exception | None) -> Deny:
    refusal = refuse(message, "this is a fault of the tool, not of the arguments; tell the user")
    return dataclasses.replace(refusal, detail=None if error is None else described(error))


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _loses_digits(text: bytes) -> bool:
    """Whether some number has more digits than a float keeps (decimals are read through one)."""
    pending: list[Any] = [jiter.from_json(text, float_mode="lossless-float")]
    while pending:
        item = pending.pop()
        if is_object(item):
            pending.extend(item.values())
        elif is_array(item):
            pending.extend(item)
        elif isinstance(item, jiter.LosslessFloat):
            digits = str(item).lower().partition("e")[0].lstrip("+-0.").replace(".", "")
            if len(digits) > _DIGITS:
                return True
    return False


def _whole_numbers(parsed: dict[str, Any], error: ValidationError) -> bytes | None:
    """Return the arguments with 5.0 written as 5 where a whole number is expected, or None.

    JSON has one kind of number, and its schema calls 5.0 an integer.
    """
    copy: Any = None
    for item in error.errors(include_url=False):
        number = item["input"]
        if item["type"] == "int_type" and isinstance(number, float) and _is_whole(number):
            copy = copy if copy is not None else jiter.from_json(to_json(parsed))
            *way, last = place_of(item, parsed)
            holder = copy
            for part in way:
                holder = holder[part]
            holder[last] = int(number)
    return None if copy is None else _dump(copy).encode()


def _is_whole(number: float) -> bool:
    return number.is_integer() and abs(number) <= MAX_EXACT_FLOAT


def _filled(sent: Any, written: Any) -> Any:
    """Return what was sent, with what only stands in what was written down: the defaults."""
    if is_object(sent) and is_object(written):
        return {**written, **{key: _filled(value, written.get(key)) for key, value in sent.items()}}
    if is_array(sent) and is_array(written) and len(sent) == len(written):
        return [_filled(one, other) for one, other in zip(sent, written, strict=True)]
    return sent


# ── building ──────────────────────────────────────────────────────────────────────────


def _is_class(kind: object) -> TypeGuard[type[Any]]:
    return isinstance(kind, type)


def is_object_type(kind: Any) -> TypeGuard[type]:
    """Whether a type can be the whole input of a tool: a pydantic model, a dataclass or a TypedDict."""
    plain: Any = get_origin(kind) or kind
    return _is_class(plain) and (
        issubclass(plain, BaseModel)
        or dataclasses.is_dataclass(plain)
        or (hasattr(plain, "__required_keys__") and issubclass(plain, dict))  # a TypedDict, of whichever module
    )


def form_of_type(kind: Any, tool: str, secret: Collection[str]) -> TypedForm:
    """Return the form of arguments that are one pydantic model, dataclass or TypedDict.

    Raises:
        ToolDefinitionError: The type is none of these, or cannot be read from JSON.
    """
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if not is_object_type(bare):
        msg = (
            f"the input of tool {tool!r} is {kind!r}, which is no object: "
            "declare a pydantic model, a dataclass or a TypedDict"
        )
        raise ToolDefinitionError(msg)
    adapter = _adapter(bare, tool)
    return _form(adapter, adapter_schema(adapter, tool), tool, secret)


def form_of_parameters(
    parameters: Sequence[Parameter], tool: str, described: Mapping[str, str], secret: Collection[str]
) -> TypedForm:
    """Return the form of arguments that are a function's parameters.

    Args:
        parameters: Those that the model fills.
        tool: The tool's name.
        described: Descriptions of parameters, from the docstring.
        secret: Names of fields of which nothing is repeated.

    Raises:
        ToolDefinitionError: A parameter has no type, a type that JSON cannot carry, or a
            default that its own type refuses.
    """
    fields = {parameter.name: _field(parameter, tool) for parameter in parameters}
    holder = _holder(tool, fields)
    adapter = _adapter(holder, tool)
    schema = adapter_schema(adapter, tool)
    properties: dict[str, Any] = schema.get("properties", {})
    for name, info in fields.items():
        read_as = _alias(info) or name
        if read_as in properties:
            properties[read_as] = {**properties[read_as], **_told(info, described.get(name))}
    return _form(adapter, schema, tool, secret)


def adapter_schema(adapter: TypeAdapter[Any], tool: str) -> dict[str, Any]:
    """Return the JSON Schema of arguments.

    Raises:
        ToolDefinitionError: The type has no JSON Schema, or it is not that of an object.
    """
    schema = schema_of(adapter, "validation", tool)
    if schema.get("type") != "object":
        msg = f"the input of tool {tool!r} must be one object, not {schema.get('type', 'a union')!r}"
        raise ToolDefinitionError(msg)
    schema.setdefault("properties", {})
    schema.pop("description", None)
    return schema


def _field(parameter: Parameter, tool: str) -> FieldInfo:
    if parameter.annotation is EMPTY:
        msg = (
            f"parameter {parameter.name!r} of tool {tool!r} has no type: annotate it, as in {parameter.name}: str; "
            "what is not the model's is declared so too, as in context: Context"
        )
        raise ToolDefinitionError(msg)
    if parameter.default is EMPTY:
        return FieldInfo.from_annotation(parameter.annotation)
    return FieldInfo.from_annotated_attribute(parameter.annotation, parameter.default)


def _told(info: FieldInfo, described: str | None) -> dict[str, Any]:
    """Return what a schema says of a parameter apart from its type."""
    told: dict[str, Any] = dict(info.json_schema_extra) if is_object(info.json_schema_extra) else {}
    if info.examples:
        told["examples"] = to_jsonable_python(info.examples)
    documented = next(filter(None, (getattr(item, "documentation", None) for item in info.metadata)), None)  # PEP 727
    if words := info.description or documented or described:
        told["description"] = words
    return told


def _alias(info: FieldInfo) -> str | None:
    alias = info.validation_alias if info.validation_alias is not None else info.alias
    return alias if isinstance(alias, str) else None


def _holder(tool: str, fields: Mapping[str, FieldInfo]) -> type:
    """Return a class with one slot a parameter, which pydantic fills: the value of the arguments."""

    def generate(cls: type, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        del source
        made = [
            core_schema.dataclass_field(
                name=name,
                schema=_field_schema(info, handler),
                kw_only=True,
                validation_alias=_core_alias(info),
            )
            for name, info in fields.items()
        ]
        inner = core_schema.dataclass_args_schema(cls.__name__, made, collect_init_only=False)
        return core_schema.dataclass_schema(
            cls, inner, list(fields), slots=True, config=core_schema.CoreConfig(extra_fields_behavior="forbid")
        )

    return dataclasses.make_dataclass(
        f"ArgumentsOf_{tool}".replace("-", "_"),
        [(name, Any) for name in fields],
        namespace={"__get_pydantic_core_schema__": classmethod(generate)},
        slots=True,
        repr=False,  # a repr ends in logs, and arguments may be secrets
    )


def _field_schema(info: FieldInfo, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
    annotated: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    schema = handler.generate_schema(annotated)
    if info.discriminator is not None:
        schema = handler.generate_schema(Annotated[annotated, FieldInfo(discriminator=info.discriminator)])
    if info.default_factory is not None:
        return core_schema.with_default_schema(
            schema,
            default_factory=info.default_factory,
            default_factory_takes_data=info.default_factory_takes_validated_data,
            validate_default=info.validate_default,
        )
    if not isinstance(info.default, PydanticUndefinedType) and info.default is not ...:
        # A list or a dict is copied for each call, by pydantic.
        return core_schema.with_default_schema(schema, default=info.default, validate_default=info.validate_default)
    return schema


def _core_alias(info: FieldInfo) -> Any:
    alias = info.validation_alias if info.validation_alias is not None else info.alias
    return alias if alias is None or isinstance(alias, str) else alias.convert_to_aliases()


def _adapter(kind: Any, tool: str) -> TypeAdapter[Any]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        if not adapter.pydantic_complete:  # it names what nobody knows; this says what
            adapter.rebuild(force=True, raise_errors=True)
    except PydanticSchemaGenerationError as error:
        what = str(error).partition(". ")[0]
        msg = (
            f"the input of tool {tool!r} cannot be read from JSON ({what}); what the model does not send is declared "
            "as Injected[...] or Loaded[...]"
        )
        raise ToolDefinitionError(msg) from error
    except (ImportError, PydanticUserError, SchemaError, TypeError, NameError) as error:
        reason = str(error).partition("\n")[0]
        msg = f"the input of tool {tool!r} cannot be read from JSON: {reason}"
        raise ToolDefinitionError(msg) from error
    return adapter


def _form(adapter: TypeAdapter[Any], schema: JsonObject, tool: str, secret: Collection[str]) -> TypedForm:
    rewritten = rewrite_for_arguments(adapter.core_schema)
    for own in rewritten.traits.own_init:
        msg = (
            f"{own.__name__!r}, which tool {tool!r} takes, has an __init__ of its own, through which a model's "
            "arguments would pass unchecked: use a validator instead"
        )
        raise ToolDefinitionError(msg)
    _check_defaults(rewritten, tool)
    return TypedForm(schema, rewritten, secret)


def _check_defaults(rewritten: Rewritten, tool: str) -> None:
    """Refuse a default that its own type would refuse: written down, it could not be read again."""
    root = rewritten.schema
    definitions: list[Any] = root.get("definitions", []) if root.get("type") == "definitions" else []
    for default in rewritten.traits.defaults:
        if default.value is PydanticUndefined:
            continue
        node: Any = default.schema
        schema = core_schema.definitions_schema(node, definitions) if definitions else node
        part = Rewritten(schema, rewritten.traits)
        try:
            if default.plain:
                part.validator().validate_python(default.value, strict=True)
            written = part.serializer().to_json(default.value, by_alias=True, round_trip=True, warnings="error")
            part.validator().validate_json(written, strict=True)
        except Exception as error:
            msg = (
                f"the default of {default.name!r} in tool {tool!r} is not a value of its own type "
                "(for a default of None, say so in the type: `int | None = None`)"
            )
            raise ToolDefinitionError(msg) from error
