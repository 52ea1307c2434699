"""Present: what came of a question, for a person and for a program."""

from datetime import datetime
from typing import Any, assert_never

from rich.text import Text

from placet.cli.door import Door
from placet.cli.exits import UNEXPECTED, Exit, Failure, exit_of
from placet.cli.layout import GAP
from placet.values.approval import Yes
from placet.values.call import ToolResult
from placet.values.json import JsonObject
from placet.values.outcome import Answer, Outcome, PendingApproval, Refused, Stopped, Waiting
from placet.values.run import Usage
from placet.values.tool import Remote
from placet.words.escape import escape_for_person
from placet.words.messages import (
    CUT_ANSWER,
    DECISIONS,
    EXPIRES,
    EXPIRES_SOON,
    PREVIEW,
    REFUSALS,
    WAITS_FOR_APPROVAL,
    WAITS_FOR_REQUESTER,
    WHY_STOPPED,
)


def present(door: Door, outcome: Outcome | ToolResult, *, told: bool = False) -> Exit | Failure:
    """Print what came of a question, and return how the command ends.

    Args:
        door: Where to print.
        outcome: What came of it.
        told: Whether the answer has been read already, as it was streamed.
    """
    if door.screen.as_json:
        door.screen.data(outcome_json(door, outcome))
        return exit_of(outcome)
    match outcome:
        case Answer(text=text) | ToolResult(is_error=False, content=text):
            if not told:
                door.screen.say(text)
            if isinstance(outcome, Answer) and outcome.cut:
                door.screen.alarm(door.say(CUT_ANSWER), "yellow", "✂ ")
        case ToolResult(content=text):
            door.screen.alarm(text, "red", "✗ ")
        case Waiting(approvals=approvals):
            for line in (line for pending in approvals for line in waiting_lines(door, pending)):
                door.screen.warn(line)
        case Stopped():
            _stopped(door, outcome)
        case Refused():
            return refusal(door, outcome)
        case _:
            assert_never(outcome)
    return exit_of(outcome)


def _stopped(door: Door, stopped: Stopped) -> None:
    door.screen.alarm(stopped.text, "yellow")
    if stopped.reason in UNEXPECTED:
        door.screen.note(why_stopped(door, stopped.run_id))


def refusal(door: Door, refused: Refused, message: str | None = None) -> Failure:
    """Return a refusal as a failure of the command.

    Args:
        door: Whose language counts.
        refused: What was refused.
        message: A better sentence than the one that stands for the reason, in the person's language.
    """
    sentence = message or door.say(REFUSALS[refused.reason])
    return Failure(exit=exit_of(refused), code=refused.reason, message=sentence)


def waiting_lines(door: Door, pending: PendingApproval) -> list[Text]:
    """Return what is said of a call that waits for a person: on one line if it has room there."""
    message = WAITS_FOR_REQUESTER if pending.yes is Yes.CONFIRM else WAITS_FOR_APPROVAL
    head = door.say(message, tool=pending.tool, id=pending.id)
    seen = escape_for_person(pending.preview.text).text if pending.preview is not None else ""
    preview = f"{door.say(PREVIEW)} {seen}" if seen else ""
    details = [part for part in (preview, expiry(door, pending.expires_at)) if part]
    first = Text.assemble((f"{GAP}⏸ ", "yellow"), head)
    whole = first.copy().append(GAP + GAP.join(details), "dim")
    width = door.screen.err.width if door.screen.err.is_terminal else None
    if width is None or whole.cell_len <= width:
        return [whole]
    return [first, *(Text(f"{GAP * 2}{part}", style="dim") for part in details)]


def expiry(door: Door, at: datetime) -> str:
    """Return how long something still waits, in the person's language."""
    now = door.agent.world.clock.now()
    if at <= now:
        return door.say(DECISIONS["expired"])
    return door.say(EXPIRES, left=left) if (left := time_left(at, now)) != "1 min" else door.say(EXPIRES_SOON)


def time_left(at: datetime, now: datetime) -> str:
    """Return how long there is still, in minutes, hours or days, begun ones included: of 15 min, 15 after a second."""
    minutes = -int(-(at - now).total_seconds() // 60)
    if minutes < 2 * 60:
        return f"{minutes} min"
    return f"{-(-minutes // 60)} h" if minutes < 2 * 24 * 60 else f"{-(-minutes // (24 * 60))} d"


def why_stopped(door: Door, run_id: str) -> Text:
    """Return where somebody finds why a run has stopped: what failed is told to the audit log alone."""
    return Text(f"{GAP}{door.say(WHY_STOPPED)} placet audit show {run_id}", style="dim")


# ── for programs ──────────────────────────────────────────────────────────────────────


def outcome_json(door: Door, outcome: Outcome | ToolResult) -> JsonObject:
    """Return what came of a question as a program reads it (docs/cli.md)."""
    match outcome:
        case Answer():
            return {
                "outcome": "answer", "run_id": outcome.run_id, "text": outcome.text, "output": outcome.output,
                "cut": outcome.cut, "usage": _usage(outcome.usage),
            }  # fmt: skip
        case Waiting():
            approvals = [_pending(pending) for pending in outcome.approvals]
            return {"outcome": "waiting", "run_id": outcome.run_id, "approvals": approvals}
        case Stopped():
            return {
                "outcome": "stopped", "run_id": outcome.run_id, "reason": outcome.reason.value, "text": outcome.text,
                "usage": _usage(outcome.usage),
            }  # fmt: skip
        case Refused():
            error = {"code": outcome.reason.value, "message": door.say(REFUSALS[outcome.reason]), "fix": ""}
            return {"outcome": "refused", "run_id": outcome.run_id, "error": error}
        case ToolResult():
            return {
                "outcome": "result", "content": outcome.content, "is_error": outcome.is_error, "code": outcome.code,
                "cut_from": outcome.cut_from,
            }  # fmt: skip
        case _:
            assert_never(outcome)


def _pending(pending: PendingApproval) -> JsonObject:
    """Return a request without its token: what decides on a command line is who asks."""
    return {
        "id": pending.id,
        "yes": pending.yes.value,
        "tool": pending.tool,
        "arguments": pending.arguments,
        "approvers": sorted(pending.approvers),
        "preview": pending.preview.text if pending.preview is not None else None,
        "expires_at": pending.expires_at.isoformat(),
    }


def _usage(usage: Usage) -> dict[str, Any]:
    used: dict[str, Any] = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    used["cost"] = format(usage.cost, "f")
    return {**used, "unpriced": usage.unpriced} if usage.unpriced else used


def remote_json(remote: Remote | None) -> JsonObject | None:
    """Return what a tool is called where it comes from, or None for the application's own."""
    return None if remote is None else {"source": remote.source, "name": remote.name}
