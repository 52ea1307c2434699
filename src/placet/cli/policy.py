"""`placet policy`: why a call would be permitted, refused, or waits for a person."""

from typing import Annotated

import typer
from rich.text import Text

from placet.cli.command import Ended, Identity, command
from placet.cli.door import Door
from placet.cli.exits import Exit, Failure, exit_of_code
from placet.cli.json_argument import read_object
from placet.cli.layout import GAP, labelled
from placet.cli.present import remote_json
from placet.gate.gate import told
from placet.values.decision import Allow, Decision, Deny, NeedsApproval
from placet.values.json import JsonObject

policy = typer.Typer(help="Who may call what, and why.", no_args_is_help=True)


@command(policy, "explain", identity=Identity.REQUIRED)
async def explain(
    door: Door,
    name: Annotated[str, typer.Argument(metavar="TOOL")],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments, as a JSON object.")] = "{}",
) -> Ended:
    """Say what would become of a call and what each check says to it; nothing is taken and nothing runs."""
    read = read_object(door, arguments)
    if isinstance(read, Failure):
        return read
    explained = await door.agent.explain(name, read, principal=door.who)
    remote = explained.remote
    if door.screen.as_json:
        door.screen.data(
            {
                "decision": _json(explained.decision),
                "remote": remote_json(remote),
                "checks": [{"check": check, **_json(answer)} for check, answer in explained.answers],
            }
        )
    else:
        called = name if remote is None else f"{name} ({remote})"
        door.screen.lines([Text(f"{GAP}{called}: {_line(explained.decision)}", style="bold")])
        door.screen.lines(labelled([(check, _line(answer)) for check, answer in explained.answers], door.screen.width))
    decision = explained.decision
    return exit_of_code(decision.reason) if isinstance(decision, Deny) else Exit.OK


def _line(decision: Decision) -> str:
    match decision:
        case Allow(rule=""):
            return "-"
        case Deny(rule=rule, message=message, detail=detail):
            return " · ".join(part for part in (told(decision), rule, message, detail) if part)
        case Allow(rule=rule) | NeedsApproval(rule=rule):
            return f"{told(decision)} · {rule}"


def _json(decision: Decision) -> JsonObject:
    form = {"decision": told(decision), "rule": decision.rule}
    if isinstance(decision, Deny):
        form |= {"message": decision.message, "detail": decision.detail or ""}
    return dict(form)
