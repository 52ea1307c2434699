"""A batch in PostgreSQL: load what it touches, under locks; let `State` answer; write what changed.

However many verbs a batch holds, it takes two round trips: one to lock and load, one to write
and commit. The verbs themselves are those of `State`, the same as in memory.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from psycopg import AsyncCursor
from psycopg.rows import TupleRow

from placet.ports import StoredRun
from placet.stores.judgement import IN_DOUBT
from placet.stores.postgres_connection import Connection, lock_all, lock_keys
from placet.stores.rows import (
    APPROVAL_COLUMNS,
    AUDIT_COLUMNS,
    EFFECT_COLUMNS,
    MILLION,
    approval_row,
    length,
    maybe_microseconds,
    millionths,
    moment,
    read_approval,
    read_effect,
    read_run,
    span,
)
from placet.stores.state import State
from placet.values.approval import ApprovalRequest
from placet.values.audit import AuditEntry, microseconds
from placet.values.effect import Claim, Claimed, EffectRecord, Take
from placet.values.run import RunStatus

_RUNS: Final = """
    SELECT id, agent, principal_id, status, '', parent, owner, fence, lease_until, created_at, updated_at, woken
    FROM placet.run WHERE id = ANY(%s)
"""
_APPROVALS: Final = f"SELECT {APPROVAL_COLUMNS} FROM placet.approval WHERE id = ANY(%s)"  # noqa: S608 - our own words
_EFFECTS: Final = f"SELECT {EFFECT_COLUMNS} FROM placet.effect WHERE key = ANY(%s)"  # noqa: S608 - our own words
_LIKE: Final = f"""
    SELECT {", ".join(f"effect.{column}" for column in EFFECT_COLUMNS.split(", "))}
    FROM placet.effect JOIN unnest(%s::text[], %s::text[], %s::text[]) AS wanted (principal_id, tool, digest)
    USING (principal_id, tool, digest) WHERE state IN ('running', 'unknown')
"""  # noqa: S608 - our own words
_TAKEN: Final = """
    SELECT key, per, at, amount
    FROM placet.taken JOIN unnest(%s::text[], %s::bigint[], %s::bigint[]) AS wanted (key, per, since) USING (key, per)
    WHERE at > since ORDER BY at
"""

_ADD_RUNS: Final = """
    INSERT INTO placet.run (id, agent, principal_id, status, parent, owner, fence, lease_until, created_at, updated_at)
    SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[],
                         %s::bigint[], %s::bigint[], %s::bigint[])
"""
_CHANGE_RUNS: Final = """
    UPDATE placet.run
    SET status = new.status, owner = new.owner, lease_until = new.lease_until, updated_at = new.updated_at,
        woken = run.woken AND new.status = 'running'
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[])
        AS new (id, status, owner, lease_until, updated_at)
    WHERE run.id = new.id
"""
_SET_SNAPSHOTS: Final = """
    INSERT INTO placet.run_snapshot (run_id, snapshot) SELECT * FROM unnest(%s::text[], %s::text[])
    ON CONFLICT (run_id) DO UPDATE SET snapshot = excluded.snapshot
"""
_CLEAR_JOURNALS: Final = "DELETE FROM placet.run_journal WHERE run_id = ANY(%s)"
_ADD_TO_JOURNALS: Final = """
    INSERT INTO placet.run_journal (run_id, entry)
    SELECT run_id, entry FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS new (run_id, entry, place)
    ORDER BY place
"""
_ADD_APPROVAL: Final = f"INSERT INTO placet.approval ({APPROVAL_COLUMNS}) VALUES ({', '.join(['%s'] * 22)})"  # noqa: S608 - our own words
_CHANGE_APPROVALS: Final = """
    UPDATE placet.approval SET status = new.status FROM unnest(%s::text[], %s::text[]) AS new (id, status)
    WHERE approval.id = new.id
"""
_ADD_EFFECTS: Final = """
    INSERT INTO placet.effect
        (key, principal_id, tool, digest, run_id, state, deadline, result, approval_id, began_at)
    SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[],
                         %s::text[], %s::text[], %s::bigint[])
"""
_CHANGE_EFFECTS: Final = """
    UPDATE placet.effect
    SET run_id = new.run_id, state = new.state, deadline = new.deadline, result = new.result,
        approval_id = new.approval_id, began_at = coalesce(new.began_at, effect.began_at)
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[],
                %s::text[], %s::bigint[])
        AS new (key, principal_id, tool, digest, run_id, state, deadline, result, approval_id, began_at)
    WHERE effect.key = new.key
"""
_FORGET: Final = """
    DELETE FROM placet.taken USING unnest(%s::text[], %s::bigint[], %s::bigint[]) AS old (key, per, until)
    WHERE taken.key = old.key AND taken.per = old.per AND taken.at <= old.until
"""
_TAKE: Final = """
    INSERT INTO placet.taken (key, per, at, amount)
    SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bigint[])
    ON CONFLICT (key, per, at) DO UPDATE SET amount = taken.amount + excluded.amount
"""
_STATE_PRINCIPALS: Final = """
    INSERT INTO placet.principal (id, roles, attributes) SELECT * FROM unnest(%s::text[], %s::text[], %s::text[])
    ON CONFLICT (id) DO UPDATE SET roles = excluded.roles, attributes = excluded.attributes
    WHERE principal.roles <> excluded.roles OR principal.attributes <> excluded.attributes
"""
ADD_RECORDS: Final = f"""
    INSERT INTO placet.audit_record ({AUDIT_COLUMNS})
    SELECT {AUDIT_COLUMNS}
    FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[],
                %s::text[], %s::text[], %s::text[], %s::text[]) WITH ORDINALITY AS new ({AUDIT_COLUMNS}, place)
    ORDER BY place
"""  # noqa: S608 - our own words


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One verb over a state, and what has to be loaded for it.

    Attributes:
        apply: The verb.
        runs: Ids of runs.
        approvals: Ids of approvals.
        effects: Keys of effects.
        claim: The claim that it makes, whose effect, approval, lease and windows are loaded too.
        principal: The row of a principal that it states.
    """

    apply: Callable[[State], Any] = lambda _: None
    runs: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    claim: Claim | None = None
    principal: tuple[str, str, str] | None = None


@dataclass(slots=True)
class Batch:
    """What some operations touch, and what they take and state beyond the state itself."""

    runs: set[str] = field(default_factory=set)
    approvals: set[str] = field(default_factory=set)
    effects: set[str] = field(default_factory=set)
    like: set[tuple[str, str, str]] = field(default_factory=set)
    windows: dict[tuple[str, int], int] = field(default_factory=dict)
    principals: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    began: dict[str, int] = field(default_factory=dict)
    taken: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def add(self, operation: Operation) -> None:
        """Note what one more operation touches."""
        self.runs.update(operation.runs)
        self.approvals.update(operation.approvals)
        self.effects.update(operation.effects)
        if operation.principal is not None:
            self.principals[operation.principal[0]] = operation.principal
        claim = operation.claim
        if claim is None:
            return
        if claim.lease is not None:
            self.runs.add(claim.lease.run_id)
        if claim.approval_id is not None:
            self.approvals.add(claim.approval_id)
        if claim.effect is not None:
            self.effects.add(claim.effect.key)
            self.like.add((claim.effect.principal_id, claim.effect.tool, claim.effect.digest))
        for take in claim.takes:
            window, since = _window(take), microseconds(claim.at) - span(take.per)
            self.windows[window] = min(since, self.windows.get(window, since))

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be locked or loaded."""
        return not (self.runs or self.approvals or self.effects or self.windows or self.principals)

    def answered(self, operation: Operation, answer: object) -> None:
        """Note what a claim has taken."""
        claim = operation.claim
        if claim is None or answer != Claimed():
            return
        now = microseconds(claim.at)
        if claim.effect is not None:
            self.began[claim.effect.key] = now
        for take in claim.takes:
            place = (*_window(take), now)
            self.taken[place] = self.taken.get(place, 0) + millionths(take.amount)

    def _locks(self) -> list[int]:
        return lock_keys(
            (
                *(f"run {run_id}" for run_id in self.runs),
                *(f"approval {approval_id}" for approval_id in self.approvals),
                *(f"effect {key}" for key in self.effects),
                *(f"like {like!r}" for like in self.like),
                *(f"window {window!r}" for window in self.windows),
                *(f"principal {principal_id}" for principal_id in self.principals),
            )
        )

    async def lock_and_ask(self, connection: Connection) -> "Loaded":
        """Send the locks and the questions, inside a pipeline; they are answered when it ends."""
        await lock_all(connection, self._locks())
        like, windows = list(self.like), list(self.windows)
        return Loaded(
            runs=await connection.execute(_RUNS, (list(self.runs),)) if self.runs else None,
            approvals=await connection.execute(_APPROVALS, (list(self.approvals),)) if self.approvals else None,
            effects=await connection.execute(_EFFECTS, (list(self.effects),)) if self.effects else None,
            like=await connection.execute(_LIKE, columns(like, 3)) if like else None,
            taken=(
                await connection.execute(_TAKEN, (*columns(windows, 2), list(self.windows.values())))
                if windows
                else None
            ),
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """Questions that were sent, and what the state was when they were answered."""

    runs: AsyncCursor[TupleRow] | None
    approvals: AsyncCursor[TupleRow] | None
    effects: AsyncCursor[TupleRow] | None
    like: AsyncCursor[TupleRow] | None
    taken: AsyncCursor[TupleRow] | None

    async def fill(self, state: State) -> "Before":
        """Put the answers into a state, and return what it was before any verb."""
        for row in await _rows(self.runs):
            run = read_run(row[:-1])
            state.runs[run.id] = run
            state.journals[run.id] = []
            if row[-1]:
                state.woken.add(run.id)
        for row in await _rows(self.approvals):
            request = read_approval(row)
            state.approvals[request.id] = request
        for row in (*await _rows(self.effects), *await _rows(self.like)):
            effect = read_effect(row)
            state.effects[effect.key] = effect
            if effect.state in IN_DOUBT:
                state.in_doubt.setdefault((effect.principal_id, effect.tool, effect.digest), set()).add(effect.key)
        for key, per, at, amount in await _rows(self.taken):
            state.windows.put(key, length(per), moment(at), Decimal(amount) / MILLION)
        return Before(dict(state.runs), dict(state.approvals), dict(state.effects))


@dataclass(frozen=True, slots=True)
class Before:
    """What a state held when it was loaded. What is another object now has changed."""

    runs: dict[str, StoredRun]
    approvals: dict[str, ApprovalRequest]
    effects: dict[str, EffectRecord]


async def write(connection: Connection, batch: Batch, before: Before, state: State) -> None:
    """Send what has changed, inside a pipeline."""
    await _write_runs(connection, before, state)
    await _write_approvals(connection, before, state)
    await _write_effects(connection, batch, before, state)
    if batch.taken:
        latest: dict[tuple[str, int], int] = {}
        for key, per, at in batch.taken:
            latest[key, per] = max(at - per, latest.get((key, per), at - per))
        await connection.execute(_FORGET, columns([(*window, until) for window, until in latest.items()], 3))
        await connection.execute(_TAKE, columns([(*place, amount) for place, amount in batch.taken.items()], 4))
    if batch.principals:
        await connection.execute(_STATE_PRINCIPALS, columns(batch.principals.values(), 3))


async def _write_runs(connection: Connection, before: Before, state: State) -> None:
    changed = [run for run_id, run in state.runs.items() if before.runs.get(run_id) is not run]
    new = [run for run in changed if run.id not in before.runs]
    old = [run for run in changed if run.id in before.runs]
    ended = [run for run in old if run.status is not RunStatus.RUNNING]
    entries = [(run_id, entry) for run_id, journal in state.journals.items() for entry in journal]
    if new:
        await connection.execute(_ADD_RUNS, columns([_run_row(run) for run in new], 10))
    if old:
        rows = [
            (run.id, run.status.value, run.owner, maybe_microseconds(run.lease_until), microseconds(run.updated_at))
            for run in old
        ]
        await connection.execute(_CHANGE_RUNS, columns(rows, 5))
    if new or ended:
        await connection.execute(_SET_SNAPSHOTS, columns([(run.id, run.snapshot) for run in (*new, *ended)], 2))
    if ended:
        await connection.execute(_CLEAR_JOURNALS, ([run.id for run in ended],))
    if entries:
        await connection.execute(_ADD_TO_JOURNALS, columns(entries, 2))


async def _write_approvals(connection: Connection, before: Before, state: State) -> None:
    changed = [request for key, request in state.approvals.items() if before.approvals.get(key) is not request]
    old = [(request.id, request.status.value) for request in changed if request.id in before.approvals]
    if old:
        await connection.execute(_CHANGE_APPROVALS, columns(old, 2))
    for request in changed:
        if request.id not in before.approvals:
            await connection.execute(_ADD_APPROVAL, approval_row(request))


async def _write_effects(connection: Connection, batch: Batch, before: Before, state: State) -> None:
    changed = [
        (
            effect.key, effect.principal_id, effect.tool, effect.digest, effect.run_id, effect.state.value,
            microseconds(effect.deadline), effect.result, effect.approval_id, batch.began.get(effect.key),
        )
        for key, effect in state.effects.items()
        if before.effects.get(key) is not effect
    ]  # fmt: skip
    new = [row for row in changed if row[0] not in before.effects]
    old = [row for row in changed if row[0] in before.effects]
    if new:
        await connection.execute(_ADD_EFFECTS, columns(new, 10))
    if old:
        await connection.execute(_CHANGE_EFFECTS, columns(old, 10))


def columns(rows: Iterable[Sequence[Any]], width: int) -> tuple[list[Any], ...]:
    """Return rows as columns, each an array for `unnest`."""
    turned = [list(column) for column in zip(*rows, strict=True)]
    return tuple(turned) if turned else tuple([] for _ in range(width))


def record_row(writer: str, sequence: int, entry: AuditEntry, mark: str) -> tuple[Any, ...]:
    """Return a record as a row of `AUDIT_COLUMNS`."""
    return (
        writer, sequence, microseconds(entry.at), entry.kind.value, entry.run_id, entry.call_key, entry.principal_id,
        entry.tool, entry.decision, entry.rule, entry.body, mark,
    )  # fmt: skip


def _run_row(run: StoredRun) -> tuple[Any, ...]:
    return (
        run.id, run.agent, run.principal_id, run.status.value, run.parent, run.owner, run.fence,
        maybe_microseconds(run.lease_until), microseconds(run.created_at), microseconds(run.updated_at),
    )  # fmt: skip


def _window(take: Take) -> tuple[str, int]:
    return take.key, span(take.per)


async def _rows(cursor: AsyncCursor[TupleRow] | None) -> Sequence[TupleRow]:
    return () if cursor is None else await cursor.fetchall()
