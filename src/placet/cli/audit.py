"""`placet audit`: what happened, and whether the log of it is whole."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from placet.cli.command import Ended, Identity, command
from placet.cli.door import Door
from placet.cli.exits import Exit, Failure
from placet.cli.layout import GAP
from placet.cli.present import outcome_json, refusal
from placet.cli.records import RECORD_HANG, record_json, record_line, record_lines
from placet.cli.requests import moment
from placet.errors import ConfigurationError, StoreError
from placet.runtime.heads import ExportedHeads, read_heads, sign_heads
from placet.runtime.settle import settle_effect
from placet.values.audit import AuditRecord, AuditVerification
from placet.values.decision import Reason
from placet.values.effect import EffectState
from placet.values.json import JsonObject
from placet.values.outcome import Refused
from placet.words.messages import (
    ANCHORED,
    CHAIN_BROKEN,
    CHAIN_INTACT,
    CHAINS_READ,
    DONE_OR_FAILED,
    EFFECT_STATES,
    EMPTY_LOG,
    HEADS_DO_NOT_FIT,
    NO_EFFECT,
    NO_FILE,
    NO_RUN,
    OUTCOME_KNOWN,
    SETTLED,
    STILL_RUNNING,
    UNANCHORED,
)

audit = typer.Typer(help="The audit log: what happened, and whether it is whole.", no_args_is_help=True)

FOLLOW_SECONDS: Final = 0.5
"""How often a log is looked at that somebody follows."""
_AT_ONCE: Final = 1000
"""How many of the newest records are looked at each time."""


@command(audit, "tail")
def tail(
    door: Door,
    last: Annotated[int, typer.Option("-n", "--last", min=0, help="How many records.")] = 20,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
) -> Ended:
    """Print the newest records, oldest first."""
    followed: dict[str, int] = {}
    found = door.wait(_unseen(door, max(last, _AT_ONCE) if follow else last, followed))
    _print(door, found[max(0, len(found) - last) :])
    if not found and not follow and not door.screen.as_json:
        door.screen.note(Text(f"{GAP}{door.say(EMPTY_LOG)}", style="dim"))
    try:
        while follow:
            door.wait(asyncio.sleep(FOLLOW_SECONDS))
            _print(door, door.wait(_unseen(door, _AT_ONCE, followed)))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED  # that is how following ends; nothing was cancelled
    return Exit.OK


async def _unseen(door: Door, last: int, seen: dict[str, int]) -> list[AuditRecord]:
    """Return which of the newest records are new, and note how far every chain is now.

    Args:
        door: Whose log.
        last: How many of the newest records are looked at.
        seen: By writer, the last place that was seen.
    """
    newest = [record async for record in door.agent.store.read(last=last)]
    fresh = [record for record in newest if record.sequence > seen.get(record.writer, 0)]
    for record in fresh:
        seen[record.writer] = record.sequence
    return fresh


@command(audit, "show")
async def show(door: Door, run_id: Annotated[str, typer.Argument(metavar="RUN")]) -> Ended:
    """Tell all that is recorded of one run: who asked, what was decided by which rule, what ran, what came back."""
    found = [record async for record in door.agent.store.read(run_id=run_id)]
    if not found:
        return Failure(exit=Exit.NOT_FOUND, code=Reason.NOT_FOUND, message=door.say(NO_RUN, id=run_id))
    if door.screen.as_json:
        _print(door, found)
        return Exit.OK
    door.screen.line(Text(f"{GAP}{run_id}", style="bold"))
    for record in found:
        for line in record_lines(door, record):
            door.screen.prose(line, RECORD_HANG)
    return Exit.OK


@command(audit, "export")
async def export(
    door: Door, run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only of this run.")] = None
) -> Ended:
    """Print every record as JSON Lines, oldest first. What was redacted in the log is redacted here."""
    async for record in door.agent.store.read(run_id=run):
        door.screen.data(record_json(record))
    return Exit.OK


@command(audit, "verify")
async def verify(
    door: Door,
    head: Annotated[
        Path | None, typer.Option("--head", metavar="FILE", help="Heads that `placet audit heads` has exported.")
    ] = None,
) -> Ended:
    """Look at every record of every chain. Exit code 1 and the first fault, when it is not whole."""
    anchor: ExportedHeads | None = None
    if head is not None:
        try:
            anchor = read_heads(door.agent.world.keys.heads, _read(door, head))
        except StoreError:
            return Failure(exit=Exit.ERROR, code="heads", message=door.say(HEADS_DO_NOT_FIT, path=str(head)))
    found = await door.agent.store.verify(anchor.heads if anchor is not None else ())
    if door.screen.as_json:
        door.screen.data(_verification_json(found, anchor))
    else:
        _print_verification(door, found, anchor)
    return Exit.OK if found.fault is None else Exit.ERROR


@command(audit, "heads")
async def heads(door: Door) -> Ended:
    """Print where every chain ends, signed: kept elsewhere, it shows a tail that is cut off later."""
    found = await door.agent.store.heads()
    now = door.agent.world.clock.now()
    door.screen.out.file.write(sign_heads(door.agent.world.keys.heads, found, now) + "\n")
    return Exit.OK


@command(audit, "settle", identity=Identity.REQUIRED)
async def settle(
    door: Door,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The call whose outcome is unknown.")],
    done: Annotated[bool, typer.Option("--done", help="It was carried out.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="It was not: the same call may be made again.")] = False,
) -> Ended:
    """Say how a call ended of which nobody knows, after somebody has looked. It is recorded who said so."""
    if done == failed:
        return Failure(exit=Exit.USAGE, code="usage", message=door.say(DONE_OR_FAILED))
    state = EffectState.DONE if done else EffectState.FAILED
    settled = await settle_effect(door.agent.world, key, state, door.asker.id)
    if isinstance(settled, Refused):
        return await _not_settled(door, key, settled)
    if door.screen.as_json:
        door.screen.data({"key": key, "state": settled.state.value})
    else:
        door.screen.say(door.say(SETTLED, state=door.say(EFFECT_STATES[settled.state])))
    return Exit.OK


async def _not_settled(door: Door, key: str, refused: Refused) -> Ended:
    if door.screen.as_json:
        door.screen.data(outcome_json(door, refused))
        return refusal(door, refused).exit
    effect = await door.agent.store.find_effect(key)
    message = None
    if effect is None:
        message = door.say(NO_EFFECT, key=key)
    elif refused.reason is Reason.EFFECT_RUNNING:
        message = door.say(STILL_RUNNING, key=key, until=moment(door, effect.deadline))
    elif refused.reason is Reason.KEY_CONFLICT:
        message = door.say(OUTCOME_KNOWN, key=key, state=door.say(EFFECT_STATES[effect.state]))
    return refusal(door, refused, message)


def _print(door: Door, records: list[AuditRecord]) -> None:
    for record in records:
        if door.screen.as_json:
            door.screen.data(record_json(record))
        else:
            door.screen.prose(record_line(door, record), RECORD_HANG)


def _read(door: Door, file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(door.say(NO_FILE, path=str(file))) from error


def _print_verification(door: Door, found: AuditVerification, anchor: ExportedHeads | None) -> None:
    if found.fault is not None:
        fault = found.fault
        text = door.say(CHAIN_BROKEN, writer=fault.writer, sequence=fault.sequence, message=fault.message)
        door.screen.line(Text(f"{door.screen.indent}✗ {text}", style="red"))
        return
    door.screen.say(f"{door.say_plural(CHAIN_INTACT, found.records)} · {door.say_plural(CHAINS_READ, found.chains)}")
    if found.anchored and anchor is not None:
        door.screen.say(f"{door.say(ANCHORED)} ({moment(door, anchor.at)})")
    else:
        door.screen.say(door.say(UNANCHORED))


def _verification_json(found: AuditVerification, anchor: ExportedHeads | None) -> JsonObject:
    fault = found.fault
    return {
        "intact": fault is None,
        "records": found.records,
        "chains": found.chains,
        "anchored": found.anchored,
        "anchored_at": anchor.at.isoformat() if anchor is not None and found.anchored else None,
        "fault": None
        if fault is None
        else {"writer": fault.writer, "sequence": fault.sequence, "message": fault.message},
    }
