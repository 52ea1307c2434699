"""PostgreSQL's types and values: what a column is called, and what of it becomes JSON."""

from collections.abc import Callable, Sequence
from typing import Final

from psycopg.postgres import types

from placet.values.json import Json, JsonObject

Decode = Callable[[bytes], Json]


def _oid(name: str) -> int:
    return types[name].oid


def _float(text: bytes) -> Json:
    value = float(text)
    return value if value - value == 0 else text.decode()  # NaN and the infinities are no JSON


def _text(text: bytes) -> Json:
    return text.decode(errors="replace")


_DECODERS: Final[dict[int, Decode]] = {
    _oid("bool"): lambda text: text == b"t",
    _oid("int2"): int,
    _oid("int4"): int,
    _oid("int8"): int,
    _oid("float4"): _float,
    _oid("float8"): _float,
}
_FIXED: Final = frozenset(
    _oid(name)
    for name in (
        "bool", "int2", "int4", "int8", "float4", "float8", "date", "time", "timetz", "timestamp", "timestamptz",
        "interval", "uuid", "oid", "money", "name", "macaddr", "inet", "cidr", "tid", "xid",
    )
)  # fmt: skip
"""Types whose values are short, whatever they are."""

_SCHEMAS: Final[dict[int, JsonObject]] = {
    _oid("bool"): {"type": "boolean"},
    _oid("int2"): {"type": "integer"},
    _oid("int4"): {"type": "integer"},
    _oid("int8"): {"type": "integer"},
    _oid("float4"): {"type": ["number", "string"]},
    _oid("float8"): {"type": ["number", "string"]},
    _oid("date"): {"type": "string", "description": "a date, as 2025-06-30"},
    _oid("timestamp"): {"type": "string", "description": "a time, as 2025-06-30 12:00:00"},
    _oid("timestamptz"): {"type": "string", "description": "a time with its offset, as 2025-06-30 12:00:00+00"},
    _oid("numeric"): {"type": "string", "description": "an exact decimal, as 12.50"},
}


def is_short(oid: int) -> bool:
    """Return whether values of this type need no cutting."""
    return oid in _FIXED


def type_name(oid: int) -> str | None:
    """Return PostgreSQL's word for a built-in type, or None for another."""
    info = types.get(oid)
    if info is None:
        return None
    return f"{info.name}[]" if info.array_oid == oid else info.name


def schema_of(oid: int) -> JsonObject:
    """Return the JSON Schema of a value of this type, NULL apart. What is no number is a text."""
    return _SCHEMAS.get(oid, {"type": "string"})


def decode(row: Sequence[bytes | None], oids: Sequence[int]) -> list[Json]:
    """Return the values of a row as JSON: numbers and truth values as such, all else as texts."""
    return [None if text is None else _DECODERS.get(oid, _text)(text) for text, oid in zip(row, oids, strict=True)]
