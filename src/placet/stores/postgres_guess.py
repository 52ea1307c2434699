"""What a batch will find, guessed by its writer: a batch that is guessed right takes one round trip.

Nearly every batch finds what it must: the lease holds, nobody has made the same call before, the
windows have room, and an effect that is settled is running as this very writer has begun it. So the
verbs are done on that guess, and the database stores what comes of them only where all of it is so.
What is decided is what `State` decides either way; a wrong guess costs a round trip and nothing else.

Windows are guessed to be empty. What fits into an empty window together fits into one that has room
for all of it, whatever was taken before; a claim that has found one full may have been refused for
another reason by what is really there, so its batch looks first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from placet.ports import StoredRun
from placet.stores.postgres_batch import JSON, Batch, Before, Operation, Records, changes, encoded, put_effect
from placet.stores.postgres_connection import Connection
from placet.stores.state import State
from placet.values.audit import microseconds
from placet.values.effect import EffectRecord, EffectState, Lease
from placet.values.run import RunStatus

REMEMBERED: Final = 10_000
"""How many running effects a writer remembers; those beyond are looked up."""

_STORE: Final = f"SELECT placet.store_as_guessed({', '.join([JSON] * 18)})".encode()
_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Guess:
    """What must be so, beside that no effect like those that begin is in doubt, and that windows have room.

    Attributes:
        absent_runs: Ids of runs that are not there.
        owned: Leases that hold, by run.
        absent_effects: Keys of effects that are not there.
        running: Effects that are running as they were begun, by key.
    """

    absent_runs: set[str] = field(default_factory=set[str])
    owned: dict[str, Lease] = field(default_factory=dict[str, Lease])
    absent_effects: set[str] = field(default_factory=set[str])
    running: dict[str, EffectRecord] = field(default_factory=dict[str, EffectRecord])

    def add(self, operation: Operation, known: Mapping[str, EffectRecord]) -> bool:
        """Guess what one more operation will find; return whether it can be guessed."""
        if not operation.can_be_guessed:
            return False
        lease = operation.lease
        if lease is not None and lease.run_id not in self.absent_runs:
            before = self.owned.setdefault(lease.run_id, lease)
            if (before.owner, before.fence) != (lease.owner, lease.fence):
                return False
        if operation.opens:
            if operation.opens in self.owned:
                return False
            self.absent_runs.add(operation.opens)
        for key in operation.effects:
            if key not in self.absent_effects and key not in self.running:
                if key not in known:
                    return False
                self.running[key] = known[key]
        effect = None if operation.claim is None else operation.claim.effect
        if effect is not None and effect.key not in self.running:
            self.absent_effects.add(effect.key)
        return True

    def fill(self, state: State) -> Before:
        """Put into a state what is guessed to be there, as far as the verbs look at it."""
        for run_id, lease in self.owned.items():
            state.journals[run_id] = []
            state.runs[run_id] = StoredRun(
                id=run_id, agent="", principal_id="", status=RunStatus.RUNNING, snapshot="", owner=lease.owner,
                fence=lease.fence, lease_until=lease.until, created_at=_LONG_AGO, updated_at=_LONG_AGO,
            )  # fmt: skip
        for effect in self.running.values():
            put_effect(state, effect)
        return Before(dict(state.runs), {}, dict(state.effects))

    def rows(self) -> tuple[list[str], Records, list[str], Records]:
        """Return what must be so, as the database is told it."""
        return (
            list(self.absent_runs),
            [{"id": lease.run_id, "owner": lease.owner, "fence": lease.fence} for lease in self.owned.values()],
            list(self.absent_effects),
            [
                {"key": effect.key, "run_id": effect.run_id, "deadline": microseconds(effect.deadline)}
                for effect in self.running.values()
            ],
        )


def guess_at(operations: Iterable[Operation], known: Mapping[str, EffectRecord], batch: Batch) -> Guess | None:
    """Return what a batch will find, or None where that cannot be told beforehand.

    Args:
        operations: Of the batch, in order.
        known: Effects that this writer has begun and not settled.
        batch: What the operations touch.
    """
    if batch.approvals:
        return None
    guess = Guess()
    return guess if all(guess.add(operation, known) for operation in operations) else None


async def store_as_guessed(
    connection: Connection, guess: Guess, batch: Batch, before: Before, state: State, records: Records
) -> bool:
    """Store all that has changed, in one statement that is a transaction; return whether the guess was right.

    Nothing is stored where it was not.
    """
    values: tuple[Sequence[Any], ...] = (
        batch.locks(),
        *guess.rows(),
        batch.alike(),
        batch.rooms_left(),
        *changes(batch, before, state, records),
    )
    row = await (await connection.execute(_STORE, encoded(values))).fetchone()
    return row is not None and row[0] is True


def remember(known: dict[str, EffectRecord], state: State) -> None:
    """Note which effects are running, and forget which are not, after a batch was stored."""
    for key, effect in state.effects.items():
        if effect.state is EffectState.RUNNING and len(known) < REMEMBERED:
            known[key] = effect
        else:
            known.pop(key, None)
