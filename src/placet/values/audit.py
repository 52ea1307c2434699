"""AuditEntry: what is said about a call. AuditRecord: the entry in its place in the chain.

Each writer (a process that has opened the store) keeps a chain of its own: a record's
seal is a keyed hash over all of its fields and over the seal of the record before it. The
key lies outside the store, so that who can write the store cannot forge the log.
"""

from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from placet.values.construction import dataclass, made_quickly


class AuditKind(StrEnum):
    """What a record tells of."""

    WRITER = "writer"
    """A process opened the store: its body names the last records of the chains before it."""
    QUESTION = "question"
    CALL = "call"
    """A call that was refused, or a read with its outcome: decision and result in one record."""
    APPROVAL = "approval"
    """A yes was asked for, given, refused, voided, or ran out."""
    INTENT = "intent"
    """A call with an effect was permitted and is about to run."""
    OUTCOME = "outcome"
    """How such a call ended, or that nobody knows."""
    ANSWER = "answer"
    """How a run ended."""
    TURN = "turn"
    """The model was asked and answered; only its usage and shape are kept."""
    STAGE = "stage"
    """A stage of a workflow ended; its state is kept with the run alone."""
    PURGE = "purge"
    """What ended runs had said and done was forgotten; what the audit log says of them stays."""


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing that happened, redacted, before it has a place.

    Attributes:
        at: Aware, UTC.
        kind: What it tells of.
        run_id: The run it belongs to.
        call_key: `run:turn.index` of the call, or empty.
        principal_id: On whose behalf; for an approval, who decided.
        tool: The tool's name, or empty.
        decision: `allow`, a `Reason`, `waiting`, `approved`, …: one word.
        rule: Which rule decided.
        body: JSON text of the rest, redacted: arguments, result, durations, digests.
    """

    at: datetime
    kind: AuditKind
    run_id: str = ""
    call_key: str = ""
    principal_id: str = ""
    tool: str = ""
    decision: str = ""
    rule: str = ""
    body: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """An entry in its place.

    Attributes:
        writer: Which chain.
        sequence: Place in the chain, from 1, without gaps.
        entry: What happened.
        seal: Keyed hash over all of this and the seal before, 64 hex digits.
    """

    writer: str
    sequence: int
    entry: AuditEntry
    seal: str


START: Final = "0" * 64
"""The seal before the first record of a chain."""
_BLOCK: Final = 64
"""Bytes that SHA-256 takes in at once: the length of an HMAC's key."""


def microseconds(at: datetime) -> int:
    """Return a time as microseconds since 1970, UTC: how stores and seals write it."""
    return round(at.timestamp() * 1_000_000)


def seal(key: bytes, writer: str, sequence: int, entry: AuditEntry, before: str, at: int | None = None) -> str:
    """Return the seal of an entry at a place.

    HMAC-SHA256 (RFC 2104) over all fields, each led by its length, so that no text can be
    moved from one field into the next.

    Args:
        key: The audit key, from outside the store.
        writer: Which chain.
        sequence: Place in the chain, from 1.
        entry: What is sealed.
        before: The seal of the record before, or `START`.
        at: The entry's time in microseconds, where it is known already.

    Returns:
        64 hex digits.
    """
    number, time = str(sequence), str(microseconds(entry.at) if at is None else at)
    kind, run_id, call_key, principal_id = entry.kind, entry.run_id, entry.call_key, entry.principal_id
    tool, decision, rule, body = entry.tool, entry.decision, entry.rule, entry.body
    text = (
        f"{len(before)}:{before}{len(writer)}:{writer}{len(number)}:{number}{len(time)}:{time}{len(kind)}:{kind}"
        f"{len(run_id)}:{run_id}{len(call_key)}:{call_key}{len(principal_id)}:{principal_id}{len(tool)}:{tool}"
        f"{len(decision)}:{decision}{len(rule)}:{rule}{len(body)}:{body}"
    )
    begun = _begun(key)
    inner, outer = begun[0].copy(), begun[1].copy()
    inner.update(text.encode("utf-8", "surrogatepass"))
    outer.update(inner.digest())
    sealed: str = outer.hexdigest()
    return sealed


@lru_cache(maxsize=16)
def _begun(key: bytes) -> tuple[Any, Any]:
    """Return the inner and the outer hash of an HMAC that have taken in the key: anew each time, that is half of it."""
    block = (key if len(key) <= _BLOCK else sha256(key).digest()).ljust(_BLOCK, b"\0")
    return sha256(bytes(byte ^ 0x36 for byte in block)), sha256(bytes(byte ^ 0x5C for byte in block))


@dataclass(frozen=True, slots=True)
class AuditFault:
    """The first thing that is wrong with an audit log.

    Attributes:
        writer: Which chain.
        sequence: The place where it shows.
        message: What is wrong there, for a person.
    """

    writer: str
    sequence: int
    message: str


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """What looking at every record has shown.

    Attributes:
        records: How many were read.
        chains: How many writers they came from.
        fault: The first fault, or None when all is well.
        anchored: Whether a head from outside was compared, so that a cut tail would show.
    """

    records: int
    chains: int
    fault: AuditFault | None
    anchored: bool
