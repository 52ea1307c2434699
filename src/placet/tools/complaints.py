"""What is said of arguments that are refused: which field, what was expected, what to do.

A complaint never holds a value that was sent: it may be a secret, or ten thousand
characters long. It names the kind of what was sent, which is what a model needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from pydantic_core import ErrorDetails

from placet.tools.json_schema import subschemas
from placet.tools.schema_parts import definition
from placet.values.json import is_array, is_mapping, is_object

MAX_COMPLAINTS: Final = 5
_MAX_NAME: Final = 60

_KINDS: Final[Mapping[type, str]] = {
    str: "text", bool: "a boolean", int: "a whole number", float: "a number", list: "a list", dict: "an object",
    type(None): "null",
}  # fmt: skip

_EXPECTED: Final = {
    "bool_type": "must be true or false, without quotes",
    "bytes_invalid_encoding": "must be bytes as base64 text",
    "bytes_type": "must be bytes as base64 text",
    "dataclass_type": "must be an object",
    "date_from_datetime_parsing": "must be a date as YYYY-MM-DD",
    "date_parsing": "must be a date as YYYY-MM-DD",
    "date_type": "must be a date as YYYY-MM-DD",
    "datetime_from_date_parsing": "must be a date and time as 2031-05-06T07:08:09Z",
    "datetime_parsing": "must be a date and time as 2031-05-06T07:08:09Z",
    "datetime_type": "must be a date and time as 2031-05-06T07:08:09Z",
    "decimal_parsing": "must be a decimal number",
    "decimal_type": "must be a decimal number",
    "dict_type": "must be an object",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "frozen_set_type": "must be a list without repetitions",
    "int_from_float": "must be a whole number",
    "int_type": "must be a whole number, without quotes",
    "list_type": "must be a list",
    "missing": "is required",
    "missing_argument": "is required",
    "missing_keyword_only_argument": "is required",
    "model_type": "must be an object",
    "none_required": "must be null",
    "set_type": "must be a list without repetitions",
    "string_type": "must be text",
    "time_delta_parsing": "must be a duration as PT1H30M",
    "time_delta_type": "must be a duration as PT1H30M",
    "time_parsing": "must be a time as 07:08:09",
    "time_type": "must be a time as 07:08:09",
    "tuple_type": "must be a list",
    "uuid_parsing": "must be a UUID",
    "uuid_type": "must be a UUID",
}
_UNKNOWN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_TYPED: Final = frozenset(key for key in _EXPECTED if key.endswith(("_type", "_parsing")))


def complain(
    errors: Sequence[ErrorDetails], sent: Any, schema: Mapping[str, Any], secret: AbstractSet[str]
) -> tuple[str, str | None]:
    """Return what is said of arguments that do not validate, and a hint.

    Args:
        errors: As pydantic lists them.
        sent: The arguments as they were parsed.
        schema: The tool's input schema, for the names that it knows.
        secret: Names of fields of which nothing is repeated.
    """
    said: list[str] = []
    hints: list[str] = []
    for error in errors:
        path = place_of(error, sent)
        name = ".".join(short(part) for part in path) or "the arguments"
        if error["type"] in _UNKNOWN:
            line = f"{name}: is unknown to this tool"
            hints.append(nearest(str(path[-1]) if path else "", names_at(schema, path[:-1])))
        else:
            line = f"{name}: {_expected(error, secret=not secret.isdisjoint(map(str, path)))}"
        if line not in said:
            said.append(line)
    return _joined(said), next(filter(None, hints), None)


def _expected(error: ErrorDetails, *, secret: bool) -> str:
    kind = error["type"]
    words = _EXPECTED.get(kind)
    if words is None:
        if secret or kind == "union_tag_invalid":
            words = _tags(error) if kind == "union_tag_invalid" and not secret else "has not the form that is declared"
        else:
            words = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
            words = words.replace("Input should", "should").replace("Input must", "must")[:200]
    if kind in _TYPED:
        words = f"{words}; got {kind_of(error['input'])}"
    return words


def _tags(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    return f"{context.get('discriminator', 'its tag')} must be one of {context.get('expected_tags', 'those declared')}"


def kind_of(value: object) -> str:
    """Return what kind of JSON a value is, in words."""
    return _KINDS.get(type(value), "something else")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known name, or all of a few, or nothing."""
    names = sorted(known)
    if name in names:  # known, but to another form than the one that fits
        return ""
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is misspelt

    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return "it takes no arguments here"
    return f"known here: {', '.join(names[:20])}"


def names_at(schema: Mapping[str, Any], path: Sequence[str | int]) -> set[str]:
    """Return the property names that a schema knows at a path, over all arms of unions."""
    found = [schema]
    for part in path:
        found = [inner for place in found for inner in _step(schema, place, part)]
    return {str(name) for place in found for arm in _arms(schema, place) for name in arm.get("properties", {})}


def _arms(root: Mapping[str, Any], schema: Any, seen: tuple[int, ...] = ()) -> list[Mapping[str, Any]]:
    if not is_mapping(schema) or id(schema) in seen:
        return []
    seen = (*seen, id(schema))
    arms: list[Mapping[str, Any]] = [schema]
    reference = schema.get("$ref")
    if isinstance(reference, str):
        arms += _arms(root, definition(root, reference), seen)
    for key in ("anyOf", "oneOf", "allOf"):
        for arm in schema.get(key, ()):
            arms += _arms(root, arm, seen)
    return arms


def _step(root: Mapping[str, Any], schema: Mapping[str, Any], part: str | int) -> list[Mapping[str, Any]]:
    steps: list[Any] = []
    for arm in _arms(root, schema):
        if isinstance(part, int):
            steps.append(arm.get("items"))
            prefix = arm.get("prefixItems", [])
            steps.append(prefix[part] if part < len(prefix) else None)
        else:
            steps.append(arm.get("properties", {}).get(part, arm.get("additionalProperties")))
    return [step for step in steps if is_mapping(step)]


def property_names(schema: Mapping[str, Any]) -> set[str]:
    """Return every property name anywhere in a schema."""
    names: set[str] = set()
    pending: list[Any] = [schema]
    while pending:
        place = pending.pop()
        if is_mapping(place):
            names.update(place.get("properties", {}))
            pending.extend(subschemas(place))
    return names


def place_of(error: ErrorDetails, sent: Any) -> list[str | int]:
    """Return where an error is, without the labels that pydantic adds for arms of unions and functions."""
    path: list[str | int] = []
    here = sent
    place = error["loc"]
    for position, part in enumerate(place):
        last = position == len(place) - 1
        if isinstance(part, int) and is_array(here):
            path.append(part)
            here = here[part] if part < len(here) else None
        elif is_object(here) and part in here:
            path.append(part)
            here = here[part]
        elif last and is_object(here) and str(error["type"]).startswith("missing"):
            path.append(part)
    return path


def short(part: str | int) -> str:
    """Return a name as it may be repeated: a model can write anything in its place."""
    text = str(part)
    return text if len(text) <= _MAX_NAME and text.isprintable() else ascii(text[:_MAX_NAME])[1:-1] + "…"


def _joined(said: Sequence[str]) -> str:
    more = len(said) - MAX_COMPLAINTS
    return "; ".join(said[:MAX_COMPLAINTS]) + (f"; and {more} more" if more > 0 else "")
