"""Arguments of a tool that is given by a JSON Schema, validated by it."""

import copy
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from placet.errors import ToolDefinitionError
from placet.tools.arguments import Arguments, refuse
from placet.tools.complaints import MAX_COMPLAINTS, names_at, nearest, short
from placet.tools.names import secret_names
from placet.tools.raw_schema import close_root, needs_settling, settle
from placet.values.decision import Deny
from placet.values.json import JsonObject

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

LOOK_AROUND_BYTES: Final = 4_000
"""So long may arguments be where a pattern of the schema looks around or back: matching it takes
quadratic time, a third of a second at this length. Any other pattern takes linear time."""


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


class RawForm:
    """What the arguments of a tool must be like that is given by a JSON Schema.

    See `placet.tools.raw_schema` for what is closed and what is filled in.

    Attributes:
        schema: The schema, closed.
        secret_fields: Names of the fields that look like secrets.
    """

    __slots__ = ("_linear", "_settles", "_validator", "schema", "secret_fields")

    def __init__(self, schema: Mapping[str, Any], tool: str) -> None:
        from placet.tools.schema_validator import compile_validator  # noqa: PLC0415 - heavy, and most tools are typed

        plain = _plain_schema(schema, tool)
        try:
            self.schema: JsonObject = close_root(plain)
            self._validator, self._linear = compile_validator(self.schema)
        except (ValueError, RecursionError) as error:
            reason = str(error).partition("\n")[0]
            msg = f"the parameters of tool {tool!r} are no JSON Schema that can be used offline: {reason}"
            raise ToolDefinitionError(msg) from error
        self.secret_fields = secret_names(self.schema)
        self._settles = needs_settling(self.schema)

    def check(self, text: bytes, parsed: dict[str, Any], note: str | None) -> Arguments | Deny:
        """Return the arguments, validated and written down, or why they are refused."""
        if not self._linear and len(text) > LOOK_AROUND_BYTES:
            return refuse(
                f"the arguments are {len(text)} bytes long; this tool takes {LOOK_AROUND_BYTES}, because a pattern of "
                "its schema looks around",
                "send shorter text",
            )
        try:
            if not self._validator.is_valid(parsed):
                return self._complain(parsed)
            if self._settles:
                settled = settle(self.schema, copy.deepcopy(parsed))
                if self._validator.is_valid(settled):
                    parsed = settled
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


def _complaint(error: "ValidationError", schema: JsonObject) -> tuple[str, str | None]:
    """Return what is said of one error, and a hint. Its own message holds the value, which is never repeated."""
    path = ".".join(short(part) for part in error.instance_path)
    kind = error.kind
    inside = f"{path}." if path else ""
    match kind.name:
        case "additionalProperties" | "unevaluatedProperties":
            known = names_at(schema, error.instance_path)
            unexpected = getattr(kind, "unexpected", [])
            shown = "; ".join(f"{inside}{short(name)}: is unknown to this tool" for name in unexpected[:MAX_COMPLAINTS])
            return shown, nearest(unexpected[0], known) if unexpected else None
        case "required":
            return f"{inside}{getattr(kind, 'property', '')}: is required", None
        case "type":
            types = " or ".join(map(str, getattr(kind, "types", ())))
            return f"{path or 'the arguments'}: must be of type {types}", None
        case "enum":
            options = json.dumps(getattr(kind, "options", ()), ensure_ascii=False)[:300]
            return f"{path or 'the arguments'}: must be one of {options}", None
        case name:
            rule = error.schema_path[-1] if error.schema_path else name
            return f"{path or 'the arguments'}: does not satisfy {rule!r} of the schema", None


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
