"""Records: one line of the audit log for a person, and for a program."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import jiter
from rich.text import Text

from placet.cli.door import Door
from placet.cli.layout import GAP, call, call_of_text, labelled
from placet.values.audit import AuditEntry, AuditKind, AuditRecord
from placet.values.decision import REASONS, Reason
from placet.values.json import Json, JsonObject
from placet.words.escape import escape_for_person, escape_json
from placet.words.messages import DECISIONS, EFFECT_STATES, KINDS, REFUSALS, RUN_STATUSES

RECORD_HANG: Final = 23
"""Where a record's own words begin, after its time: the lines of a long one go on there."""
_KIND_SAYS_IT: Final = (AuditKind.WRITER, AuditKind.PURGE)
"""Their decision is the kind's own word: it is not said twice."""
_SHOWN_BODY: Final = ("text", "result", "detail", "note", "preview", "edited", "approved_by", "requested_by")
"""What of a body stands on lines of its own; the rest is for programs."""


def record_json(record: AuditRecord) -> JsonObject:
    """Return a record as one line of an export holds it. Digests of arguments do not leave."""
    entry = record.entry
    return {
        "writer": record.writer,
        "sequence": record.sequence,
        "at": entry.at.isoformat(),
        "kind": entry.kind.value,
        "run_id": entry.run_id,
        "call_key": entry.call_key,
        "principal": entry.principal_id,
        "tool": entry.tool,
        "decision": entry.decision,
        "rule": entry.rule,
        "body": read_body(entry),
        "seal": record.seal,
    }


def read_body(entry: AuditEntry) -> Json:
    """Return the body of an entry as JSON; as text, where it is none."""
    try:
        body: Json = jiter.from_json(entry.body.encode("utf-8", "surrogatepass"))
    except ValueError:
        return entry.body
    if isinstance(body, Mapping):
        return {name: value for name, value in body.items() if not name.endswith("digest")}
    return body


def record_line(door: Door, record: AuditRecord) -> Text:
    """Return a record on one line: when, what, who, and what was decided."""
    entry = record.entry
    line = _head(door, entry, read_body(entry))
    if entry.run_id:
        line.append(f"{GAP}{escape_for_person(entry.run_id).text}", "dim")
    return line


def record_lines(door: Door, record: AuditRecord) -> Iterable[Text]:
    """Yield a record with what its body says."""
    entry = record.entry
    body = read_body(entry)
    yield _head(door, entry, body)
    if isinstance(body, Mapping):
        pairs = [(name, _shown(body[name])) for name in _SHOWN_BODY if body.get(name) is not None]
        for line in labelled(pairs):
            yield Text(" " * 20).append_text(line)


def _head(door: Door, entry: AuditEntry, body: Json) -> Text:
    parts = [entry.principal_id, _call(entry, body), decision(door, entry, body), _took(body)]
    return Text.assemble(
        (f"{GAP}{_clock(entry.at)}{GAP}", "dim"),
        (f"{door.say(KINDS[entry.kind]):<10}{GAP}", _style(entry)),
        GAP.join(part for part in parts if part),
    )


def decision(door: Door, entry: AuditEntry, body: Json) -> str:
    """Return what was decided, in the person's language where there are words for it."""
    word = entry.decision if entry.kind not in _KIND_SAYS_IT else ""
    person = entry.principal_id
    if word in ("approved", "confirmed", "rejected"):
        return door.say(DECISIONS[word], person=person)
    if word == "waiting" and entry.kind is AuditKind.APPROVAL and isinstance(body, Mapping):
        approvers = body.get("approvers")
        names = ", ".join(map(str, approvers)) if isinstance(approvers, Sequence) else ""
        return door.say(DECISIONS["approve"], approvers=names) if names else door.say(DECISIONS["confirm"])
    if word == "allow":
        return door.say(DECISIONS["allow"], rule=entry.rule)
    if word in REASONS:
        rule = f" · {door.say(DECISIONS['deny'], rule=entry.rule)}" if entry.rule else ""
        return f"{door.say(REFUSALS[Reason(word)])} ({escape_for_person(word).text}){rule}"
    known = {str(state): text for state, text in (*RUN_STATUSES.items(), *EFFECT_STATES.items())}
    return door.say(known[word]) if word in known else escape_for_person(word).text


def _call(entry: AuditEntry, body: Json) -> str:
    if not entry.tool:
        return ""
    values = body.get("arguments") if isinstance(body, Mapping) else None
    if isinstance(values, str):  # the wish as the model wrote it, when nothing of it could be understood
        return call_of_text(entry.tool, values)
    return call(entry.tool, values if values is not None else {})


def _took(body: Json) -> str:
    took: Any = body.get("ms") if isinstance(body, Mapping) else None
    return f"{took:.0f} ms" if isinstance(took, float | int) and took >= 1 else ""


def _shown(value: Json) -> str:
    text = value if isinstance(value, str) else escape_json(value).text
    return text if len(text) <= 2000 else text[:2000] + "…"


def _clock(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _style(entry: AuditEntry) -> str:
    if entry.decision in REASONS or entry.decision in ("failed", "unknown", "rejected", "expired"):
        return "red"
    return "yellow" if entry.kind is AuditKind.APPROVAL else "cyan"
