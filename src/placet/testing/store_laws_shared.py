"""Laws of the store contract: several store objects over the same memory.

They stand for several processes or machines. A store that lives in one process alone, as
`MemoryStore` does, has nothing to share and is not tried with these.
"""

# ruff: noqa: S101 - a law asserts

import asyncio
import json
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import TypeAlias

from placet.errors import LeaseLostError
from placet.ports import AuditHead, Store
from placet.testing.store_samples import (
    HOUR,
    MINUTE,
    NOW,
    a_claim,
    a_decision,
    a_lease,
    a_request,
    a_run,
    a_take,
    an_approval_entry,
    an_effect,
    an_entry,
    entries_of,
    open_and_suspend,
    status_of,
)
from placet.values.approval import ApprovalRequest
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import Claimed, ClaimRefused, EffectState
from placet.values.principal import Principal
from placet.values.run import RunStatus

OpenStore: TypeAlias = Callable[[], Awaitable[Store]]
"""Opens one more store object over the same memory. Whoever gives it closes them all."""


async def what_one_commits_the_others_see(open_store: OpenStore) -> None:
    """Runs, approvals, effects, windows, principals, records and the mark of a demo."""
    first, second = await open_store(), await open_store()
    await open_and_suspend(first, a_request())
    first.state_principal(Principal("c17", {"support"}))
    await first.claim(a_claim(an_effect(), takes=(a_take(),), intent=an_entry(AuditKind.INTENT)))
    await first.mark_demo()
    assert await status_of(second) is RunStatus.WAITING
    assert await second.find_approval(id="apr_1") == a_request()
    assert await second.find_effect(an_effect().key) == an_effect()
    assert await second.usage([a_take()], NOW) == [Decimal(1)]
    assert await second.find_principal("c17") == Principal("c17", {"support"})
    assert await entries_of(second) == [an_entry(AuditKind.INTENT)]
    assert await second.is_demo()


async def what_was_stored_outlives_who_stored_it(open_store: OpenStore) -> None:
    """A store that is closed commits what is queued; the next one goes on from there."""
    first = await open_store()
    first.open_run(a_run(), a_lease())
    first.journal(a_lease(), "an entry")
    first.queue(an_entry())
    await first.close()
    second = await open_store()
    claimed = await second.claim_run("run_1", "worker_2", NOW + HOUR, MINUTE)
    assert claimed is not None
    assert claimed[1].journal == ("an entry",)
    assert await entries_of(second) == [an_entry()]


async def a_window_is_one_window_for_all(open_store: OpenStore) -> None:
    """Fifty at once, spread over several, on a limit of ten: ten."""
    stores = [await open_store() for _ in range(3)]
    claim = a_claim(takes=(a_take(at_most=Decimal(10)),))
    answers = await asyncio.gather(*(stores[number % 3].claim(claim) for number in range(50)))
    assert answers.count(Claimed()) == 10


async def like_effects_begin_once_among_all(open_store: OpenStore) -> None:
    """Under different keys and the same key, with an intent or without."""
    stores = [await open_store() for _ in range(3)]
    claims = [
        a_claim(an_effect(f"run_{number // 2}:1.0"), intent=an_entry(AuditKind.INTENT) if number % 2 else None)
        for number in range(24)
    ]
    answers = await asyncio.gather(*(stores[number % 3].claim(claim) for number, claim in enumerate(claims)))
    assert answers.count(Claimed()) == 1
    reasons = {answer.reason for answer in answers if isinstance(answer, ClaimRefused)}
    assert reasons == {Reason.EFFECT_RUNNING}


async def a_request_is_decided_once_among_all(open_store: OpenStore) -> None:
    """And its run becomes ready, and is claimed once among all."""
    stores = [await open_store() for _ in range(3)]
    await open_and_suspend(stores[0], a_request())
    answers = await asyncio.gather(
        *(
            stores[number % 3].decide_approval(a_decision(yes=number % 2 == 0), an_approval_entry())
            for number in range(12)
        )
    )
    assert len([answer for answer in answers if isinstance(answer, ApprovalRequest)]) == 1
    claims = await asyncio.gather(
        *(stores[number % 3].claim_run("run_1", f"worker_{number}", NOW, MINUTE) for number in range(12))
    )
    assert len([claim for claim in claims if claim is not None]) == 1


async def a_decision_elsewhere_is_not_missed(open_store: OpenStore) -> None:
    """Whether it comes before or after the run suspends, the run does not wait for ever."""
    first, second = await open_store(), await open_store()
    for number in range(10):
        run_id, request_id = f"run_{number}", f"apr_{number}"
        await open_and_suspend(first, a_request(f"{request_id}_a", run_id=run_id), a_request(request_id, run_id=run_id),
                               run_id=run_id)  # fmt: skip
        await first.decide_approval(a_decision(f"{request_id}_a"), an_approval_entry())
        claimed = await first.claim_run(run_id, "worker_1", NOW, MINUTE)
        assert claimed is not None
        await asyncio.gather(
            first.suspend_run(claimed[0], "{}", (), (), NOW),
            second.decide_approval(a_decision(request_id), an_approval_entry()),
        )
        assert await status_of(first, run_id) is RunStatus.READY


async def who_lost_a_run_can_do_nothing_to_it(open_store: OpenStore) -> None:
    """Two workers, one takeover: the late one is fenced off in every verb."""
    first, second = await open_store(), await open_store()
    first.open_run(a_run(), a_lease())
    await first.claim(a_claim(an_effect(), lease=a_lease()))
    claimed = await second.claim_run("run_1", "worker_2", NOW + HOUR, MINUTE)
    assert claimed is not None
    first.journal(a_lease(), "too late")
    answer = await first.claim(a_claim(an_effect("run_1:1.1", digest="digest_2"), lease=a_lease()))
    assert answer == ClaimRefused(Reason.LEASE_LOST, answer.message if isinstance(answer, ClaimRefused) else "")
    try:
        await first.close_run(a_lease(), RunStatus.DONE, "{}", (), NOW)
    except LeaseLostError:
        pass
    else:
        raise AssertionError("who lost a run must not close it")
    assert await second.load_run("run_1") == claimed[1]
    await first.settle(an_effect().key, EffectState.DONE, "1", an_entry(AuditKind.OUTCOME))
    effect = await second.find_effect(an_effect().key)
    assert effect is not None
    assert (effect.state, effect.result) == (EffectState.DONE, "1")


async def claims_that_cross_do_not_block_each_other(open_store: OpenStore) -> None:
    """The same windows in opposite order, all at once: every claim is answered."""
    stores = [await open_store() for _ in range(3)]
    keys = [a_take(key=f"tool_{number}", at_most=Decimal(1000)) for number in range(6)]
    orders = [tuple(keys), tuple(reversed(keys)), (*keys[3:], *keys[:3])]
    answers = await asyncio.gather(
        *(stores[number % 3].claim(a_claim(takes=orders[number // 3 % 3])) for number in range(90))
    )
    assert answers == [Claimed()] * 90
    assert await stores[0].usage(keys, NOW) == [Decimal(90)] * 6


async def every_writer_has_a_chain_and_all_verify(open_store: OpenStore) -> None:
    """Also while they write at the same time."""
    stores = [await open_store() for _ in range(3)]
    await asyncio.gather(*(store.append(an_entry(decision=str(number))) for store in stores for number in range(20)))
    shown = await stores[0].verify()
    assert (shown.records, shown.chains, shown.fault) == (63, 3, None)
    assert len({head.writer for head in await stores[1].heads()}) == 3
    assert (await stores[1].verify(await stores[2].heads())).fault is None


async def a_writer_names_the_chains_before_it(open_store: OpenStore) -> None:
    """Each chain's last record, as long as no other writer has named it there."""
    first = await open_store()
    await first.append(an_entry())
    (one,) = await first.heads()
    second = await open_store()
    await second.append(an_entry())
    (two,) = [head for head in await second.heads() if head != one]
    third = await open_store()
    await third.append(an_entry())
    assert await _named_by(third, two.writer) == [one]
    (three,) = [head.writer for head in await third.heads() if head not in (one, two)]
    assert await _named_by(third, three) == [two]
    assert (await third.verify()).fault is None


async def _named_by(store: Store, writer: str) -> list[AuditHead]:
    bodies = [
        record.entry.body
        async for record in store.read()
        if record.writer == writer and record.entry.kind is AuditKind.WRITER
    ]
    assert len(bodies) == 1
    return [AuditHead(*head) for head in json.loads(bodies[0])["chains"]]


SHARED_LAWS = (
    what_one_commits_the_others_see,
    what_was_stored_outlives_who_stored_it,
    a_window_is_one_window_for_all,
    like_effects_begin_once_among_all,
    a_request_is_decided_once_among_all,
    a_decision_elsewhere_is_not_missed,
    who_lost_a_run_can_do_nothing_to_it,
    claims_that_cross_do_not_block_each_other,
    every_writer_has_a_chain_and_all_verify,
    a_writer_names_the_chains_before_it,
)
"""Each is tried with a way to open stores over an empty memory of its own."""
