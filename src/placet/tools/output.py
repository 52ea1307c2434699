"""What a tool gives back, made into what the model is told: checked, stripped, encoded, cut."""

import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeGuard, Union, get_args, get_origin

import jiter
from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError
from pydantic_core import PydanticSerializationError, SchemaError, ValidationError, to_json

from placet.errors import ToolDefinitionError, described
from placet.tools.core_schema import Rewritten, rewrite_for_output
from placet.tools.encode import Gathered, NotSerialisableError, encode, gather
from placet.tools.json_schema import schema_of
from placet.tools.parameters import EMPTY
from placet.tools.text import cut
from placet.values.call import OK
from placet.values.json import Json, JsonObject
from placet.values.limits import RESULT_BYTES

NO_CONTENT: Final = "(no content)"
"""What the model is told where there is nothing to tell: some wires take no empty text."""

BAD_OUTPUT: Final = "bad_output"
TOOL_ERROR: Final = "tool_error"

_LOOSE: Final = frozenset({"any", "generator", "callable", "is-instance", "custom-error", "function-plain"})
"""Kinds of declared outputs that say nothing of what stands inside."""


class ToolOutput:
    """Full control of what a tool gives back.

    Attributes:
        content: What the model is told: a text as it is, anything else serialised.
        is_error: Whether the call did not do what was asked.
        data: For hooks and telemetry alone; it never reaches the model.
        detail: For the audit log alone, where it is redacted: what went wrong, in words that the model may not read.
    """

    __slots__ = ("content", "data", "detail", "is_error")

    def __init__(self, content: Any, is_error: bool = False, data: Any = None, detail: str | None = None) -> None:
        self.content = content
        self.is_error = is_error
        self.data = data
        self.detail = detail


@dataclass(slots=True)
class Shaped:
    """A result in its final form.

    Attributes:
        content: What the model is told; never empty, never longer than the cap.
        is_error: Whether the call did not do what was asked.
        code: `"ok"`, `"tool_error"` or `"bad_output"`.
        data: What the tool gave for hooks and telemetry.
        cut_from: Size in bytes before it was cut, or None.
        detail: What went wrong, for the audit log alone.
        written: The whole of it as JSON, or None when it is plain text.
    """

    content: str
    is_error: bool = False
    code: str = OK
    data: Any = None
    cut_from: int | None = None
    detail: str | None = None
    written: bytes | None = field(default=None, repr=False)

    @property
    def json(self) -> Json:
        """The structured value, made anew at each look, or None when the result is plain text."""
        if self.written is None:
            return None
        parsed: Json = jiter.from_json(self.written)
        return parsed


class OutputShaper:
    """Shapes the results of one tool. Built once; `shape` is on the way of every call.

    Attributes:
        schema: JSON Schema of the declared output, or None for free text or anything.
        max_bytes: Cap of one result, in UTF-8.
    """

    __slots__ = ("_anything", "_loose", "_text", "_to_json", "_to_python", "_validate", "max_bytes", "schema")

    def __init__(self, declared: Any = EMPTY, *, tool: str, max_bytes: int = RESULT_BYTES) -> None:
        kind = _declared(declared)
        self.max_bytes = max_bytes
        self.schema: JsonObject | None = None
        self._text = kind is str
        self._anything = kind in (EMPTY, Any, object)
        self._loose = True
        if self._anything:
            return
        adapter = _adapter(kind, tool)
        rewritten: Rewritten = rewrite_for_output(adapter.core_schema)
        self._validate = rewritten.validator().validate_python
        serializer = rewritten.serializer()
        self._to_json = serializer.to_json
        self._to_python = serializer.to_python
        self._loose = bool(_LOOSE & rewritten.traits.kinds)
        if not self._text and kind is not NoneType:
            self.schema = schema_of(adapter, "serialization", tool)

    @property
    def is_open(self) -> bool:
        """Whether nothing is declared of what stands in a result."""
        return self._loose and not self._text

    def shape(self, value: Any) -> Shaped:
        """Return the result in its final form. Never raises, whatever the tool gave back."""
        try:
            if type(value) is str and (self._text or self._anything):
                return self._tell(value)
            if isinstance(value, ToolOutput):
                return self._shape_output(value)
            return self._shape_value(value)
        except Exception as error:  # noqa: BLE001 - a tool's objects may do anything when looked at
            return _bad(error)

    def _shape_output(self, output: ToolOutput) -> Shaped:
        content = output.content
        shaped = self._tell(content) if isinstance(content, str) else self._shape_value(content, free=output.is_error)
        if shaped.code == OK and output.is_error is not False:
            shaped.is_error = True
            shaped.code = TOOL_ERROR
        shaped.data = output.data
        shaped.detail = shaped.detail or output.detail
        return shaped

    def _shape_value(self, value: Any, *, free: bool = False) -> Shaped:
        if value is None and (self._anything or free):
            return Shaped(NO_CONTENT)
        if self._anything or free:
            if isinstance(value, str):
                return self._tell(value)
            return self._tell_json(*_dump(value))
        if _is_iterator(value):
            value = gather(value)
        checked = self._validate(value, from_attributes=True)
        if self._text:
            return self._tell(checked)
        written, more = self._write(checked)
        return self._tell_json(written, more or (type(value) is Gathered and value.more))

    def _write(self, checked: Any) -> tuple[bytes, bool]:
        if not self._loose:
            try:
                written: bytes = self._to_json(checked, by_alias=True, warnings="error")
            except PydanticSerializationError as error:
                if "surrogate" not in str(error):
                    raise
            else:
                if b"\\u00" not in written:
                    return written, False
        return _dump(self._to_python(checked, mode="python", by_alias=True, warnings="error"))

    def _tell(self, text: str, *, more: bool = False) -> Shaped:
        content, cut_from = cut(text, self.max_bytes, more=more)
        if not content or content.isspace():
            content = NO_CONTENT
        return Shaped(content, cut_from=cut_from)

    def _tell_json(self, written: bytes, more: bool) -> Shaped:
        if written in _EMPTY:
            return Shaped(NO_CONTENT, written=written)
        text = written.decode()
        if written[:1] == b'"':  # one text is told as it is, not in quotes
            text = jiter.from_json(written)
        shaped = self._tell(text, more=more)
        shaped.written = written
        return shaped


def _is_iterator(value: object) -> TypeGuard[Iterator[Any]]:
    return hasattr(type(value), "__next__") and isinstance(value, Iterator)


def _dump(value: Any) -> tuple[bytes, bool]:
    encoded, more = encode(value)
    return to_json(encoded), more


_EMPTY: Final = frozenset({b"null", b'""', b"[]"})


def _bad(error: Exception) -> Shaped:
    match error:
        case NotSerialisableError():
            what = f"not serialisable ({error})"
        case ValidationError():
            what = "not of the declared form"
        case PydanticSerializationError() if "UnexpectedValue" in str(error):
            what = "not of the declared form"
        case _:
            what = "not serialisable"
    told = f"the tool ran, but its result cannot be told: it is {what}"
    return Shaped(told, is_error=True, code=BAD_OUTPUT, detail=_explain(error.__cause__ or error))


def _explain(error: BaseException) -> str:
    """Return what went wrong, without the values that stood there: the audit log is no place for them."""
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['type']}" for one in found[:_MAX_EXPLAINED])
    return re.sub(r"input_value=.*?, input_type", "input_type", described(error), flags=re.DOTALL)[:_MAX_DETAIL]


_MAX_EXPLAINED: Final = 10
_MAX_DETAIL: Final = 2_000


def _declared(annotation: Any) -> Any:
    """Return the type of what a tool tells: `ToolOutput` is any of it, and a generator is a list."""
    origin = get_origin(annotation)
    if annotation is ToolOutput:
        return EMPTY
    if origin is Annotated:
        return annotation
    if origin is Union or origin is UnionType:
        arms = [arm for arm in get_args(annotation) if arm is not ToolOutput]
        return Union[tuple(arms)] if arms else EMPTY  # noqa: UP007 - made of a tuple
    if origin in _STREAMS or annotation in _STREAMS:
        items = get_args(annotation)
        return list[items[0]] if items else list  # type: ignore[valid-type]  # made at run time
    return NoneType if annotation is None else annotation


_STREAMS: Final = (Iterator, Iterable, Generator, AsyncIterator, AsyncIterable, AsyncGenerator)


def _adapter(kind: Any, tool: str) -> TypeAdapter[Any]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        if not adapter.pydantic_complete:  # it names what nobody knows; this says what
            adapter.rebuild(force=True, raise_errors=True)
    except (PydanticSchemaGenerationError, PydanticUserError, ImportError, SchemaError, TypeError, NameError) as error:
        reason = str(error).partition("\n")[0]
        msg = (
            f"the output of tool {tool!r} cannot be written as JSON: let it return a text, a number, a list, a dict, "
            f"a dataclass, a TypedDict or a pydantic model, and say so by its annotation ({reason})"
        )
        raise ToolDefinitionError(msg) from error
    return adapter
