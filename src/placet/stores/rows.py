"""Between values and rows: the same columns in SQLite and PostgreSQL.

Times are microseconds since 1970, UTC. JSON stands in its canonical text, which is ASCII
and holds no control character, so every database takes it.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final, TypeAlias

from placet.errors import StoreError
from placet.ports import StoredRun
from placet.values.approval import ApprovalRequest, ApprovalStatus, Preview, Yes
from placet.values.audit import AuditEntry, AuditKind, AuditRecord, microseconds
from placet.values.effect import EffectRecord, EffectState
from placet.values.json import canonical
from placet.values.principal import Principal
from placet.values.run import RunStatus

Row: TypeAlias = Sequence[Any]

PURGED_AT_ONCE: Final = 500
"""How many runs one transaction purges, so that nobody waits long for it."""

AUDIT_COLUMNS: Final = (
    "writer, sequence, at, kind, run_id, call_key, principal_id, tool, decision, rule, body, seal"
)  # fmt: skip
RUN_COLUMNS: Final = (
    "id, agent, principal_id, status, snapshot, parent, owner, fence, lease_until, created_at, updated_at"
)
APPROVAL_COLUMNS: Final = (
    "id, token_hash, run_id, call_key, principal_id, tool, arguments, digest, schema_digest, policy_digest, rule, "
    "yes, approvers, preview, provenance, created_at, expires_at, status, decided_by, decided_at, note, note_for_model"
)
EFFECT_COLUMNS: Final = "key, principal_id, tool, digest, run_id, state, deadline, result, approval_id"

MILLION: Final = 1_000_000

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SPLIT: Final = timedelta(microseconds=1)


def moment(value: int) -> datetime:
    """Return the time that a row holds."""
    return _EPOCH + timedelta(microseconds=value)


def maybe_moment(value: int | None) -> datetime | None:
    """Return the time that a row holds, or None."""
    return None if value is None else moment(value)


def maybe_microseconds(at: datetime | None) -> int | None:
    """Return a time as a row holds it, or None."""
    return None if at is None else microseconds(at)


def span(per: timedelta) -> int:
    """Return a length of time as a row holds it."""
    return per // _SPLIT


def length(value: int) -> timedelta:
    """Return the length of time that a row holds."""
    return timedelta(microseconds=value)


def millionths(amount: Decimal) -> int:
    """Return an amount in millionths, rounded up: what is taken is never counted short."""
    return int((amount * MILLION).to_integral_value(ROUND_CEILING))


def whole_millionths(size: Decimal) -> int:
    """Return the size of a window in millionths, rounded down: what it holds is never counted long."""
    return int((size * MILLION).to_integral_value(ROUND_FLOOR))


def json_text(value: object) -> str:
    """Return the canonical text of a JSON value.

    Raises:
        StoreError: It is no JSON.
    """
    try:
        return canonical(value)
    except (TypeError, ValueError) as error:
        raise StoreError(f"what is no JSON cannot be stored: {error}") from error


# ── audit records ─────────────────────────────────────────────────────────────────────


def read_record(row: Row) -> AuditRecord:
    """Return the record in a row of `AUDIT_COLUMNS`.

    Raises:
        StoreError: The row says what no record says. `verify` shows where.
    """
    writer, sequence, at, kind, run_id, call_key, principal_id, tool, decision, rule, body, seal = row
    try:
        entry = AuditEntry(
            at=moment(at), kind=AuditKind(kind), run_id=run_id, call_key=call_key, principal_id=principal_id,
            tool=tool, decision=decision, rule=rule, body=body,
        )  # fmt: skip
    except (ValueError, OverflowError) as error:
        raise StoreError(f"record {sequence} of writer {writer!r} cannot be read; run the audit's verify") from error
    return AuditRecord(writer=writer, sequence=sequence, entry=entry, seal=seal)


def storable(entry: AuditEntry) -> AuditEntry:
    """Return an entry whose texts every database takes: nearly always the very same.

    A lone surrogate or a NUL cannot be stored as text. Both are written as the escapes that
    a person would type, so that what was said stays visible.
    """
    text = f"{entry.run_id}{entry.call_key}{entry.principal_id}{entry.tool}{entry.decision}{entry.rule}{entry.body}"
    if "\0" not in text and (text.isascii() or _is_unicode(text)):
        return entry
    return replace(
        entry, run_id=_plain(entry.run_id), call_key=_plain(entry.call_key), principal_id=_plain(entry.principal_id),
        tool=_plain(entry.tool), decision=_plain(entry.decision), rule=_plain(entry.rule), body=_plain(entry.body),
    )  # fmt: skip


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


# ── runs ──────────────────────────────────────────────────────────────────────────────


def read_run(row: Row, journal: Sequence[str] = ()) -> StoredRun:
    """Return the run in a row of `RUN_COLUMNS`."""
    id_, agent, principal_id, status, snapshot, parent, owner, fence, lease_until, created_at, updated_at = row
    return StoredRun(
        id=id_, agent=agent, principal_id=principal_id, status=RunStatus(status), snapshot=snapshot,
        journal=tuple(journal), parent=parent, owner=owner, fence=fence, lease_until=maybe_moment(lease_until),
        created_at=moment(created_at), updated_at=moment(updated_at),
    )  # fmt: skip


# ── approvals ─────────────────────────────────────────────────────────────────────────


def approval_row(request: ApprovalRequest) -> tuple[Any, ...]:
    """Return a request as a row of `APPROVAL_COLUMNS`.

    Raises:
        StoreError: Its arguments, binds or provenance are no JSON.
    """
    preview = request.preview
    return (
        request.id, request.token_hash, request.run_id, request.call_key, request.principal_id, request.tool,
        json_text(dict(request.arguments)), request.digest, request.schema_digest, request.policy_digest, request.rule,
        request.yes.value, json_text(sorted(request.approvers)),
        None if preview is None else json_text({"text": preview.text, "binds": dict(preview.binds)}),
        json_text(dict(request.provenance)), microseconds(request.created_at), microseconds(request.expires_at),
        request.status.value, request.decided_by, maybe_microseconds(request.decided_at), request.note,
        int(request.note_for_model),
    )  # fmt: skip


def read_approval(row: Row) -> ApprovalRequest:
    """Return the request in a row of `APPROVAL_COLUMNS`."""
    (
        id_, token_hash, run_id, call_key, principal_id, tool, arguments, digest, schema_digest, policy_digest, rule,
        yes, approvers, preview, provenance, created_at, expires_at, status, decided_by, decided_at, note,
        note_for_model,
    ) = row  # fmt: skip
    return ApprovalRequest(
        id=id_, token_hash=token_hash, run_id=run_id, call_key=call_key, principal_id=principal_id, tool=tool,
        arguments=json.loads(arguments), digest=digest, schema_digest=schema_digest, policy_digest=policy_digest,
        rule=rule, yes=Yes(yes), approvers=frozenset(json.loads(approvers)),
        preview=None if preview is None else Preview(**json.loads(preview)), provenance=json.loads(provenance),
        created_at=moment(created_at), expires_at=moment(expires_at), status=ApprovalStatus(status),
        decided_by=decided_by, decided_at=maybe_moment(decided_at), note=note, note_for_model=bool(note_for_model),
    )  # fmt: skip


# ── effects and principals ────────────────────────────────────────────────────────────


def read_effect(row: Row) -> EffectRecord:
    """Return the effect in a row of `EFFECT_COLUMNS`."""
    key, principal_id, tool, digest, run_id, state, deadline, result, approval_id = row
    return EffectRecord(
        key=key, principal_id=principal_id, tool=tool, digest=digest, run_id=run_id, state=EffectState(state),
        deadline=moment(deadline), result=result, approval_id=approval_id,
    )  # fmt: skip


def principal_row(principal: Principal) -> tuple[str, str, str]:
    """Return a principal as a row.

    Raises:
        StoreError: Its attributes are no JSON.
    """
    return principal.id, json_text(sorted(principal.roles)), json_text(dict(principal.attributes))


def read_principal(row: Row) -> Principal:
    """Return the principal in a row."""
    id_, roles, attributes = row
    return Principal(id_, json.loads(roles), json.loads(attributes))
