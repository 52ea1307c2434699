"""Whatever a tool gives back, as JSON: no truth tests, no endless generators, no surprises.

| value | becomes |
|---|---|
| datetime, date, time, timedelta | ISO 8601 text |
| Decimal | its exact text |
| NaN and infinities | null |
| bytes | base64 text |
| UUID, Path, IP address, URL | text |
| Enum | its value |
| set | a list in one order |
| tuple, deque, range, generator | a list, a generator at most `MAX_ITEMS` long |
| dataclass, pydantic model, named tuple | an object |
| a secret | stars |
| keys that are no text | their text |
"""

# What a tool gives back may be anything, and is told apart here by what it is:
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import base64
import dataclasses
import itertools
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from placet.tools.text import make_safe
from placet.values.json import Json, canonical

MAX_ITEMS: Final = 100_000
"""So many values are encoded of one result; what comes after them is left out."""

MAX_DEPTH: Final = 100


class NotSerialisableError(Exception):
    """A value has no JSON form. Never leaves this room: the result becomes an error observation."""


def encode(value: Any, max_items: int = MAX_ITEMS) -> tuple[Json, bool]:
    """Return a value as JSON, and whether some of it was left out.

    Raises:
        NotSerialisableError: It holds a cycle, is nested too deep, or has no JSON form.
    """
    encoder = _Encoder(max_items)
    encoded = encoder.encode(value, 0)
    return encoded, encoder.more


class Gathered(list[Any]):
    """The first items of something that may have no end.

    Attributes:
        more: Whether there was more of it.
    """

    more: bool = False


def gather(items: Iterable[Any], max_items: int = MAX_ITEMS) -> Gathered:
    """Return the first of some items, and whether there are more."""
    iterator = iter(items)
    gathered = Gathered(itertools.islice(iterator, max_items))
    if len(gathered) == max_items:
        gathered.more = any(True for _ in iterator)
    return gathered


class _Encoder:
    __slots__ = ("_left", "_open", "more")

    def __init__(self, max_items: int) -> None:
        self._left = max_items
        self._open: set[int] = set()
        self.more = False

    def encode(self, value: Any, depth: int) -> Json:
        self._left -= 1
        kind = type(value)
        if kind is str:
            return make_safe(value)
        if value is None or kind is bool or kind is int:
            return value  # type: ignore[no-any-return]  # one of the three
        if kind is float:
            return value if math.isfinite(value) else None
        scalar = _scalar(value)
        if scalar is not _NONE:
            return scalar  # type: ignore[no-any-return]  # not the mark, hence JSON
        if depth >= MAX_DEPTH:
            msg = "nested too deep"
            raise NotSerialisableError(msg)
        if id(value) in self._open:
            msg = "cycle"
            raise NotSerialisableError(msg)
        self._open.add(id(value))
        try:
            return self._container(value, depth + 1)
        finally:
            self._open.discard(id(value))

    def _container(self, value: Any, depth: int) -> Json:  # noqa: PLR0911 - one line a kind
        match value:
            case BaseModel():
                dumped = type(value).__pydantic_serializer__.to_python(value, mode="python", by_alias=True)
                return self.encode(dumped, depth)
            case Mapping():
                return self._object(value.items(), depth)
            case tuple() if hasattr(value, "_fields"):
                return self._object(zip(getattr(value, "_fields"), value, strict=False), depth)  # noqa: B009 - no checker knows it
            case AbstractSet():
                items = self._list(value, depth)
                return sorted(items, key=order_in_set)
            case list() | tuple() | deque() | Sequence() | Iterator():
                return self._list(value, depth)
            case _:
                pass
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = dataclasses.fields(value)
            return self._object(((part.name, getattr(value, part.name)) for part in fields), depth)
        return _other(value)

    def _list(self, value: Iterable[Any], depth: int) -> list[Json]:
        encoded: list[Json] = []
        if type(value) is Gathered and value.more:
            self.more = True
        for item in value:
            if self._left <= 0:
                self.more = True
                break
            encoded.append(self.encode(item, depth))
        return encoded

    def _object(self, items: Iterable[tuple[Any, Any]], depth: int) -> dict[str, Json]:
        encoded: dict[str, Json] = {}
        for key, item in items:
            if self._left <= 0:
                self.more = True
                break
            name = _key(key)
            if name in encoded:
                msg = "two keys are written alike"
                raise NotSerialisableError(msg)
            encoded[name] = self.encode(item, depth)
        return encoded


_NONE: Final = object()


def _scalar(value: Any) -> Any:  # noqa: PLR0911 - one line a kind
    match value:
        case Enum():
            return encode(value.value)[0]
        case str():
            return make_safe(str.__str__(value))
        case int():
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case Decimal():
            return str(value) if value.is_finite() else None
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date() | time():
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode()
        case UUID() | PurePath():
            return make_safe(str(value))
        case _:
            return _NONE


def _other(value: Any) -> Json:
    if hasattr(value, "get_secret_value"):
        return "**********"
    try:
        plain: Json = to_jsonable_python(value, inf_nan_mode="null")
    except (PydanticSerializationError, ValueError, TypeError) as error:
        msg = f"a {type(value).__qualname__} has no JSON form"
        raise NotSerialisableError(msg) from error
    return encode(plain)[0]


def _key(key: Any) -> str:
    if type(key) is str:
        return make_safe(key)
    if isinstance(key, tuple):
        return ",".join(_key(part) for part in key)
    encoded, _ = encode(key)
    if isinstance(encoded, str):
        return encoded
    if isinstance(encoded, bool | int | float) or encoded is None:
        return canonical(encoded)
    msg = f"a {type(key).__qualname__} cannot be a key"
    raise NotSerialisableError(msg)


def order_in_set(item: Json) -> tuple[str, Any]:
    """Return what the items of a set, as JSON, are sorted by, whatever they are."""
    if isinstance(item, str):
        return ("text", item)
    if isinstance(item, int | float):
        return ("number", item)
    return ("other", canonical(item))
