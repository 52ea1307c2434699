"""The text protocol: calls for models that only write text. Off unless switched on.

```text
{"action": "get_order_status", "order_id": "8842"}
```

Text is a poor carrier: whatever the model repeats, quotes or was told by a tool looks the same
as what it wants. So the rules are narrow. The whole reply is one call, or it is text. It names
a tool that was offered, or it is text. It stands nowhere in what the user or a tool has said,
or it is text. What passes is a wish like any other, and goes through the same gate.

The fenced form asks the model to put the call between markers that are new in each run and
that no tool output can know. The schema form is for servers that hold the model to a JSON
Schema but ignore tools: one branch for each tool, and one for none.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

import jiter

from placet.values.json import Json, JsonObject, canonical
from placet.values.tool import ToolSpec

NO_TOOL: Final = "none"
"""Name of the branch for no call, in the schema form."""

UNREADABLE: Final = (
    "the call between the markers is not one JSON object with the tool's name in 'action'; send it again"
)

_MARKDOWN: Final = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_NAMED_EXAMPLE: Final = '{"name": "NAME", "arguments": {"ARGUMENT": VALUE}}'
_MAX_NESTING: Final = 4
_MAX_FAILURES: Final = 1_000
_DECODER: Final = json.JSONDecoder(strict=False)


class TextForm(StrEnum):
    """How a call is written."""

    PLAIN = "plain"
    FENCED = "fenced"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call that was read from a reply.

    Attributes:
        name: Of the tool.
        arguments: JSON text.
        fault: Why it cannot be known, or None.
    """

    name: str
    arguments: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reply says: a call, or words.

    Attributes:
        call: The call, or None.
        text: The words, or empty.
    """

    call: TextCall | None = None
    text: str = ""


def read_reply(text: str, names: Collection[str], form: TextForm, marker: str, heard: Iterable[str]) -> Reply:
    """Return what a reply says.

    Args:
        text: The whole reply.
        names: The tools that were offered.
        form: How a call is written.
        marker: The run's own, for the fenced form.
        heard: What the user and the tools have said: a call that stands in it is only repeated.
    """
    if form is TextForm.FENCED:
        found = re.fullmatch(rf"<<call {re.escape(marker)}>>(.*)<<end {re.escape(marker)}>>", text.strip(), re.DOTALL)
        return Reply(_read_fenced(found[1])) if found and marker else Reply(text=text)
    body = _read_object(_unwrap(text))
    if form is TextForm.SCHEMA and body is not None and body.get("name") == NO_TOOL and "answer" in body:
        answer = body["answer"]
        return Reply(text=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))
    call = _read_call(body, names) if body is not None else None
    if call is None or _is_repeated(call, heard):
        return Reply(text=text)
    return Reply(call)


def read_cut_reply(text: str, names: Collection[str]) -> Reply:
    """Return what a reply in the schema form says that was cut off before its end.

    Words are words as far as they have come. A call cannot be known: its arguments are not told,
    and whoever reads the reply gives it a fault.
    """
    try:
        value: dict[str, Any] = jiter.from_json(_unwrap(text).encode(), partial_mode="trailing-strings")
    except (ValueError, UnicodeEncodeError):
        return Reply(text=text)
    name = value.get("name") if type(value) is dict else None
    if name == NO_TOOL:
        answer = value.get("answer", "")
        return Reply(text=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))
    if isinstance(name, str) and name in names:
        return Reply(TextCall(name, "{}"))
    return Reply(text=text)


def may_be_call(text: str) -> bool:
    """Whether a reply that begins like this may turn out to be a call, so that it is not words yet."""
    start = text.lstrip()
    return not start or start[0] in "{`" or "<<call ".startswith(start[:7]) or start.startswith("<<call ")


def write_call(name: str, arguments: JsonObject, form: TextForm, marker: str) -> str:
    """Return a call as the model writes it: what it has said before is shown to it so."""
    flat = form is not TextForm.SCHEMA and "action" not in arguments
    body = {"action": name, **arguments} if flat else {"name": name, "arguments": arguments}
    text = json.dumps(body, ensure_ascii=False)
    return f"<<call {marker}>>\n{text}\n<<end {marker}>>" if form is TextForm.FENCED else text


def describe_tools(specs: Sequence[ToolSpec], form: TextForm, marker: str) -> str:
    """Return what the prompt says of the tools, and of how they are called."""
    lines = ["You can call these tools:"]
    for spec in specs:
        schema = json.dumps(spec.input_schema, ensure_ascii=False)
        lines.append(f"- {spec.name}: {spec.description.strip()}\n  arguments, as JSON Schema: {schema}")
    taken = any("action" in _properties(spec) for spec in specs)
    example = _NAMED_EXAMPLE if taken else '{"action": "NAME", "ARGUMENT": VALUE}'
    match form:
        case TextForm.PLAIN:
            how = f"To call a tool, answer with one JSON object and nothing else, as {example}."
        case TextForm.FENCED:
            how = (
                "To call a tool, answer with exactly these three lines and nothing else:\n"
                f"<<call {marker}>>\n{example}\n<<end {marker}>>"
            )
        case TextForm.SCHEMA:
            # The server holds the model to the shape; small models copy the blanks of an example.
            how = (
                'Answer with one JSON object. When a tool is needed, "name" is the tool and "arguments" holds its '
                f'arguments. When none is needed, "name" is "{NO_TOOL}" and "answer" holds your words to the user.'
            )
    one = "Call one tool at a time and wait for its result. Call none when none is needed, and answer in words."
    return "\n".join([*lines, how, one if form is not TextForm.SCHEMA else "Call one tool at a time."])


def _properties(spec: ToolSpec) -> Collection[str]:
    properties = spec.input_schema.get("properties")
    return properties if isinstance(properties, Mapping) else ()


def reply_schema(specs: Sequence[ToolSpec], output: JsonObject | None = None) -> JsonObject:
    """Return the JSON Schema of a reply in the schema form.

    Args:
        specs: The tools.
        output: Schema of the structured output that is asked for, or None for words.
    """
    definitions: dict[str, Json] = {}
    branches: list[Json] = [
        _branch(spec.name, "arguments", _hoist(spec.input_schema, spec.name, definitions)) for spec in specs
    ]
    answer: JsonObject = {"type": "string"} if output is None else _hoist(output, NO_TOOL, definitions)
    branches.append(_branch(NO_TOOL, "answer", answer))
    return {"anyOf": branches, "$defs": definitions} if definitions else {"anyOf": branches}


def _branch(name: str, key: str, schema: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, key: schema},
        "required": ["name", key],
        "additionalProperties": False,
    }


def _hoist(schema: JsonObject, name: str, definitions: dict[str, Json]) -> JsonObject:
    """Return a schema whose definitions stand at the root of another, under names of its own."""
    prefix = f"{name}."

    def rewrite(part: Json) -> Json:
        if isinstance(part, Mapping):
            return rewrite_object(part)
        if isinstance(part, str) or not isinstance(part, Sequence):
            return part
        return [rewrite(item) for item in part]

    def rewrite_object(part: JsonObject) -> JsonObject:
        return {
            key: f"#/$defs/{prefix}{value.rpartition('/')[2]}"
            if key == "$ref" and isinstance(value, str)
            else rewrite(value)
            for key, value in part.items()
            if key not in ("$defs", "definitions")
        }

    for key in ("$defs", "definitions"):
        own = schema.get(key)
        for inner, value in own.items() if isinstance(own, Mapping) else ():
            definitions[f"{prefix}{inner}"] = rewrite(value)
    return rewrite_object(schema)


def _read_fenced(text: str) -> TextCall:
    body = _read_object(_unwrap(text))
    name = body.get("action", body.get("name")) if body is not None else None
    if body is None or not isinstance(name, str):
        return TextCall("unreadable", "{}", UNREADABLE)
    return _read_call(body, (name,)) or TextCall(name, "{}", UNREADABLE)


def _unwrap(text: str) -> str:
    """Return a reply without the code fence around the whole of it."""
    stripped = text.strip()
    found = _MARKDOWN.fullmatch(stripped)
    return found[1] if found and "```" not in found[1] else stripped


def _read_object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value: dict[str, Any] = jiter.from_json(text.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
    except (ValueError, UnicodeEncodeError):
        return None
    return value if type(value) is dict else None


def _read_call(body: Mapping[str, Any], names: Collection[str]) -> TextCall | None:
    """Return the call that an object is: `action` with its arguments, or `name` and `arguments`."""
    action = body.get("action")
    if isinstance(action, str) and action in names:
        arguments = {key: value for key, value in body.items() if key != "action"}
        return TextCall(action, json.dumps(arguments, ensure_ascii=False))
    name, inner = body.get("name"), body.get("arguments")
    if set(body) == {"name", "arguments"} and isinstance(name, str) and name in names and isinstance(inner, dict):
        return TextCall(name, json.dumps(inner, ensure_ascii=False))
    return None


def _is_repeated(call: TextCall, heard: Iterable[str]) -> bool:
    """Whether a call stands in what was heard, in whatever form, order or level of quotes."""
    wanted = (call.name, canonical(json.loads(call.arguments)))
    return any(_holds(source, wanted) for source in heard if call.name in source)


def _holds(source: str, wanted: tuple[str, str]) -> bool:
    """Whether a call stands in a text. One that hides too deep to look for it counts as standing there."""
    pending: list[tuple[str, int]] = [(source, 0)]
    failures = 0
    while pending:
        text, nesting = pending.pop()
        position = text.find("{")
        while position >= 0:
            try:
                value, position = _DECODER.raw_decode(text, position)
            except (ValueError, RecursionError):
                failures += 1
                position += 1
            else:
                for inner in _walk(value):
                    if isinstance(inner, str):
                        if wanted[0] in inner and "{" in inner:
                            pending.append((inner, nesting + 1))
                    elif _says(inner, wanted):
                        return True
            if failures > _MAX_FAILURES or nesting > _MAX_NESTING:
                return True
            position = text.find("{", position)
    return False


def _says(body: dict[str, Any], wanted: tuple[str, str]) -> bool:
    call = _read_call(body, (wanted[0],))
    return call is not None and canonical(json.loads(call.arguments)) == wanted[1]


def _walk(value: Any) -> Iterator[dict[str, Any] | str]:
    """Yield the objects and the texts in a JSON value."""
    pending: list[Any] = [value]
    while pending:
        inner = pending.pop()
        if type(inner) is str:
            yield inner
        elif type(inner) is dict:
            body = cast("dict[str, Any]", inner)
            yield body
            pending.extend(body.values())
        elif type(inner) is list:
            pending.extend(cast("list[Any]", inner))  # type: ignore[redundant-cast]  # not to pyright
