"""A batch in PostgreSQL: load what it touches, under locks; let `State` answer; write what changed.

However many verbs a batch holds, it takes two round trips: one to lock and load, one to write
and commit. The verbs themselves are those of `State`, the same as in memory.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from typing import Any, Final, TypeAlias

from psycopg import AsyncCursor
from psycopg.rows import TupleRow
from pydantic_core import to_json

from placet.ports import StoredRun
from placet.stores.judgement import IN_DOUBT
from placet.stores.postgres_connection import Connection, lock_keys
from placet.stores.rows import (
    APPROVAL_COLUMNS,
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
    whole_millionths,
)
from placet.stores.state import State
from placet.values.approval import ApprovalRequest
from placet.values.audit import microseconds
from placet.values.construction import dataclass, made_quickly
from placet.values.decision import Reason
from placet.values.effect import Claim, Claimed, ClaimRefused, EffectRecord, Lease, Take
from placet.values.run import RunStatus

JSON: Final = "nullif(%s, '')::json"
"""How JSON that may be left out is passed: always as a text, so that a statement is prepared once."""
_LOAD: Final = f"SELECT kind, item::text FROM placet.load({', '.join([JSON] * 6)})".encode()  # noqa: S608 - our own words
_STORE: Final = f"SELECT placet.store({', '.join([JSON] * 11)})".encode()

_APPROVAL_NAMES: Final[tuple[str, ...]] = tuple(APPROVAL_COLUMNS.split(", "))


@made_quickly
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
        lease: The lease that must hold for it, or None.
        opens: The id of the run that it opens, or empty.
        can_be_guessed: Whether what it finds follows from the rest of this.
    """

    apply: Callable[[State], Any] = lambda _: None
    runs: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    claim: Claim | None = None
    principal: tuple[str, str, str] | None = None
    lease: Lease | None = None
    opens: str = ""
    can_be_guessed: bool = False


@dataclass(slots=True)
class Batch:
    """What some operations touch, and what they take and state beyond the state itself."""

    runs: set[str] = field(default_factory=set[str])
    approvals: set[str] = field(default_factory=set[str])
    effects: set[str] = field(default_factory=set[str])
    like: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    windows: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    principals: dict[str, tuple[str, str, str]] = field(default_factory=dict[str, tuple[str, str, str]])
    began: dict[str, int] = field(default_factory=dict[str, int])
    taken: dict[tuple[str, int, int], int] = field(default_factory=dict[tuple[str, int, int], int])
    sizes: dict[tuple[str, int], Decimal] = field(default_factory=dict[tuple[str, int], Decimal])
    found_full: bool = False

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
        """Note what a claim has taken from windows of which size, or that it has found one full."""
        claim = operation.claim
        if claim is None or not isinstance(answer, Claimed):
            self.found_full |= isinstance(answer, ClaimRefused) and answer.reason is Reason.LIMIT_REACHED
            return
        now = microseconds(claim.at)
        if claim.effect is not None:
            self.began[claim.effect.key] = now
        for take in claim.takes:
            window = _window(take)
            self.taken[*window, now] = self.taken.get((*window, now), 0) + millionths(take.amount)
            self.sizes[window] = min(take.at_most, self.sizes.get(window, take.at_most))

    def locks(self) -> list[int]:
        """Return the keys of the locks under which all of this is looked at."""
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

    def alike(self) -> "Records":
        """Return what no effect in doubt may be like, as the database is told it."""
        return [_named(("principal_id", "tool", "digest"), like) for like in self.like]

    def rooms_left(self) -> "Records":
        """Return how much may have been taken from each window before, for what was taken here to have room."""
        taken = Counter[tuple[str, int]]()
        for (key, per, _), amount in self.taken.items():
            taken[key, per] += amount
        return [
            {
                "key": window[0], "per": window[1], "since": self.windows[window],
                "room": whole_millionths(at_most) - taken[window],
            }
            for window, at_most in self.sizes.items() if at_most.is_finite()
        ]  # fmt: skip

    async def load(self, connection: Connection) -> "Question":
        """Send the question what all of this is, once it is locked; it is answered when the pipeline ends."""
        windows = [{"key": key, "per": per, "since": since} for (key, per), since in self.windows.items()]
        values = (self.locks(), list(self.runs), list(self.approvals), list(self.effects), self.alike(), windows)
        return Question(await connection.execute(_LOAD, encoded(values)))


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was sent."""

    cursor: AsyncCursor[TupleRow]

    async def fill(self, state: State) -> "Before":
        """Put the answer into a state, and return what it was before any verb."""
        for kind, text in await self.cursor.fetchall():
            row = json.loads(text)
            match kind:
                case "run":
                    run = read_run(row[:-1])
                    state.runs[run.id] = run
                    state.journals[run.id] = []
                    if row[-1]:
                        state.woken.add(run.id)
                case "approval":
                    request = read_approval(row)
                    state.approvals[request.id] = request
                case "effect":
                    put_effect(state, read_effect(row))
                case _:
                    key, per, at, amount = row
                    state.windows.put(key, length(per), moment(at), Decimal(amount) / MILLION)
        return Before(dict(state.runs), dict(state.approvals), dict(state.effects))


def put_effect(state: State, effect: EffectRecord) -> None:
    """Put an effect into a state."""
    state.effects[effect.key] = effect
    if effect.state in IN_DOUBT:
        state.in_doubt.setdefault((effect.principal_id, effect.tool, effect.digest), set()).add(effect.key)


@dataclass(frozen=True, slots=True)
class Before:
    """What a state held when it was loaded. What is another object now has changed."""

    runs: Mapping[str, StoredRun]
    approvals: Mapping[str, ApprovalRequest]
    effects: Mapping[str, EffectRecord]


Records: TypeAlias = Sequence[Mapping[str, Any]]


async def store_records(connection: Connection, records: Records) -> None:
    """Store records alone, in one statement."""
    await connection.execute(_STORE, encoded([*[()] * 10, records]))


async def store(connection: Connection, batch: Batch, before: Before, state: State, records: Records) -> None:
    """Send all that has changed, in one statement."""
    await connection.execute(_STORE, encoded(changes(batch, before, state, records)))


def encoded(values: Sequence[Sequence[Any]]) -> list[str]:
    """Return values as they are passed, each for a `JSON`.

    Raises:
        ValueError: A text holds a lone surrogate, which no database takes.
    """
    return [to_json(value).decode() if value else "" for value in values]


def changes(batch: Batch, before: Before, state: State, records: Records) -> Sequence[Sequence[Any]]:
    """Return all that has changed, as `placet.store` takes it."""
    taken = [_named(("key", "per", "at", "amount"), (*place, n)) for place, n in batch.taken.items()]
    principals = [_named(("id", "roles", "attributes"), row) for row in batch.principals.values()]
    return (
        *_changed_runs(before, state),
        *_changed_approvals(before, state),
        *_changed_effects(batch, before, state),
        taken,
        principals,
        records,
    )


def _changed_runs(before: Before, state: State) -> tuple[Records, Records, Records, Records]:
    changed = [run for run_id, run in state.runs.items() if before.runs.get(run_id) is not run]
    new = [_new_run(run) for run in changed if run.id not in before.runs]
    old = [_changed_run(run) for run in changed if run.id in before.runs]
    ended = [
        {"run_id": run.id, "snapshot": run.snapshot}
        for run in changed
        if run.id in before.runs and run.status is not RunStatus.RUNNING
    ]
    journals = [{"run_id": key, "entry": entry} for key, journal in state.journals.items() for entry in journal]
    return new, old, ended, journals


def _changed_approvals(before: Before, state: State) -> tuple[Records, Records]:
    changed = [request for key, request in state.approvals.items() if before.approvals.get(key) is not request]
    new = [_named(_APPROVAL_NAMES, approval_row(request)) for request in changed if request.id not in before.approvals]
    old = [{"id": request.id, "status": request.status.value} for request in changed if request.id in before.approvals]
    return new, old


def _changed_effects(batch: Batch, before: Before, state: State) -> tuple[Records, Records]:
    new: list[Mapping[str, Any]] = []
    old: list[Mapping[str, Any]] = []
    for key, effect in state.effects.items():
        known = before.effects.get(key)
        if known is None:
            new.append(
                {
                    "key": key, "principal_id": effect.principal_id, "tool": effect.tool, "digest": effect.digest,
                    "run_id": effect.run_id, "state": effect.state._value_, "deadline": microseconds(effect.deadline),
                    "result": effect.result, "approval_id": effect.approval_id, "began_at": batch.began[key],
                }
            )  # fmt: skip
        elif known is not effect:
            old.append(
                {
                    "key": key, "run_id": effect.run_id, "state": effect.state._value_,
                    "deadline": microseconds(effect.deadline), "result": effect.result,
                    "approval_id": effect.approval_id, "began_at": batch.began.get(key),
                }
            )  # fmt: skip
    return new, old


def named_records(rows: Iterable[Sequence[Any]]) -> Records:
    """Return rows of `AUDIT_COLUMNS` as the database is told them."""
    return [
        {
            "writer": writer, "sequence": sequence, "at": at, "kind": kind, "run_id": run_id, "call_key": call_key,
            "principal_id": principal_id, "tool": tool, "decision": decision, "rule": rule, "body": body, "seal": seal,
        }
        for writer, sequence, at, kind, run_id, call_key, principal_id, tool, decision, rule, body, seal in rows
    ]  # fmt: skip


def _new_run(run: StoredRun) -> Mapping[str, Any]:
    return {
        "id": run.id, "agent": run.agent, "principal_id": run.principal_id, "status": run.status.value,
        "parent": run.parent, "owner": run.owner, "fence": run.fence,
        "lease_until": maybe_microseconds(run.lease_until), "created_at": microseconds(run.created_at),
        "updated_at": microseconds(run.updated_at), "snapshot": run.snapshot,
    }  # fmt: skip


def _changed_run(run: StoredRun) -> Mapping[str, Any]:
    return {
        "id": run.id, "status": run.status.value, "owner": run.owner,
        "lease_until": maybe_microseconds(run.lease_until), "updated_at": microseconds(run.updated_at),
    }  # fmt: skip


def _named(names: Sequence[str], row: Sequence[Any]) -> Mapping[str, Any]:
    return dict(zip(names, row, strict=True))


def _window(take: Take) -> tuple[str, int]:
    return take.key, span(take.per)
