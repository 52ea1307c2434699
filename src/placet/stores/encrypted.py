"""A store around another one, in which nobody can read what runs, approvals and the ledger hold.

Snapshots, journals, pending arguments with their previews, and recorded results are sealed for
their own place. What the store decides by (ids, states, times, keyed digests) stays readable, and
so does the audit log, which is redacted before it is written.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from placet.ports import AuditHead, NotDecided, Store, StoredRun
from placet.stores.cipher import Cipher
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus, Preview
from placet.values.audit import AuditEntry, AuditRecord, AuditVerification
from placet.values.effect import (
    AlreadyDone,
    Claim,
    ClaimAnswer,
    CommitAnswer,
    EffectRecord,
    EffectState,
    Lease,
    Statement,
    Take,
)
from placet.values.json import JsonObject
from placet.values.principal import Principal
from placet.values.run import RunStatus

_SEALED: Final = "sealed"
"""Under which name sealed arguments stand."""


class EncryptedStore:
    """Seals what goes into another store, and opens what comes out. See `placet.ports.Store`.

    Args:
        store: Where everything is kept.
        keys: 32 bytes each, the newest first; kept outside the store.

    Raises:
        ConfigurationError: The keys do not do, or `cryptography` is not installed.
    """

    def __init__(self, store: Store, keys: Sequence[bytes]) -> None:
        self._store = store
        self._cipher = Cipher(keys)

    # ── runs ──────────────────────────────────────────────────────────────────────────

    def open_run(self, run: StoredRun, lease: Lease) -> None:
        """Queue a new run, sealed."""
        journal = tuple(self._cipher.seal(entry, _journal(run.id)) for entry in run.journal)
        self._store.open_run(replace(run, snapshot=self._seal_snapshot(run.id, run.snapshot), journal=journal), lease)

    def journal(self, lease: Lease, entry: str) -> None:
        """Queue what has happened in a run, sealed."""
        self._store.journal(lease, self._cipher.seal(entry, _journal(lease.run_id)))

    async def suspend_run(
        self, lease: Lease, snapshot: str, approvals: Sequence[ApprovalRequest], entries: Sequence[AuditEntry],
        at: datetime,
    ) -> RunStatus:  # fmt: skip
        """Store snapshot, new approvals and records together; the first two sealed."""
        sealed = [self._seal_request(request) for request in approvals]
        return await self._store.suspend_run(lease, self._seal_snapshot(lease.run_id, snapshot), sealed, entries, at)

    async def close_run(
        self, lease: Lease, status: RunStatus, snapshot: str, entries: Sequence[AuditEntry], at: datetime
    ) -> None:
        """Store that a run has ended, its snapshot sealed."""
        await self._store.close_run(lease, status, self._seal_snapshot(lease.run_id, snapshot), entries, at)

    async def claim_run(self, run_id: str, owner: str, at: datetime, ttl: timedelta) -> tuple[Lease, StoredRun] | None:
        """Take a run over, opened."""
        taken = await self._store.claim_run(run_id, owner, at, ttl)
        return None if taken is None else (taken[0], self._open_run(taken[1]))

    async def renew_lease(self, lease: Lease, until: datetime) -> Lease | None:
        """Return the longer lease, or None."""
        return await self._store.renew_lease(lease, until)

    async def load_run(self, run_id: str) -> StoredRun | None:
        """Return the run with its journal, opened, or None."""
        run = await self._store.load_run(run_id)
        return None if run is None else self._open_run(run)

    async def list_runs(
        self, *, statuses: Sequence[RunStatus] = (), principal_id: str | None = None, limit: int = 100
    ) -> Sequence[StoredRun]:
        """Return runs, opened, newest first."""
        runs = await self._store.list_runs(statuses=statuses, principal_id=principal_id, limit=limit)
        return [self._open_run(run) for run in runs]

    async def purge_runs(self, before: datetime, entry: AuditEntry) -> int:
        """Forget what ended runs have said and done."""
        return await self._store.purge_runs(before, entry)

    # ── approvals ─────────────────────────────────────────────────────────────────────

    async def decide_approval(self, decision: ApprovalDecision, entry: AuditEntry) -> ApprovalRequest | NotDecided:
        """Take a person's yes or no, once; edited arguments and the reason are sealed."""
        place = _approval(decision.approval_id)
        sealed = replace(
            decision,
            arguments=None if decision.arguments is None else self._seal_json(decision.arguments, place),
            note=None if decision.note is None else self._cipher.seal(decision.note, place),
        )
        answer = await self._store.decide_approval(sealed, entry)
        return self._open_request(answer) if isinstance(answer, ApprovalRequest) else answer

    async def find_approval(self, *, id: str | None = None, token_hash: str | None = None) -> ApprovalRequest | None:  # noqa: A002
        """Return the request, opened, or None."""
        request = await self._store.find_approval(id=id, token_hash=token_hash)
        return None if request is None else self._open_request(request)

    async def list_approvals(
        self, *, run_id: str | None = None, statuses: Sequence[ApprovalStatus] = (), limit: int = 100
    ) -> Sequence[ApprovalRequest]:
        """Return requests, opened, oldest first."""
        requests = await self._store.list_approvals(run_id=run_id, statuses=statuses, limit=limit)
        return [self._open_request(request) for request in requests]

    async def expire_approvals(self, at: datetime) -> Sequence[ApprovalRequest]:
        """Mark what is past its expiry, and return it, opened."""
        return [self._open_request(request) for request in await self._store.expire_approvals(at)]

    async def void_approval(self, approval_id: str, entry: AuditEntry) -> None:
        """Mark an approved request as void."""
        await self._store.void_approval(approval_id, entry)

    # ── effects and limits ────────────────────────────────────────────────────────────

    async def claim(self, claim: Claim) -> ClaimAnswer:
        """Take all that a call needs, or nothing; a result that is recorded comes back opened."""
        answer = await self._store.claim(claim)
        return self._open_done(answer) if isinstance(answer, AlreadyDone) else answer

    def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> Awaitable[None]:
        """Store how an effect ended, its result sealed."""
        sealed = None if result is None else self._cipher.seal(result, _effect(key))
        return self._store.settle(key, state, sealed, entry)

    @property
    def takes_statements(self) -> bool:
        """Whether the store within does."""
        return self._store.takes_statements

    async def commit_effect(
        self, key: str, result: str, statements: Sequence[Statement], entry: AuditEntry
    ) -> CommitAnswer:
        """Carry out what a tool writes, and settle its effect, the result sealed."""
        sealed = self._cipher.seal(result, _effect(key))
        answer = await self._store.commit_effect(key, sealed, statements, entry)
        return self._open_done(answer) if isinstance(answer, AlreadyDone) else answer

    async def find_effect(self, key: str) -> EffectRecord | None:
        """Return the effect, opened, or None."""
        effect = await self._store.find_effect(key)
        return None if effect is None else self._open_effect(effect)

    async def list_effects(
        self, *, states: Sequence[EffectState] = (), run_id: str | None = None, limit: int = 100
    ) -> Sequence[EffectRecord]:
        """Return effects, opened, oldest first."""
        effects = await self._store.list_effects(states=states, run_id=run_id, limit=limit)
        return [self._open_effect(effect) for effect in effects]

    async def usage(self, takes: Sequence[Take], at: datetime) -> Sequence[Decimal]:
        """Return how much of each window is used."""
        return await self._store.usage(takes, at)

    # ── the audit log, and the store itself ───────────────────────────────────────────

    def queue(self, entry: AuditEntry) -> None:
        """Add a record, committed at the latest with the next awaited verb."""
        self._store.queue(entry)

    async def append(self, *entries: AuditEntry) -> None:
        """Add records; committed on return."""
        await self._store.append(*entries)

    def read(
        self, *, run_id: str | None = None, principal_id: str | None = None, tool: str | None = None,
        last: int | None = None,
    ) -> AsyncIterator[AuditRecord]:  # fmt: skip
        """Return records, oldest first."""
        return self._store.read(run_id=run_id, principal_id=principal_id, tool=tool, last=last)

    async def verify(self, heads: Sequence[AuditHead] = ()) -> AuditVerification:
        """Look at every record of every chain."""
        return await self._store.verify(heads)

    async def heads(self) -> Sequence[AuditHead]:
        """Return the last record of every chain."""
        return await self._store.heads()

    async def open(self) -> None:
        """Open the store within."""
        await self._store.open()

    async def close(self) -> None:
        """Close the store within."""
        await self._store.close()

    def state_principal(self, principal: Principal) -> None:
        """Queue what the host application says of a principal."""
        self._store.state_principal(principal)

    async def find_principal(self, principal_id: str) -> Principal | None:
        """Return what was last said of a principal, or None."""
        return await self._store.find_principal(principal_id)

    async def is_demo(self) -> bool:
        """Return whether the store is marked as a demo."""
        return await self._store.is_demo()

    async def mark_demo(self) -> None:
        """Mark the store as a demo, for good."""
        await self._store.mark_demo()

    # ── sealing and opening ───────────────────────────────────────────────────────────

    def _seal_snapshot(self, run_id: str, snapshot: str) -> str:
        return self._cipher.seal(snapshot, _snapshot(run_id))

    def _open_run(self, run: StoredRun) -> StoredRun:
        journal = tuple(self._cipher.open(entry, _journal(run.id)) for entry in run.journal)
        return replace(run, snapshot=self._cipher.open(run.snapshot, _snapshot(run.id)), journal=journal)

    def _seal_json(self, value: JsonObject, place: str) -> JsonObject:
        return {_SEALED: self._cipher.seal(json.dumps(value), place)}

    def _seal_request(self, request: ApprovalRequest) -> ApprovalRequest:
        place, preview = _approval(request.id), request.preview
        if preview is not None:
            written = json.dumps({"text": preview.text, "binds": dict(preview.binds)})
            preview = Preview(self._cipher.seal(written, place))
        return replace(request, arguments=self._seal_json(request.arguments, place), preview=preview)

    def _open_request(self, request: ApprovalRequest) -> ApprovalRequest:
        place, preview, arguments = _approval(request.id), request.preview, request.arguments
        sealed = arguments.get(_SEALED)
        if len(arguments) == 1 and isinstance(sealed, str):
            opened = self._cipher.open(sealed, place)
            arguments = json.loads(opened) if opened != sealed else arguments
        if preview is not None:
            text = self._cipher.open(preview.text, place)
            preview = Preview(**json.loads(text)) if text != preview.text else preview
        note = None if request.note is None else self._cipher.open(request.note, place)
        return replace(request, arguments=arguments, preview=preview, note=note)

    def _open_effect(self, effect: EffectRecord) -> EffectRecord:
        if effect.result is None:
            return effect
        return replace(effect, result=self._cipher.open(effect.result, _effect(effect.key)))

    def _open_done(self, done: AlreadyDone) -> AlreadyDone:
        return AlreadyDone(self._open_effect(done.effect))


def _snapshot(run_id: str) -> str:
    return f"snapshot {run_id}"


def _journal(run_id: str) -> str:
    return f"journal {run_id}"


def _approval(request_id: str) -> str:
    return f"approval {request_id}"


def _effect(key: str) -> str:
    return f"effect {key}"
