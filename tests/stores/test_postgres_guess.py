"""The PostgreSQL store's guesses: right ones take one round trip, wrong ones change no answer and store nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from psycopg import OperationalError

from placet.errors import StoreError
from placet.stores import postgres_writer
from placet.stores.postgres import PostgresStore
from placet.stores.postgres_batch import Batch, Operation
from placet.stores.postgres_connection import Connection
from placet.stores.postgres_guess import REMEMBERED, guess_at, remember, store_as_guessed
from placet.stores.state import State
from placet.testing.store_samples import (
    MINUTE,
    NOW,
    a_claim,
    a_lease,
    a_run,
    a_take,
    an_effect,
    an_entry,
    entries_of,
)
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import (
    AlreadyDone,
    Claim,
    ClaimAnswer,
    Claimed,
    ClaimRefused,
    EffectRecord,
    EffectState,
    Take,
)
from placet.values.run import RunStatus
from tests.stores.conftest import KEY

INTENT = an_entry(AuditKind.INTENT)
OUTCOME = an_entry(AuditKind.OUTCOME)


@pytest.fixture
async def other(store: PostgresStore, postgres: str) -> AsyncIterator[PostgresStore]:
    """Another worker with a store on the same database."""
    assert store is not None
    other = PostgresStore(postgres, key=KEY)
    await other.open()
    yield other
    await other.close()


class Guesses:
    """How many batches were guessed right and wrong, and how many have looked first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.right = self.wrong = self.looked = 0
        load = Batch.load

        async def guessed(connection: Connection, *rest: Any) -> bool:
            stored = await store_as_guessed(connection, *rest)
            self.right += stored
            self.wrong += not stored
            return stored

        async def looked(batch: Batch, connection: Connection) -> Any:
            self.looked += 1
            return await load(batch, connection)

        monkeypatch.setattr(postgres_writer, "store_as_guessed", guessed)
        monkeypatch.setattr(Batch, "load", looked)


@pytest.fixture
def guesses(monkeypatch: pytest.MonkeyPatch) -> Guesses:
    return Guesses(monkeypatch)


async def test_what_a_run_with_a_call_asks_for_is_guessed(store: PostgresStore, guesses: Guesses) -> None:
    store.open_run(a_run(), a_lease())
    claimed = await store.claim(a_claim(an_effect(), lease=a_lease(), intent=INTENT))
    store.journal(a_lease(), "entry")
    await store.settle(an_effect().key, EffectState.DONE, '"done"', OUTCOME)
    await store.close_run(a_lease(), RunStatus.DONE, '{"turn":1}', (an_entry(AuditKind.ANSWER),), NOW + MINUTE)

    assert claimed == Claimed()
    assert (guesses.right, guesses.wrong, guesses.looked) == (3, 0, 0)
    run = await store.load_run("run_1")
    assert run is not None
    assert (run.status, run.snapshot, run.owner, run.journal) == (RunStatus.DONE, '{"turn":1}', "", ())
    assert (run.agent, run.created_at, run.updated_at) == (a_run().agent, a_run().created_at, NOW + MINUTE)
    assert await store.find_effect(an_effect().key) == replace(an_effect(), state=EffectState.DONE, result='"done"')
    assert [entry.kind for entry in await entries_of(store)] == ["intent", "outcome", "answer"]
    assert (await store.verify()).fault is None


async def test_what_cannot_be_guessed_is_looked_at_first(store: PostgresStore, guesses: Guesses) -> None:
    store.open_run(a_run(), a_lease())
    await store.append(an_entry())
    await store.claim(a_claim(an_effect(), approval_id="apr_1", intent=INTENT))
    await store.renew_lease(a_lease(), NOW + MINUTE)
    await store.suspend_run(a_lease(), "{}", (), (), NOW)

    assert (guesses.right, guesses.wrong, guesses.looked) == (1, 0, 3)


async def test_verbs_of_one_batch_are_guessed_in_their_order(store: PostgresStore, guesses: Guesses) -> None:
    store.open_run(a_run(), a_lease())
    claim = store.claim(a_claim(an_effect(), lease=a_lease(), intent=INTENT))
    again = store.claim(a_claim(an_effect(), lease=a_lease(), intent=INTENT))
    settled = store.settle(an_effect().key, EffectState.DONE, '"done"', OUTCOME)
    like = store.claim(a_claim(an_effect("run_1:2.0"), lease=a_lease(), intent=INTENT))

    assert await claim == Claimed()
    refused = await again
    assert isinstance(refused, ClaimRefused)
    assert refused.reason is Reason.EFFECT_RUNNING
    await settled
    assert await like == Claimed()
    assert (guesses.right, guesses.looked) == (1, 0)


async def test_an_effect_that_ends_makes_room_for_its_like_in_one_batch(store: PostgresStore, guesses: Guesses) -> None:
    await store.claim(a_claim(an_effect(), intent=INTENT))
    settled = store.settle(an_effect().key, EffectState.DONE, None, OUTCOME)
    like = store.claim(a_claim(an_effect("run_1:2.0"), intent=INTENT))

    await settled
    assert await like == Claimed()
    assert (guesses.right, guesses.wrong) == (2, 0)


# ── wrong guesses ─────────────────────────────────────────────────────────────────────


async def test_a_call_that_another_worker_has_begun_is_refused(
    store: PostgresStore, other: PostgresStore, guesses: Guesses
) -> None:
    await other.claim(a_claim(an_effect(), intent=INTENT))
    answer = await store.claim(a_claim(an_effect(digest="another"), intent=INTENT))

    assert isinstance(answer, ClaimRefused)
    assert answer.reason is Reason.KEY_CONFLICT
    assert guesses.wrong == 1
    assert await entries_of(store) == [INTENT]


async def test_a_call_like_one_that_another_worker_has_begun_is_refused(
    store: PostgresStore, other: PostgresStore, guesses: Guesses
) -> None:
    await other.claim(a_claim(an_effect(), intent=INTENT))
    answer = await store.claim(a_claim(an_effect("run_2:1.0"), intent=INTENT))

    assert isinstance(answer, ClaimRefused)
    assert answer.reason is Reason.EFFECT_RUNNING
    assert guesses.wrong == 1
    assert await entries_of(store) == [INTENT]


async def test_a_call_that_another_worker_has_ended_is_answered_from_the_ledger(
    store: PostgresStore, other: PostgresStore
) -> None:
    await store.claim(a_claim(an_effect(), intent=INTENT))
    # Whoever settles an effect by hand is another process.
    await other.settle(an_effect().key, EffectState.DONE, '"theirs"', OUTCOME)
    await store.settle(an_effect().key, EffectState.FAILED, '"ours"', OUTCOME)
    answer = await store.claim(a_claim(an_effect(), intent=INTENT))

    done = replace(an_effect(), state=EffectState.DONE, result='"theirs"')
    assert answer == AlreadyDone(done)
    assert await store.find_effect(an_effect().key) == done
    assert (await store.verify()).fault is None


async def test_who_has_lost_a_run_neither_claims_nor_writes_in_it(
    store: PostgresStore, other: PostgresStore, guesses: Guesses
) -> None:
    store.open_run(a_run(), a_lease())
    await store.append(an_entry())
    assert await other.claim_run("run_1", "worker_2", NOW + 2 * MINUTE, MINUTE) is not None
    store.journal(a_lease(), "late")
    answer = await store.claim(a_claim(an_effect(), lease=a_lease(), intent=INTENT))

    assert isinstance(answer, ClaimRefused)
    assert answer.reason is Reason.LEASE_LOST
    assert guesses.wrong == 1
    run = await store.load_run("run_1")
    assert run is not None
    assert run.journal == ()
    assert await entries_of(store) == [an_entry()]


async def test_a_run_that_is_there_stays_as_it_is(store: PostgresStore, other: PostgresStore, guesses: Guesses) -> None:
    other.open_run(a_run(snapshot="theirs"), a_lease(owner="worker_2"))
    await other.append(an_entry())
    store.open_run(a_run(snapshot="ours"), a_lease())
    await store.append(an_entry())

    run = await store.load_run("run_1")
    assert run is not None
    assert (run.snapshot, run.owner) == ("theirs", "worker_2")
    assert (guesses.right, guesses.wrong) == (1, 1)
    assert (await store.verify()).fault is None


async def test_an_outcome_after_a_takeover_is_a_late_one(
    store: PostgresStore, other: PostgresStore, guesses: Guesses
) -> None:
    store.open_run(a_run(), a_lease())
    await store.claim(a_claim(an_effect(), lease=a_lease(), intent=INTENT))
    await other.claim_run("run_1", "worker_2", NOW + 2 * MINUTE, MINUTE)
    begun_again = an_effect(deadline=NOW + 5 * MINUTE, approval_id=None)
    assert await other.claim(a_claim(begun_again, may_repeat=True, intent=INTENT)) == Claimed()
    wrong = guesses.wrong
    await store.settle(an_effect().key, EffectState.DONE, '"late"', OUTCOME)

    assert guesses.wrong == wrong + 1
    assert await store.find_effect(an_effect().key) == replace(begun_again, state=EffectState.DONE, result='"late"')


# ── windows ───────────────────────────────────────────────────────────────────────────


def a_taking_claim(number: int, *takes: Take, at: datetime = NOW) -> Claim:
    """Return a claim of a call that is like no other, which takes these."""
    effect = an_effect(f"run_1:{number}.0", digest=str(number))
    return a_claim(effect, takes=takes or (a_take(),), intent=INTENT, at=at)


def rule_of(answer: ClaimAnswer) -> str:
    assert isinstance(answer, ClaimRefused)
    assert answer.reason is Reason.LIMIT_REACHED
    return answer.message


async def test_a_window_with_room_is_guessed_up_to_its_last_place(
    store: PostgresStore, other: PostgresStore, guesses: Guesses
) -> None:
    answers = [await store.claim(a_taking_claim(1)), await other.claim(a_taking_claim(2))]
    answers.append(await store.claim(a_taking_claim(3)))

    assert answers == [Claimed()] * 3
    assert (guesses.right, guesses.wrong, guesses.looked) == (3, 0, 0)
    assert rule_of(await store.claim(a_taking_claim(4))) == a_take().rule
    assert (guesses.right, guesses.wrong, guesses.looked) == (3, 1, 1)
    assert await store.usage([a_take()], NOW) == [Decimal(3)]


async def test_what_has_left_a_window_is_not_in_the_way_of_a_guess(store: PostgresStore, guesses: Guesses) -> None:
    for number in range(3):
        await store.claim(a_taking_claim(number))

    assert await store.claim(a_taking_claim(4, at=NOW + MINUTE)) == Claimed()
    assert (guesses.right, guesses.wrong) == (4, 0)


async def test_what_one_batch_takes_from_a_window_is_guessed_together(
    store: PostgresStore, other: PostgresStore, guesses: Guesses
) -> None:
    await other.claim(a_taking_claim(1))
    two = await asyncio.gather(*(store.claim(a_taking_claim(number)) for number in (2, 3)))
    assert two == [Claimed()] * 2
    assert (guesses.right, guesses.wrong) == (2, 0)

    await other.claim(a_taking_claim(4, at=NOW + MINUTE))
    three = await asyncio.gather(*(store.claim(a_taking_claim(number, at=NOW + MINUTE)) for number in (5, 6, 7)))
    assert [answer == Claimed() for answer in three] == [True, True, False]
    assert guesses.wrong == 1


async def test_the_smallest_of_what_a_window_is_said_to_hold_counts(
    store: PostgresStore, other: PostgresStore, guesses: Guesses
) -> None:
    await other.claim(a_taking_claim(1))
    wide, narrow = a_take(at_most=Decimal(9)), a_take(at_most=Decimal(1))
    answers = await asyncio.gather(store.claim(a_taking_claim(2, narrow)), store.claim(a_taking_claim(3, wide)))

    assert [answer == Claimed() for answer in answers] == [False, True]
    assert guesses.wrong == 1


@pytest.mark.parametrize(
    ("amount", "at_most", "is_room"),
    [
        pytest.param("1.000000", "3", True, id="all of it"),
        pytest.param("1.0000001", "3", False, id="a part of a millionth too much"),
        pytest.param("1", "2.9999999", False, id="a part of a millionth too little room"),
    ],
)
async def test_a_guess_counts_parts_of_a_millionth_as_the_window_does(
    store: PostgresStore, other: PostgresStore, amount: str, at_most: str, *, is_room: bool
) -> None:
    await other.claim(a_taking_claim(1, a_take(amount=Decimal(2))))
    answer = await store.claim(a_taking_claim(2, a_take(amount=Decimal(amount), at_most=Decimal(at_most))))

    assert (answer == Claimed()) is is_room


async def test_a_window_without_a_bound_is_guessed(store: PostgresStore, guesses: Guesses) -> None:
    endless = a_take(at_most=Decimal("Infinity"))
    assert await store.claim(a_taking_claim(1, endless)) == Claimed()
    assert await store.claim(a_taking_claim(2, endless, a_take(key="another"))) == Claimed()
    assert (guesses.right, guesses.looked) == (2, 0)


async def test_a_claim_that_finds_a_window_full_is_told_the_first_that_is_full(
    store: PostgresStore, other: PostgresStore, guesses: Guesses
) -> None:
    """In empty windows the second would be the first."""
    first, second = a_take(key="first", at_most=Decimal(1), rule="first"), a_take(at_most=Decimal(0), rule="second")
    await other.claim(a_taking_claim(1, first))
    store.queue(an_entry())
    answer = await store.claim(a_taking_claim(2, first, second))

    assert rule_of(answer) == "first"
    assert (guesses.right, guesses.wrong, guesses.looked) == (1, 0, 1)


@pytest.mark.parametrize("odd", [{"amount": Decimal(-1)}, {"amount": Decimal("NaN")}, {"at_most": Decimal("NaN")}])
async def test_what_cannot_be_counted_is_refused_before_it_is_guessed(
    store: PostgresStore, guesses: Guesses, odd: Mapping[str, Decimal]
) -> None:
    assert rule_of(await store.claim(a_taking_claim(1, a_take(**odd)))) == a_take().rule
    assert (guesses.right, guesses.wrong) == (0, 0)


# ── lost answers ──────────────────────────────────────────────────────────────────────


@pytest.fixture
def lose_the_answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Have the next guess's connection break before it is sent, or after it was stored."""

    def arrange(is_stored: bool) -> None:
        async def lost(connection: Connection, *rest: Any) -> bool:
            monkeypatch.setattr(postgres_writer, "store_as_guessed", store_as_guessed)
            if is_stored:
                await store_as_guessed(connection, *rest)
            connection.pgconn.finish()
            raise OperationalError("the connection broke")

        monkeypatch.setattr(postgres_writer, "store_as_guessed", lost)

    return arrange


@pytest.mark.parametrize("is_stored", [True, False])
async def test_a_batch_whose_answer_is_lost_is_stored_once(
    store: PostgresStore, lose_the_answer: Callable[[bool], None], *, is_stored: bool
) -> None:
    await store.append(an_entry())
    lose_the_answer(is_stored)

    assert await store.claim(a_claim(an_effect(), intent=INTENT)) == Claimed()
    await store.settle(an_effect().key, EffectState.DONE, None, OUTCOME)
    assert await entries_of(store) == [an_entry(), INTENT, OUTCOME]
    assert (await store.verify()).fault is None


async def test_a_batch_without_records_whose_answer_could_be_lost_is_not_guessed(
    store: PostgresStore, guesses: Guesses
) -> None:
    store.open_run(a_run(), a_lease())
    assert await store.load_run("run_1") is not None

    assert (guesses.right, guesses.wrong, guesses.looked) == (0, 0, 1)


async def test_a_guess_that_cannot_be_written_spoils_no_other(store: PostgresStore, guesses: Guesses) -> None:
    bad = store.claim(a_claim(an_effect("a\0key", digest="2"), intent=INTENT))
    good = store.claim(a_claim(an_effect(), intent=INTENT))

    with pytest.raises(StoreError):
        await bad
    assert await good == Claimed()
    assert guesses.right == 1
    assert await entries_of(store) == [INTENT]


# ── the guess alone ───────────────────────────────────────────────────────────────────


def guessed(operations: Sequence[Operation], known: Mapping[str, EffectRecord] | None = None) -> bool:
    batch = Batch()
    for operation in operations:
        batch.add(operation)
    return guess_at(operations, known or {}, batch) is not None


def test_two_leases_of_one_run_in_one_batch_are_not_guessed() -> None:
    ours = Operation(runs=("run_1",), lease=a_lease(), can_be_guessed=True)
    theirs = replace(ours, lease=a_lease(owner="worker_2", fence=2))

    assert guessed([ours, ours])
    assert not guessed([ours, theirs])


def test_a_run_that_is_opened_after_it_was_written_in_is_not_guessed() -> None:
    opened = Operation(runs=("run_1",), opens="run_1", can_be_guessed=True)
    journal = Operation(runs=("run_1",), lease=a_lease(), can_be_guessed=True)

    assert guessed([opened, journal])
    assert not guessed([journal, opened])


def test_an_effect_that_this_writer_has_not_begun_is_looked_up() -> None:
    settle = Operation(effects=(an_effect().key,), can_be_guessed=True)

    assert guessed([settle], {an_effect().key: an_effect()})
    assert not guessed([settle])


def test_no_more_effects_are_remembered_than_there_is_room_for() -> None:
    known = {f"run_1:{number}.0": an_effect(f"run_1:{number}.0") for number in range(REMEMBERED)}
    state = State(lambda _: None)
    state.effects = {"new": an_effect("new"), "run_1:0.0": an_effect("run_1:0.0", state=EffectState.DONE)}
    remember(known, state)

    assert "new" not in known
    assert "run_1:0.0" not in known
    assert len(known) == REMEMBERED - 1
