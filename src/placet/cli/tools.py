"""`placet tools`: what can be called, by whom, and calling it without a model."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from difflib import get_close_matches
from typing import Annotated, Final

import typer
from rich.text import Text

from placet.cli.command import Ended, Identity, command
from placet.cli.door import Door
from placet.cli.exits import Exit, Failure
from placet.cli.inline import confirm_inline
from placet.cli.json_argument import read_object
from placet.cli.layout import GAP, labelled, table
from placet.cli.present import present, refusal, remote_json
from placet.cli.progress import watch
from placet.values.approval import ApprovalRule, Yes
from placet.values.decision import Reason
from placet.values.json import JsonObject
from placet.values.limits import Limit, RateLimit
from placet.values.outcome import Refused, Waiting
from placet.values.principal import EVERYONE
from placet.values.tool import ToolSpec
from placet.words.messages import (
    DECISIONS,
    EFFECTS,
    KEY_FIX,
    NO_TOOL,
    NO_TOOL_BUT,
    NO_TOOLS,
    ONE_OF,
    OPTIONAL,
    UNDER_A_CONDITION,
)

tools = typer.Typer(help="What can be called, by whom, and calling it without a model.", no_args_is_help=True)

_SPANS: Final = {
    timedelta(seconds=1): "s",
    timedelta(minutes=1): "min",
    timedelta(hours=1): "h",
    timedelta(days=1): "d",
}

ToolName = Annotated[str, typer.Argument(metavar="TOOL")]


@command(tools, "list", identity=Identity.OPTIONAL)
async def list_tools(door: Door) -> Ended:
    """List the tools: those that are open to a person with `--as`, else all of them."""
    specs = _visible(door)
    if door.screen.as_json:
        door.screen.data([_summary(spec) for spec in specs])
        return Exit.OK
    if not specs:
        door.screen.note(Text(f"{GAP}{door.say(NO_TOOLS)}", style="dim"))
        return Exit.OK
    headings = [door.say(name) for name in ("Tool", "Effect", "Roles", "Limit", "Description")]
    rows = [
        [
            spec.name,
            door.say(EFFECTS[spec.effect]),
            _roles(spec),
            _limits(spec),
            spec.description.strip().splitlines()[0],
        ]
        for spec in specs
    ]
    door.screen.lines(table(headings, rows, door.screen.width, flexible=(2, 4)))
    return Exit.OK


@command(tools, "show", identity=Identity.OPTIONAL)
async def show_tool(door: Door, name: ToolName) -> Ended:
    """Show what a tool declares: what it does, who may call it, whose yes it needs, and its arguments."""
    spec = next((spec for spec in _visible(door) if spec.name == name), None)
    if spec is None:
        return _missing(door, name)
    if door.screen.as_json:
        door.screen.data({**_summary(spec), "input_schema": spec.input_schema, "output_schema": spec.output_schema})
    else:
        door.screen.lines(_tool_lines(door, spec))
    return Exit.OK


@command(tools, "call", identity=Identity.REQUIRED)
def call_tool(
    door: Door,
    name: ToolName,
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments, as a JSON object.")] = "{}",
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Under one key nothing runs twice. Writes need one.")
    ] = None,
) -> Ended:
    """Call a tool by hand, through the same gate as the model's calls."""
    read = read_object(door, arguments)
    if isinstance(read, Failure):
        return read
    outcome = watch(
        door,
        lambda emit: door.agent.call(name, read, principal=door.who, key=key, language=door.language, emit=emit),
    )
    if isinstance(outcome, Waiting):
        return present(door, confirm_inline(door, outcome))
    if isinstance(outcome, Refused) and outcome.reason is Reason.KEY_REQUIRED and not door.screen.as_json:
        failure = refusal(door, outcome)
        return Failure(exit=failure.exit, code=failure.code, message=failure.message, fix=door.say(KEY_FIX))
    return present(door, outcome)


def _visible(door: Door) -> Sequence[ToolSpec]:
    toolset = door.agent.world.toolset
    principal = door.principal
    return [tool.spec for tool in toolset] if principal is None else toolset.visible(principal.roles).specs


def _missing(door: Door, name: str) -> Failure:
    near = get_close_matches(name, [spec.name for spec in _visible(door)], n=1)
    message = door.say(NO_TOOL_BUT, name=name, near=near[0]) if near else door.say(NO_TOOL, name=name)
    return Failure(exit=Exit.NOT_FOUND, code=Reason.UNKNOWN_TOOL, message=message)


def _tool_lines(door: Door, spec: ToolSpec) -> Iterable[Text]:
    yield Text(f"{GAP}{spec.name}", style="bold")
    yield from labelled(
        [
            (door.say("Remote tool"), str(spec.remote or "")),
            (door.say("Effect"), door.say(EFFECTS[spec.effect])),
            (door.say("Roles"), _roles(spec)),
            (door.say("Approval"), _approval(door, spec.approval)),
            (door.say("Limit"), _limits(spec)),
            (door.say("Timeout"), _seconds(spec.timeout)),
            (door.say("Description"), spec.description.strip()),
        ],
        door.screen.width,
    )
    properties = spec.input_schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return
    required = spec.input_schema.get("required")
    yield Text(f"{GAP}{door.say('Arguments')}", style="dim")
    width = door.screen.width - len(GAP) if door.screen.width is not None else None
    names = required if isinstance(required, list) else []
    yield from (Text(GAP).append_text(line) for line in labelled(_parameters(door, properties, names), width))


def _parameters(door: Door, properties: JsonObject, required: Sequence[object]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, schema in properties.items():
        form = schema if isinstance(schema, dict) else {}
        parts = [_type(door, form)]
        if name not in required:
            parts.append(door.say(OPTIONAL))
        if isinstance(form.get("description"), str):
            parts.append(str(form["description"]))
        rows.append((name, " · ".join(parts)))
    return rows


def _type(door: Door, form: JsonObject) -> str:
    choices = form.get("enum")
    if isinstance(choices, list):
        return door.say(ONE_OF, values=", ".join("null" if choice is None else str(choice) for choice in choices))
    several = form.get("anyOf")
    if isinstance(several, list):
        return " | ".join(_type(door, choice) for choice in several if isinstance(choice, dict))
    kinds = form.get("type")
    if isinstance(kinds, list):
        return " | ".join(map(str, kinds))
    return str(kinds or form.get("$ref") or "")


def _approval(door: Door, rule: ApprovalRule | None) -> str:
    if rule is None:
        return ""
    names = ", ".join(sorted(rule.approvers))
    said = (
        door.say(DECISIONS["approve"], approvers=names) if rule.yes is Yes.APPROVE else door.say(DECISIONS["confirm"])
    )
    return said if rule.condition is None else f"{said} ({door.say(UNDER_A_CONDITION)})"


def _roles(spec: ToolSpec) -> str:
    return ", ".join(sorted(spec.roles or ()))


def _limits(spec: ToolSpec) -> str:
    """Return how much in how long, as `10/min` or `Σ amount ≤ 500/d`: the same in every language."""
    return ", ".join(f"{_most(limit)}/{_SPANS.get(limit.per, _seconds(limit.per))}" for limit in spec.limits)


def _most(limit: Limit) -> str:
    return f"{limit.calls}" if isinstance(limit, RateLimit) else f"Σ {limit.argument} ≤ {limit.at_most}"


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():g} s"


def _summary(spec: ToolSpec) -> JsonObject:
    rule = spec.approval
    return {
        "name": spec.name,
        "remote": remote_json(spec.remote),
        "description": spec.description,
        "effect": spec.effect.value,
        "roles": sorted(spec.roles or ()),
        "open_to_everyone": EVERYONE in (spec.roles or ()),
        "open_world": spec.open_world,
        "approval": None
        if rule is None
        else {"yes": rule.yes.value, "approvers": sorted(rule.approvers), "always": rule.condition is None},
        "limits": [str(limit) for limit in spec.limits],
        "timeout_seconds": spec.timeout.total_seconds(),
    }
