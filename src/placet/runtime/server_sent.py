"""Server-sent events: a run's events on the wire, in placet's own shape.

Each event is one message of the event stream format (WHATWG HTML, section 9.2): its number
as `id`, so that a client that comes back says `Last-Event-ID` and misses nothing; its kind
as `event`; and one line of JSON as `data`.

| event | data |
|---|---|
| `text` | `run`, `text` |
| `output` | `run`, `partial` |
| `call_proposed` | `run`, `key`, `tool` |
| `call_started` | `run`, `key`, `tool`, `arguments` (redacted), `sentence`, `rule` |
| `call_finished` | `run`, `key`, `tool`, `code`, `rule`, `ms` |
| `waiting` | `run`, `key`, `approval` (id, yes, tool, approvers, preview, expires_at; never the token) |
| `ended` | `run`, `status`: `answer` (`text`, `output`, `cut`), `waiting`, `stopped` or `refused` (`reason`, `text`) |
"""

from typing import Any, assert_never

import jiter
from pydantic_core import to_json

from placet.values.event import (
    CallFinished,
    CallProposed,
    CallStarted,
    CallWaiting,
    Event,
    OutputDelta,
    RunEnded,
    TextDelta,
)
from placet.values.outcome import Answer, Outcome, PendingApproval, Refused, Stopped, Waiting


def encode_event(number: int, event: Event) -> bytes:
    """Return one message of an event stream, its empty line included.

    Args:
        number: The number of the event in its run.
        event: What happened.
    """
    kind, data = shape_of(event)
    body = to_json(data, fallback=str, inf_nan_mode="null")
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), body)


def shape_of(event: Event) -> tuple[str, dict[str, Any]]:  # noqa: PLR0911 - one return for each event
    """Return the kind and the data of an event on the wire."""
    match event:
        case TextDelta():
            return "text", {"run": event.run_id, "text": _valid(event.text)}
        case OutputDelta():
            return "output", {"run": event.run_id, "partial": event.partial}
        case CallProposed():
            return "call_proposed", {"run": event.run_id, "key": event.key, "tool": _valid(event.tool)}
        case CallStarted():
            return "call_started", {
                "run": event.run_id,
                "key": event.key,
                "tool": event.tool,
                "arguments": jiter.from_json(event.arguments.encode("utf-8", "replace")),
                "sentence": _valid(event.sentence),
                "rule": event.rule,
            }
        case CallFinished():
            return "call_finished", {
                "run": event.run_id,
                "key": event.key,
                "tool": _valid(event.tool),
                "code": event.code,
                "rule": event.rule,
                "ms": round(event.milliseconds, 2),
            }
        case CallWaiting():
            return "waiting", {"run": event.run_id, "key": event.key, "approval": _approval(event.approval)}
        case RunEnded():
            return "ended", {"run": event.run_id, **_outcome(event.outcome)}
        case _:
            assert_never(event)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Answer():
            shown = {"status": "answer", "text": _valid(outcome.text), "output": outcome.output}
            return {**shown, "cut": True} if outcome.cut else shown
        case Waiting():
            return {"status": "waiting", "approvals": [_approval(pending) for pending in outcome.approvals]}
        case Stopped():
            return {"status": "stopped", "reason": outcome.reason, "text": _valid(outcome.text)}
        case Refused():
            return {"status": "refused", "reason": outcome.reason, "text": _valid(outcome.message)}
        case _:
            assert_never(outcome)


def _approval(pending: PendingApproval) -> dict[str, Any]:
    return {
        "id": pending.id,
        "yes": pending.yes,
        "tool": pending.tool,
        "approvers": sorted(pending.approvers),
        "preview": _valid(pending.preview.text) if pending.preview else None,
        "expires_at": pending.expires_at.isoformat(),
    }


def _valid(text: str) -> str:
    """Return a text that UTF-8 can carry: lone surrogates become U+FFFD."""
    return text.encode("utf-8", "replace").decode()
