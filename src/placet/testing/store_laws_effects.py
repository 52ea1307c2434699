"""Laws of the store contract: the ledger of effects, the limits, and claims over both."""

# ruff: noqa: S101 - a law asserts

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Final

from placet.errors import StoreError
from placet.ports import Store
from placet.testing.store_samples import (
    HOUR,
    MINUTE,
    NOW,
    a_claim,
    a_lease,
    a_request,
    a_run,
    a_take,
    an_effect,
    an_entry,
    approve,
    entries_of,
    open_and_suspend,
)
from placet.values.approval import ApprovalStatus
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import AlreadyDone, Claim, ClaimAnswer, Claimed, ClaimRefused, EffectState

_INTENT: Final = an_entry(AuditKind.INTENT)
_OUTCOME: Final = an_entry(AuditKind.OUTCOME)


def _is_refused(answer: ClaimAnswer, reason: Reason) -> None:
    assert isinstance(answer, ClaimRefused), answer
    assert answer.reason is reason, answer
    assert answer.message, "a refusal says what stood in the way"


async def an_effect_begins_running_with_its_intent(store: Store) -> None:
    """The row and the record are there when the claim returns."""
    effect = an_effect(approval_id="apr_1")
    assert await store.claim(a_claim(effect, intent=_INTENT)) == Claimed()
    assert await store.find_effect(effect.key) == effect
    assert await store.find_effect("run_1:9.9") is None
    assert await entries_of(store) == [_INTENT]


async def an_effect_that_has_ended_stands_for_its_key(store: Store) -> None:
    """DONE and FAILED answer with what was recorded, and nothing is taken."""
    for key, state in (("run_1:1.0", EffectState.DONE), ("run_1:1.1", EffectState.FAILED)):
        effect = an_effect(key, digest=key)
        await store.claim(a_claim(effect))
        await store.settle(key, state, '{"refunded":5}', _OUTCOME)
        answer = await store.claim(a_claim(effect, takes=(a_take(),), intent=_INTENT))
        assert answer == AlreadyDone(replace(effect, state=state, result='{"refunded":5}'))
    assert await store.usage([a_take()], NOW) == [Decimal(0)]
    assert await entries_of(store) == [_OUTCOME, _OUTCOME]


async def a_key_stands_for_one_call(store: Store) -> None:
    """Other arguments, another tool or another principal under the same key are a conflict."""
    await store.claim(a_claim(an_effect()))
    await store.settle(an_effect().key, EffectState.DONE, "1", _OUTCOME)
    for other in (an_effect(digest="digest_2"), an_effect(tool="pay"), an_effect(principal_id="c18")):
        _is_refused(await store.claim(a_claim(other)), Reason.KEY_CONFLICT)


async def a_running_effect_is_not_begun_again(store: Store) -> None:
    """Neither under its own key nor, by the same principal, under another; nor may it repeat."""
    await store.claim(a_claim(an_effect(deadline=NOW + HOUR)))
    for key in ("run_1:1.0", "run_2:1.0"):
        _is_refused(await store.claim(a_claim(an_effect(key), may_repeat=True)), Reason.EFFECT_RUNNING)
    for other in (
        an_effect("run_2:1.0", digest="digest_2"),
        an_effect("run_2:1.1", tool="pay"),
        an_effect("run_2:1.2", principal_id="c18"),
    ):
        assert await store.claim(a_claim(other)) == Claimed()


async def an_unknown_effect_blocks_until_it_is_settled(store: Store) -> None:
    """In every run and door: unknown is said, not repeated."""
    await store.claim(a_claim(an_effect()))
    await store.settle(an_effect().key, EffectState.UNKNOWN, None, _OUTCOME)
    for key in ("run_1:1.0", "run_2:1.0"):
        _is_refused(await store.claim(a_claim(an_effect(key))), Reason.EFFECT_UNKNOWN)
    await store.settle(an_effect().key, EffectState.DONE, "1", _OUTCOME)
    assert await store.claim(a_claim(an_effect("run_2:1.0"))) == Claimed()


async def a_running_effect_past_its_deadline_is_unknown(store: Store) -> None:
    """It counts as unknown, and is turned into it by whoever comes upon it."""
    effect = an_effect()
    await store.claim(a_claim(effect))
    before = a_claim(an_effect("run_2:1.0"), at=effect.deadline - MINUTE / 60)
    _is_refused(await store.claim(before), Reason.EFFECT_RUNNING)
    _is_refused(await store.claim(replace(before, at=effect.deadline)), Reason.EFFECT_UNKNOWN)
    assert await store.find_effect(effect.key) == replace(effect, state=EffectState.UNKNOWN)
    _is_refused(await store.claim(a_claim(effect)), Reason.EFFECT_UNKNOWN)


async def an_unknown_effect_may_repeat_where_the_tool_takes_a_key(store: Store) -> None:
    """Under its own key alone, and then it runs again."""
    await store.claim(a_claim(an_effect()))
    await store.settle(an_effect().key, EffectState.UNKNOWN, "maybe", _OUTCOME)
    _is_refused(await store.claim(a_claim(an_effect("run_2:1.0"), may_repeat=True)), Reason.EFFECT_UNKNOWN)
    again = an_effect(deadline=NOW + HOUR)
    assert await store.claim(a_claim(again, may_repeat=True)) == Claimed()
    assert await store.find_effect(again.key) == again


async def of_many_like_effects_one_begins(store: Store) -> None:
    """The look and the claim are one atomic step."""
    claims = [a_claim(an_effect(f"run_{number}:1.0"), intent=_INTENT) for number in range(20)]
    answers = await asyncio.gather(*(store.claim(claim) for claim in claims))
    assert answers.count(Claimed()) == 1
    assert len(await store.list_effects()) == 1
    assert await entries_of(store) == [_INTENT]


async def a_late_outcome_of_an_unknown_effect_is_stored(store: Store) -> None:
    """`unknown → done`, with its result and its record."""
    await store.claim(a_claim(an_effect()))
    await store.settle(an_effect().key, EffectState.UNKNOWN, None, _OUTCOME)
    await store.settle(an_effect().key, EffectState.DONE, "1", _OUTCOME)
    assert await store.find_effect(an_effect().key) == an_effect(state=EffectState.DONE, result="1")
    assert await entries_of(store) == [_OUTCOME, _OUTCOME]


async def an_effect_that_has_ended_stays_as_it_is(store: Store) -> None:
    """A second outcome is recorded, and changes nothing."""
    await store.claim(a_claim(an_effect()))
    await store.settle(an_effect().key, EffectState.FAILED, "0", _OUTCOME)
    await store.settle(an_effect().key, EffectState.DONE, "1", _OUTCOME)
    await store.settle(an_effect().key, EffectState.UNKNOWN, None, _OUTCOME)
    assert await store.find_effect(an_effect().key) == an_effect(state=EffectState.FAILED, result="0")
    assert await entries_of(store) == [_OUTCOME] * 3


async def what_is_no_end_settles_nothing(store: Store) -> None:
    """No such effect, or an end that is none: `StoreError`, and no record."""
    await store.claim(a_claim(an_effect()))
    for key, state in (("run_9:1.0", EffectState.DONE), (an_effect().key, EffectState.RUNNING)):
        try:
            await store.settle(key, state, None, _OUTCOME)
        except StoreError:
            continue
        raise AssertionError("what cannot be settled must raise StoreError")
    assert await entries_of(store) == []


async def effects_are_listed_oldest_first(store: Store) -> None:
    """By state, by run, so many."""
    for number, run_id in enumerate(("run_z", "run_a", "run_m")):
        effect = an_effect(f"{run_id}:1.0", run_id=run_id, digest=run_id, deadline=NOW + HOUR)
        await store.claim(a_claim(effect, at=NOW + number * MINUTE))
    await store.settle("run_a:1.0", EffectState.UNKNOWN, None, _OUTCOME)
    assert [effect.key for effect in await store.list_effects(limit=2)] == ["run_z:1.0", "run_a:1.0"]
    assert [effect.key for effect in await store.list_effects(states=[EffectState.UNKNOWN])] == ["run_a:1.0"]
    assert [effect.key for effect in await store.list_effects(run_id="run_m")] == ["run_m:1.0"]


async def a_window_gives_no_more_than_it_holds(store: Store) -> None:
    """Fifty at once on a limit of ten: ten, and the others hear the rule."""
    claim = a_claim(takes=(a_take(at_most=Decimal(10), rule="10 calls in 60 s"),))
    answers = await asyncio.gather(*(store.claim(claim) for _ in range(50)))
    assert answers.count(Claimed()) == 10
    assert answers.count(ClaimRefused(Reason.LIMIT_REACHED, "10 calls in 60 s")) == 40


async def a_window_slides(store: Store) -> None:
    """What was taken counts until its age is the length of the window, and not from then on."""
    for seconds in (0, 20, 40):
        assert await store.claim(a_claim(at=NOW + seconds * MINUTE / 60, takes=(a_take(),))) == Claimed()
    at_the_end = NOW + MINUTE
    just_before = at_the_end - MINUTE / 60_000
    assert await store.usage([a_take()], just_before) == [Decimal(3)]
    _is_refused(await store.claim(a_claim(at=just_before, takes=(a_take(),))), Reason.LIMIT_REACHED)
    assert await store.usage([a_take()], at_the_end) == [Decimal(2)]
    assert await store.claim(a_claim(at=at_the_end, takes=(a_take(),))) == Claimed()
    _is_refused(await store.claim(a_claim(at=at_the_end, takes=(a_take(),))), Reason.LIMIT_REACHED)


async def windows_of_different_keys_and_lengths_are_apart(store: Store) -> None:
    """One call may take from several, and from one twice."""
    a_minute, an_hour = a_take(at_most=Decimal(1)), a_take(at_most=Decimal(9), per=HOUR)
    other = a_take(key="refund:c18", at_most=Decimal(1))
    assert await store.claim(a_claim(takes=(a_minute, an_hour))) == Claimed()
    assert await store.claim(a_claim(takes=(other, an_hour))) == Claimed()
    assert await store.usage([a_minute, other, an_hour], NOW) == [Decimal(1), Decimal(1), Decimal(2)]
    twice = a_take(key="refund:c19", at_most=Decimal(1))
    _is_refused(await store.claim(a_claim(takes=(twice, twice))), Reason.LIMIT_REACHED)


async def amounts_add_up_exactly(store: Store) -> None:
    """Decimal amounts, to the last cent."""
    cents = a_take(at_most=Decimal("0.30"), amount=Decimal("0.10"))
    for _ in range(2):
        assert await store.claim(a_claim(takes=(cents,))) == Claimed()
    _is_refused(await store.claim(a_claim(takes=(replace(cents, amount=Decimal("0.11")),))), Reason.LIMIT_REACHED)
    assert await store.claim(a_claim(takes=(cents,))) == Claimed()
    _is_refused(await store.claim(a_claim(takes=(replace(cents, amount=Decimal("0.01")),))), Reason.LIMIT_REACHED)
    large = a_take(key="pay", at_most=Decimal("1e12"), amount=Decimal("999999999999.99"))
    assert await store.claim(a_claim(takes=(large,))) == Claimed()
    assert await store.usage([cents, large], NOW) == [Decimal("0.30"), Decimal("999999999999.99")]


async def an_amount_gives_nothing_back(store: Store) -> None:
    """Below zero, or no number at all, is refused."""
    for amount in ("-1", "NaN", "Infinity"):
        _is_refused(await store.claim(a_claim(takes=(a_take(amount=Decimal(amount)),))), Reason.LIMIT_REACHED)
    assert await store.usage([a_take()], NOW) == [Decimal(0)]


async def a_refused_claim_takes_nothing(store: Store) -> None:
    """Whatever stood in the way: no effect, no use of an approval, no limit, no record."""
    await open_and_suspend(store, a_request())
    await approve(store)
    store.open_run(a_run("run_2"), a_lease("run_2"))
    full = a_take(key="full", at_most=Decimal(0))
    wanted = Claim(
        at=NOW, takes=(a_take(),), approval_id="apr_1", approval_digest="digest_1", effect=an_effect(), intent=_INTENT,
        lease=a_lease("run_2"),
    )  # fmt: skip
    await store.claim(a_claim(an_effect("other", digest="unsettled", deadline=NOW + HOUR)))
    recorded = await entries_of(store)
    for refused, reason in (
        (replace(wanted, takes=(a_take(), full)), Reason.LIMIT_REACHED),
        (replace(wanted, approval_digest="digest_2"), Reason.APPROVAL_VOID),
        (replace(wanted, effect=an_effect(digest="unsettled")), Reason.EFFECT_RUNNING),
        (replace(wanted, lease=a_lease("run_2", fence=2)), Reason.LEASE_LOST),
    ):
        _is_refused(await store.claim(refused), reason)
    assert await store.find_effect(an_effect().key) is None
    assert await store.usage([a_take()], NOW) == [Decimal(0)]
    assert await entries_of(store) == recorded
    assert await store.claim(wanted) == Claimed()
    request = await store.find_approval(id="apr_1")
    assert request is not None
    assert request.status is ApprovalStatus.USED


async def the_first_thing_that_stands_in_the_way_is_said(store: Store) -> None:
    """Lease, effect, approval, limits, in this order."""
    store.open_run(a_run(), a_lease())
    await store.claim(a_claim(an_effect("other", deadline=NOW + HOUR)))
    claim = Claim(
        at=NOW, takes=(a_take(at_most=Decimal(0)),), approval_id="apr_9", effect=an_effect(), lease=a_lease(fence=7)
    )
    _is_refused(await store.claim(claim), Reason.LEASE_LOST)
    claim = replace(claim, lease=a_lease())
    _is_refused(await store.claim(claim), Reason.EFFECT_RUNNING)
    claim = replace(claim, effect=an_effect(digest="digest_2"))
    _is_refused(await store.claim(claim), Reason.APPROVAL_VOID)
    _is_refused(await store.claim(replace(claim, approval_id=None)), Reason.LIMIT_REACHED)


LAWS = (
    an_effect_begins_running_with_its_intent,
    an_effect_that_has_ended_stands_for_its_key,
    a_key_stands_for_one_call,
    a_running_effect_is_not_begun_again,
    an_unknown_effect_blocks_until_it_is_settled,
    a_running_effect_past_its_deadline_is_unknown,
    an_unknown_effect_may_repeat_where_the_tool_takes_a_key,
    of_many_like_effects_one_begins,
    a_late_outcome_of_an_unknown_effect_is_stored,
    an_effect_that_has_ended_stays_as_it_is,
    what_is_no_end_settles_nothing,
    effects_are_listed_oldest_first,
    a_window_gives_no_more_than_it_holds,
    a_window_slides,
    windows_of_different_keys_and_lengths_are_apart,
    amounts_add_up_exactly,
    an_amount_gives_nothing_back,
    a_refused_claim_takes_nothing,
    the_first_thing_that_stands_in_the_way_is_said,
)
"""Each is tried on a store of its own, open and empty."""
