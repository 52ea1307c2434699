"""`placet runs`: which tasks there are, how far they are, and going on with what nobody owns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from placet.agent.snapshot import load_run
from placet.cli.command import Ended, command
from placet.cli.door import Door
from placet.cli.exits import UNEXPECTED, Exit, Failure
from placet.cli.layout import GAP, labelled, table
from placet.cli.present import present, refusal, why_stopped
from placet.cli.progress import watch
from placet.cli.requests import moment
from placet.errors import ConfigurationError
from placet.ports import StoredRun
from placet.runtime.redacted import answer_of
from placet.runtime.report_html import render_report
from placet.values.approval import ApprovalStatus
from placet.values.decision import Reason
from placet.values.effect import EffectState
from placet.values.json import JsonObject
from placet.values.message import UserMessage
from placet.values.outcome import Refused
from placet.values.run import Run, RunStatus
from placet.words.messages import (
    CALLS_DONE,
    EFFECT_STATES,
    NO_RUN,
    NO_RUNS,
    NO_WRITING,
    NOBODY_OWNS,
    OWNED,
    RUN_ENDED,
    RUN_STATUSES,
    RUNS_PURGED,
    STATE_UNKNOWN,
    TURNS_TAKEN,
)

runs = typer.Typer(help="Tasks: how far they are, and going on with what nobody owns.", no_args_is_help=True)

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run, as run_….")]


@command(runs, "list")
async def list_runs(
    door: Door,
    status: Annotated[list[RunStatus] | None, typer.Option("--status", help="Only runs that are this far.")] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="How many, the newest first.")] = 20,
) -> Ended:
    """List runs, the newest first."""
    await door.agent.store.expire_approvals(door.agent.world.clock.now())
    found = await door.agent.store.list_runs(statuses=status or (), limit=limit)
    if door.screen.as_json:
        door.screen.data([_stored_json(door, run) for run in found])
        return Exit.OK
    if not found:
        door.screen.note(Text(f"{GAP}{door.say(NO_RUNS)}", style="dim"))
        return Exit.OK
    headings = [door.say(name) for name in ("Id", "Agent", "On behalf of", "Started", "Status")]
    rows = [[run.id, run.agent, run.principal_id, moment(door, run.created_at), _status(door, run)] for run in found]
    door.screen.lines(table(headings, rows, door.screen.width, flexible=(4,)))
    return Exit.OK


@command(runs, "show")
async def show_run(
    door: Door,
    run_id: RunId,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report there, as one page.")
    ] = None,
    report: Annotated[bool, typer.Option("--report", help="Print the report, a tree, as JSON.")] = False,
) -> Ended:
    """Show one run: what was asked, how far it is, what it waits for. `placet audit show` tells every call."""
    if html is not None or report:
        return await _report(door, run_id, html)
    store = door.agent.store
    await store.expire_approvals(door.agent.world.clock.now())
    stored = await store.load_run(run_id)
    if stored is None:
        return _missing(door, run_id)
    run = load_run(stored.snapshot, stored.journal)
    waiting = await store.list_approvals(run_id=run_id, statuses=[ApprovalStatus.PENDING])
    doubts = await store.list_effects(run_id=run_id, states=[EffectState.RUNNING, EffectState.UNKNOWN])
    now = door.agent.world.clock.now()
    unknown = [effect.key for effect in doubts if effect.state_at(now) is EffectState.UNKNOWN]
    if door.screen.as_json:
        more = {"waits_for": [request.id for request in waiting], "unknown": unknown}
        door.screen.data({**_stored_json(door, stored), **_run_json(door, run), **more})
        return Exit.OK
    door.screen.lines(_run_lines(door, stored, run, [request.id for request in waiting], unknown))
    return Exit.OK


@command(runs, "resume", asks_model=True)
def resume(door: Door, run_id: RunId) -> Ended:
    """Go on with a run that is ready, or whose worker has died, and print what comes of it."""
    stored = door.wait(door.agent.store.load_run(run_id))
    if stored is None:
        return _missing(door, run_id)
    outcome = watch(door, lambda emit: door.agent.resume(run_id, emit=emit))
    if not isinstance(outcome, Refused):
        return present(door, outcome)
    if door.screen.as_json:
        return present(door, outcome)
    if outcome.reason is Reason.APPROVAL_USED:
        message = door.say(RUN_ENDED, status=door.say(RUN_STATUSES[stored.status]))
        return refusal(door, outcome, message)
    if outcome.reason is Reason.EFFECT_RUNNING and stored.lease_until is not None:
        return refusal(door, outcome, door.say(OWNED, until=moment(door, stored.lease_until)))
    return refusal(door, outcome)


@command(runs, "purge")
async def purge(
    door: Door,
    older_than: Annotated[str, typer.Option("--older-than", metavar="AGE", help="How long ago they ended: 30d, 12h.")],
) -> Ended:
    """Forget what ended runs have said and done. The audit log and the keys of the ledger stay."""
    purged = await door.agent.purge(older_than)
    if door.screen.as_json:
        door.screen.data({"purged": purged})
    else:
        door.screen.note(Text(f"{GAP}{door.say_plural(RUNS_PURGED, purged)}"))
    return Exit.OK


async def _report(door: Door, run_id: str, page: Path | None) -> Ended:
    """Write the report of a run as a page, or print it as JSON."""
    made = await door.agent.report(run_id)
    if made is None:
        return _missing(door, run_id)
    if page is None:
        door.screen.data(made)
        return Exit.OK
    _write(door, page, render_report(made, door.language))
    if door.screen.as_json:
        door.screen.data({"html": str(page)})
    else:
        door.screen.note(Text(f"{GAP}{page}", style="dim"))
    return Exit.OK


def _write(door: Door, page: Path, text: str) -> None:
    try:
        page.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigurationError(door.say(NO_WRITING, path=str(page))) from error


def _missing(door: Door, run_id: str) -> Failure:
    return Failure(exit=Exit.NOT_FOUND, code=Reason.NOT_FOUND, message=door.say(NO_RUN, id=run_id))


def _is_left(door: Door, run: StoredRun) -> bool:
    """Return whether nobody owns a run that is not at its end and waits for nobody."""
    if run.status is RunStatus.READY:
        return True
    ended = run.lease_until is None or run.lease_until <= door.agent.world.clock.now()
    return run.status is RunStatus.RUNNING and ended


def _status(door: Door, run: StoredRun) -> str:
    status = door.say(RUN_STATUSES[run.status])
    return f"{status} · {door.say(NOBODY_OWNS)}" if _is_left(door, run) else status


def _run_lines(
    door: Door, stored: StoredRun, run: Run, waiting: Sequence[str], unknown: Sequence[str]
) -> Sequence[Text]:
    facts = _run_json(door, run)
    lines = [
        Text(f"{GAP}{stored.id}", style="bold"),
        *labelled(
            [
                (door.say("Status"), _status(door, stored)),
                (door.say("Agent"), stored.agent),
                (door.say("On behalf of"), stored.principal_id),
                (door.say("Started"), moment(door, stored.created_at)),
                (door.say("Asked"), str(facts["question"])),
                (door.say("Result"), str(facts["text"])),
                (door.say("Reason"), str(facts["stop"] or "")),
                (door.say("Steps"), _steps(door, run)),
                (door.say(RUN_STATUSES[RunStatus.WAITING]).capitalize(), ", ".join(waiting)),
                (door.say(EFFECT_STATES[EffectState.UNKNOWN]).capitalize(), ", ".join(unknown)),
            ],
            door.screen.width,
        ),
    ]
    if unknown:
        lines.append(Text(f"{GAP}{door.say(STATE_UNKNOWN)}", style="yellow"))
        lines += [Text(f"{GAP * 2}placet audit settle {key} --done|--failed --as ID", style="dim") for key in unknown]
    if run.stop in UNEXPECTED:
        lines.append(why_stopped(door, stored.id))
    return lines


def _steps(door: Door, run: Run) -> str:
    """Return how much a run has done itself. A workflow leaves it to its stages: the report tells of them."""
    if run.status is RunStatus.DONE and not run.turn and not run.calls:
        return ""
    return f"{door.say_plural(TURNS_TAKEN, run.turn)}, {door.say_plural(CALLS_DONE, run.calls)}"


def _stored_json(door: Door, run: StoredRun) -> JsonObject:
    return {
        "id": run.id,
        "agent": run.agent,
        "principal": run.principal_id,
        "status": run.status.value,
        "resumable": _is_left(door, run),
        "owner": run.owner or None,
        "lease_until": run.lease_until.isoformat() if run.lease_until is not None else None,
        "created_at": run.created_at.isoformat(),
        "updated_at": run.updated_at.isoformat(),
    }


def _run_json(door: Door, run: Run) -> JsonObject:
    """Return what the snapshot says of a run, redacted: arguments and results stand in the audit log."""
    redactor = door.agent.world.redactor(None)
    asked = [message.text for message in run.transcript if isinstance(message, UserMessage)]
    return {
        "language": run.language,
        "question": redactor.text(asked[-1]) if asked else "",
        "text": answer_of(door.agent.world, run),
        "turns": run.turn,
        "calls": run.calls,
        "stop": run.stop.value if run.stop is not None else None,
    }
