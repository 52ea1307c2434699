"""Parameters of a named query: their types, their bounds, and what of a value is bound.

```text
order_id int >= 1                       -- the number on the invoice
status   enum(paid, shipped, cancelled)
county   text 2..2 /[A-Z]{2}/
days     int 1..90 = 30                 -- how far back
email    prefix 3..64                   -- how the address begins
note     text? 0..200                   -- may be left out
```

`?` stands right behind the type. Choices and defaults are written without quotes, and a default comes last. The bounds
of a text are its lengths; without them it has at most 200 characters.

A `prefix` and a `contains` are for LIKE: what would be a wildcard in them is escaped, and the
wildcard is added here, so that `%` finds nothing instead of everything.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from math import isfinite
from typing import Final
from uuid import UUID

from placet.errors import ConfigurationError
from placet.values.json import Json, JsonObject

KINDS: Final = ("int", "number", "text", "bool", "date", "datetime", "uuid", "enum", "prefix", "contains")
MATCHING: Final = frozenset({"prefix", "contains"})
_TEXTS: Final = frozenset({"text", "prefix", "contains"})

_CALLED_ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("integer", "bigint", "smallint", "serial", "long"), "int"),
    **dict.fromkeys(("decimal", "numeric", "float", "real", "double", "money"), "number"),
    **dict.fromkeys(("string", "str", "varchar", "char", "json"), "text"),
    **dict.fromkeys(("boolean", "bit"), "bool"),
    **dict.fromkeys(("timestamp", "timestamptz", "time"), "datetime"),
}

LARGEST_INT: Final = 2**63 - 1
LONGEST_TEXT: Final = 200
SHORTEST_MATCH: Final = 3
"""Letters that a LIKE needs at least, or it finds nearly everything."""

_NAME: Final = re.compile(r"\s*([A-Za-z_]\w*)\s+([a-z]+)")
_ENUM: Final = re.compile(r"\s*\(([^)]*)\)")
_PART: Final = re.compile(
    r"\s*(?:(?P<low>-?\d+(?:\.\d+)?)\.\.(?P<high>-?\d+(?:\.\d+)?)|>=\s*(?P<least>-?\d+(?:\.\d+)?)"
    r"|<=\s*(?P<most>-?\d+(?:\.\d+)?)|/(?P<pattern>(?:[^/\\]|\\.)*)/|=\s*(?P<default>.+))"
)
_QUOTED: Final = re.compile(r"(['\"]).*\1", re.DOTALL)
_SAME: Final = {"low": "least", "high": "most"}
_HOW: Final = (
    "'?' stands behind the type, then bounds as 1..90, >= 1 or <= 90, a pattern as /[A-Z]+/, a default as = 30, "
    "each once, and what it is behind ' -- '"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One value of a named query.

    Attributes:
        name: As it stands in the statement, `:name`.
        kind: One of `KINDS`.
        description: What it is, for the model.
        minimum: Of a number; of a text, its shortest length.
        maximum: Of a number; of a text, its longest length.
        pattern: What the whole of a text must match.
        choices: Of an enum.
        is_optional: Whether it may be null, and left out.
        default: What it is when it is left out, or None.
        has_default: Whether there is one.
        compiled: The pattern, made ready.
    """

    name: str
    kind: str
    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    is_optional: bool = False
    default: Json = None
    has_default: bool = False
    compiled: re.Pattern[str] | None = field(default=None, compare=False, repr=False)

    @property
    def is_required(self) -> bool:
        """Whether the model must send it."""
        return not (self.is_optional or self.has_default)

    def schema(self) -> JsonObject:
        """Return the JSON Schema of its values."""
        stated = dict(_schema_of_kind(self))
        if self.is_optional:
            stated["type"] = [str(stated["type"]), "null"]
            if self.choices:
                stated["enum"] = [*self.choices, None]
        if self.description:
            stated["description"] = self.description
        if self.has_default:
            stated["default"] = self.default
        return stated

    def accept(self, value: Json) -> Json:
        """Return a value as it is bound: checked, and escaped where it is matched.

        Raises:
            ValueError: It is not one of this parameter. The message does not repeat it.
        """
        if value is None:
            if self.is_optional:
                return None
            raise ValueError(f"{self.name} must not be null")
        accepted = _ACCEPT[self.kind](self, value)
        if isinstance(accepted, str) and self.kind in MATCHING:
            escaped = re.sub(r"([\\%_])", r"\\\1", accepted)
            return f"{escaped}%" if self.kind == "prefix" else f"%{escaped}%"
        return accepted


def parse_parameter(text: str, where: str) -> Parameter:
    """Return the parameter that a text declares.

    Args:
        text: What stands after `param:`.
        where: What to call it when something is wrong with it.

    Raises:
        ConfigurationError: It declares none.
    """
    declaration, _, description = text.partition(" -- ")
    found = _NAME.match(declaration)
    if not found or found[2] not in KINDS:
        raise ConfigurationError(
            f"{where}: {text!r} declares no parameter; write a name and a type, one of {', '.join(KINDS)}{_guess(text)}"
        )
    name, kind = found[1], found[2]
    rest = declaration[found.end() :]
    choices: tuple[str, ...] = ()
    if kind == "enum":
        listed = _ENUM.match(rest)
        choices = tuple(choice.strip() for choice in listed[1].split(",")) if listed else ()
        if not all(choices) or len(set(choices)) != len(choices) or not choices:
            raise ConfigurationError(
                f"{where}: the enum {name!r} lists its choices once each, as 'enum(paid, shipped)'"
            )
        if odd := [choice for choice in choices if _QUOTED.fullmatch(choice) or "|" in choice]:
            raise ConfigurationError(
                f"{where}: the enum {name!r} has the choice {odd[0]!r}; write choices without quotes, with commas"
            )
        rest = rest[listed.end() :] if listed else rest
    is_optional = rest.lstrip().startswith("?")
    parts = _read_parts(rest.lstrip().removeprefix("?"), where, text)
    return _make(name, kind, description.strip(), choices, is_optional, parts, where)


def _guess(text: str) -> str:
    """Return which type may be meant, as the end of a sentence."""
    words = re.findall(r"[a-z]+", text.lower())
    kind = next((_CALLED_ELSEWHERE[word] for word in words[1:] if word in _CALLED_ELSEWHERE), None)
    return f"; is {kind!r} meant?" if kind else ""


def _read_parts(rest: str, where: str, text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    while rest.strip():
        found = _PART.match(rest)
        groups = found.groupdict().items() if found else ()
        said = {_SAME.get(name, name): value for name, value in groups if value is not None}
        if not found or said.keys() & parts.keys():
            raise ConfigurationError(f"{where}: {rest.strip()!r} says nothing of a parameter in {text!r}; {_HOW}")
        parts |= said
        rest = rest[found.end() :]
    return parts


def _make(
    name: str, kind: str, description: str, choices: tuple[str, ...], is_optional: bool, parts: Mapping[str, str],
    where: str,
) -> Parameter:  # fmt: skip
    minimum, maximum = _bounds(kind, parts, f"{where}: the parameter {name!r}")
    pattern = parts.get("pattern")
    try:
        compiled = re.compile(pattern) if pattern is not None else None
    except re.error as error:
        raise ConfigurationError(f"{where}: the pattern of {name!r} is none: {error}") from error
    parameter = Parameter(
        name=name,
        kind=kind,
        description=description,
        minimum=minimum,
        maximum=maximum,
        pattern=pattern,
        choices=choices,
        is_optional=is_optional,
        compiled=compiled,
    )
    if "default" not in parts:
        return parameter
    stated = parts["default"].strip()
    if kind not in ("int", "number", "bool") and (_QUOTED.fullmatch(stated) or stated.lower() == "null"):
        raise ConfigurationError(
            f"{where}: the default of {name!r} is written without quotes, and none at all where it may be null: "
            f"'{name} {kind}?'; not {stated!r}"
        )
    default: Json = stated if kind not in ("int", "number", "bool") else _json(stated)
    try:
        parameter.accept(default)
    except ValueError as error:
        raise ConfigurationError(f"{where}: the default of {name!r} is not one of its values: {error}") from error
    return replace(parameter, default=default, has_default=True)


def _bounds(kind: str, parts: Mapping[str, str], what: str) -> tuple[float | None, float | None]:
    least, most = parts.get("least"), parts.get("most")
    if (least or most) and kind not in ("int", "number", *_TEXTS):
        raise ConfigurationError(f"{what} is a {kind}, which has no bounds")
    if "pattern" in parts and kind != "text":
        raise ConfigurationError(f"{what} is a {kind}; a pattern is for a text")
    if kind != "number" and "." in f"{least}{most}":
        raise ConfigurationError(f"{what} is of type {kind}, whose bounds are whole numbers")
    read = float if kind == "number" else int
    minimum, maximum = (None if bound is None else read(bound) for bound in (least, most))
    if kind in _TEXTS:
        minimum = minimum if minimum is not None else SHORTEST_MATCH if kind in MATCHING else 0
        maximum = maximum if maximum is not None else max(LONGEST_TEXT, minimum)
        if minimum < 0:
            raise ConfigurationError(f"{what} is of type {kind}, whose bounds are lengths; none is below 0")
        if kind in MATCHING and minimum < SHORTEST_MATCH:
            raise ConfigurationError(f"{what} needs at least {SHORTEST_MATCH} letters, or it matches nearly everything")
    if kind == "int":
        minimum = -LARGEST_INT - 1 if minimum is None else minimum
        maximum = LARGEST_INT if maximum is None else maximum
    if minimum is not None and maximum is not None and minimum > maximum:
        raise ConfigurationError(f"{what} has no value: its least is above its most")
    return minimum, maximum


def _json(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value


_SCHEMAS: Final[Mapping[str, JsonObject]] = {
    "bool": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "uuid": {"type": "string", "format": "uuid"},
}


def _schema_of_kind(parameter: Parameter) -> JsonObject:
    match parameter.kind:
        case "int":
            return {"type": "integer", "minimum": _whole(parameter.minimum), "maximum": _whole(parameter.maximum)}
        case "number":
            bounds = {"minimum": parameter.minimum, "maximum": parameter.maximum}
            return {"type": "number", **{name: bound for name, bound in bounds.items() if bound is not None}}
        case "enum":
            return {"type": "string", "enum": list(parameter.choices)}
        case "text" | "prefix" | "contains":
            lengths = {"minLength": _whole(parameter.minimum), "maxLength": _whole(parameter.maximum)}
            anchored = {} if parameter.pattern is None else {"pattern": f"^(?:{parameter.pattern})$"}
            return {"type": "string", **lengths, **anchored}
        case _:
            return _SCHEMAS[parameter.kind]


def _whole(bound: float | None) -> int:
    return max(-LARGEST_INT - 1, min(LARGEST_INT, int(bound or 0)))


def _accept_int(parameter: Parameter, value: Json) -> Json:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{parameter.name} must be a whole number")  # noqa: TRY004 - one kind of error for all
    if not _whole(parameter.minimum) <= value <= _whole(parameter.maximum):
        raise ValueError(f"{parameter.name} must be from {_whole(parameter.minimum)} to {_whole(parameter.maximum)}")
    return value


def _accept_number(parameter: Parameter, value: Json) -> Json:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{parameter.name} must be a number")  # noqa: TRY004 - one kind of error for all
    try:
        is_finite = isfinite(value)
    except OverflowError:  # a whole number that no database takes
        is_finite = False
    if not is_finite:
        raise ValueError(f"{parameter.name} must be a finite number")
    if (parameter.minimum is not None and value < parameter.minimum) or (
        parameter.maximum is not None and value > parameter.maximum
    ):
        raise ValueError(f"{parameter.name} must be from {parameter.minimum} to {parameter.maximum}")
    return value


def _accept_text(parameter: Parameter, value: Json) -> Json:
    if not isinstance(value, str):
        raise ValueError(f"{parameter.name} must be a text")  # noqa: TRY004 - one kind of error for all
    if "\0" in value or any(0xD800 <= ord(letter) <= 0xDFFF for letter in value):
        raise ValueError(f"{parameter.name} holds a character that no database takes")
    least, most = _whole(parameter.minimum), _whole(parameter.maximum)
    if not least <= len(value) <= most:
        raise ValueError(f"{parameter.name} must have from {least} to {most} characters")
    if parameter.compiled and not parameter.compiled.fullmatch(value):
        raise ValueError(f"{parameter.name} must match {parameter.pattern}")
    return value


def _accept_bool(parameter: Parameter, value: Json) -> Json:
    if not isinstance(value, bool):
        raise ValueError(f"{parameter.name} must be true or false")  # noqa: TRY004 - one kind of error for all
    return value


def _accept_enum(parameter: Parameter, value: Json) -> Json:
    if value not in parameter.choices:
        raise ValueError(f"{parameter.name} must be one of {', '.join(parameter.choices)}")
    return value


def _accept_date(parameter: Parameter, value: Json) -> Json:
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ValueError(f"{parameter.name} must be a date, as 2025-06-30") from None


def _accept_datetime(parameter: Parameter, value: Json) -> Json:
    try:
        moment = datetime.fromisoformat(str(value))
        if moment.tzinfo:
            moment.astimezone(UTC)  # which the first and the last hours of all time have no place in
        return moment.isoformat(sep=" ")
    except (ValueError, OverflowError):
        raise ValueError(f"{parameter.name} must be a time, as 2025-06-30T12:00:00Z") from None


def _accept_uuid(parameter: Parameter, value: Json) -> Json:
    try:
        return str(UUID(str(value)))
    except ValueError:
        raise ValueError(f"{parameter.name} must be a UUID") from None


_ACCEPT: Final = {
    "int": _accept_int,
    "number": _accept_number,
    "text": _accept_text,
    "prefix": _accept_text,
    "contains": _accept_text,
    "bool": _accept_bool,
    "enum": _accept_enum,
    "date": _accept_date,
    "datetime": _accept_datetime,
    "uuid": _accept_uuid,
}
