"""Laws of the store contract: runs, their leases and their journals."""

# ruff: noqa: S101 - a law asserts

import asyncio

from placet.errors import LeaseLostError, StoreError
from placet.ports import Store
from placet.testing.store_samples import (
    HOUR,
    MINUTE,
    NOW,
    a_claim,
    a_decision,
    a_lease,
    a_request,
    a_run,
    an_approval_entry,
    an_effect,
    an_entry,
    approve,
    entries_of,
    open_and_suspend,
    status_of,
)
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import AlreadyDone, Claimed, ClaimRefused, EffectState, Lease
from placet.values.run import RunStatus


async def a_run_is_found_as_it_was_opened_owned_by_its_lease(store: Store) -> None:
    """`open_run` keeps every field, and the lease's owner, fence and end."""
    store.open_run(a_run(parent="run_0:1.0"), a_lease())
    run = await store.load_run("run_1")
    lease = a_lease()
    assert run == a_run(parent="run_0:1.0", owner=lease.owner, fence=lease.fence, lease_until=lease.until)
    assert await store.load_run("run_2") is None


async def a_run_that_exists_is_not_opened_again(store: Store) -> None:
    """A second run of the same id changes nothing, and its lease holds nothing."""
    store.open_run(a_run(), a_lease())
    store.open_run(a_run(snapshot='{"turn":9}'), a_lease(owner="worker_2"))
    run = await store.load_run("run_1")
    assert run is not None
    assert (run.snapshot, run.owner) == ('{"turn":0}', "worker_1")
    answer = await store.claim(a_claim(lease=a_lease(owner="worker_2")))
    assert isinstance(answer, ClaimRefused)


async def the_journal_keeps_its_order(store: Store) -> None:
    """What was queued is there with the next awaited verb, in order."""
    store.open_run(a_run(journal=("first",)), a_lease())
    for place in range(12):
        store.journal(a_lease(), f"entry {place}")
    await store.append(an_entry())
    run = await store.load_run("run_1")
    assert run is not None
    assert run.journal == ("first", *(f"entry {place}" for place in range(12)))


async def the_journal_drops_what_a_lost_lease_says(store: Store) -> None:
    """Another owner, an older fence, a run that waits: nothing is journalled."""
    store.open_run(a_run(), a_lease())
    store.journal(a_lease(owner="worker_2"), "another owner")
    store.journal(a_lease(fence=0), "an older fence")
    store.journal(a_lease("run_2"), "no such run")
    running = await store.load_run("run_1")
    assert running is not None
    assert running.journal == ()
    await store.suspend_run(a_lease(), "{}", (), (), NOW)
    store.journal(a_lease(), "given back")
    run = await store.load_run("run_1")
    assert run is not None
    assert run.journal == ()


async def a_suspended_run_waits_with_its_snapshot_its_requests_and_its_records(store: Store) -> None:
    """`suspend_run` stores all of it together, empties the journal and gives the lease back."""
    store.open_run(a_run(), a_lease())
    store.journal(a_lease(), "part of the snapshot now")
    requests = (a_request(), a_request("apr_2", call_key="run_1:1.1"))
    entries = (an_entry(AuditKind.APPROVAL, decision="waiting"), an_entry(AuditKind.CALL))
    status = await store.suspend_run(a_lease(), '{"turn":1}', requests, entries, NOW + MINUTE)
    assert status is RunStatus.WAITING
    run = await store.load_run("run_1")
    assert run == a_run(
        snapshot='{"turn":1}', status=RunStatus.WAITING, fence=1, owner="", lease_until=None, updated_at=NOW + MINUTE
    )
    assert await store.find_approval(id="apr_2") == requests[1]
    assert await entries_of(store) == list(entries)


async def a_run_is_suspended_by_its_owner_alone(store: Store) -> None:
    """A lease that does not hold stores nothing at all."""
    store.open_run(a_run(), a_lease())
    await _is_lost(store, a_lease(owner="worker_2"))
    await _is_lost(store, a_lease(fence=2))
    await _is_lost(store, a_lease("run_2"))
    assert await store.list_approvals() == []
    assert await entries_of(store) == []
    assert await status_of(store) is RunStatus.RUNNING


async def a_run_that_asks_what_was_asked_before_stores_nothing(store: Store) -> None:
    """A request's id is its own: another run's question does not take its place."""
    await open_and_suspend(store, a_request())
    store.open_run(a_run("run_2"), a_lease("run_2"))
    try:
        await store.suspend_run(a_lease("run_2"), "{}", (a_request(run_id="run_2"),), (an_entry(decision="no"),), NOW)
    except StoreError:
        pass
    else:
        raise AssertionError("a request that there is already must raise StoreError")
    assert await store.find_approval(id="apr_1") == a_request()
    assert await status_of(store, "run_2") is RunStatus.RUNNING
    assert "no" not in [entry.decision for entry in await entries_of(store)]


async def _is_lost(store: Store, lease: Lease) -> None:
    for attempt in (
        store.suspend_run(lease, "{}", (a_request(),), (an_entry(),), NOW),
        store.close_run(lease, RunStatus.DONE, "{}", (an_entry(),), NOW),
    ):
        try:
            await attempt
        except LeaseLostError:
            continue
        raise AssertionError("a lease that does not hold must raise LeaseLostError")


async def a_run_whose_request_was_decided_while_it_ran_is_ready_when_it_suspends(store: Store) -> None:
    """No decision is missed between two segments."""
    await open_and_suspend(store, a_request(), a_request("apr_2"))
    await approve(store)
    claimed = await store.claim_run("run_1", "worker_2", NOW, MINUTE)
    assert claimed is not None
    await store.decide_approval(a_decision("apr_2", yes=False), an_approval_entry("rejected"))
    assert await status_of(store) is RunStatus.RUNNING
    assert await store.suspend_run(claimed[0], "{}", (), (), NOW) is RunStatus.READY
    claimed = await store.claim_run("run_1", "worker_2", NOW, MINUTE)
    assert claimed is not None
    assert await store.suspend_run(claimed[0], "{}", (), (), NOW) is RunStatus.WAITING


async def whoever_takes_a_run_over_has_seen_its_decisions(store: Store) -> None:
    """A decision that came before the takeover wakes the run no second time."""
    await open_and_suspend(store, a_request(), a_request("apr_2"))
    await approve(store)
    await store.claim_run("run_1", "worker_2", NOW, MINUTE)
    await approve(store, "apr_2")
    claimed = await store.claim_run("run_1", "worker_3", NOW + MINUTE, MINUTE)
    assert claimed is not None
    assert await store.suspend_run(claimed[0], "{}", (), (), NOW + MINUTE) is RunStatus.WAITING


async def a_closed_run_has_ended(store: Store) -> None:
    """`close_run` stores snapshot and records, empties the journal and gives the lease back."""
    store.open_run(a_run(), a_lease())
    store.journal(a_lease(), "an entry")
    await store.close_run(a_lease(), RunStatus.STOPPED, '{"turn":2}', (an_entry(AuditKind.ANSWER),), NOW + MINUTE)
    run = await store.load_run("run_1")
    assert run == a_run(snapshot='{"turn":2}', status=RunStatus.STOPPED, fence=1, updated_at=NOW + MINUTE)
    assert await entries_of(store) == [an_entry(AuditKind.ANSWER)]
    assert await store.claim_run("run_1", "worker_2", NOW + HOUR, MINUTE) is None


async def a_ready_run_is_claimed_under_a_higher_fence(store: Store) -> None:
    """`claim_run` returns the lease and the run as it is then."""
    await open_and_suspend(store, a_request())
    await approve(store)
    claimed = await store.claim_run("run_1", "worker_2", NOW + MINUTE, HOUR)
    assert claimed is not None
    lease, run = claimed
    assert lease == Lease(run_id="run_1", owner="worker_2", fence=2, until=NOW + MINUTE + HOUR)
    assert run == await store.load_run("run_1")
    assert (run.status, run.owner, run.fence, run.lease_until) == (RunStatus.RUNNING, "worker_2", 2, lease.until)
    assert run.snapshot == '{"turn":1}'


async def a_run_that_is_owned_or_waits_is_not_claimed(store: Store) -> None:
    """There is no claim before the lease runs out, on a run that waits, or on none at all."""
    store.open_run(a_run(), a_lease())
    assert await store.claim_run("run_1", "worker_2", NOW + MINUTE - HOUR, MINUTE) is None
    assert await store.claim_run("run_2", "worker_2", NOW, MINUTE) is None
    await store.suspend_run(a_lease(), "{}", (a_request(),), (), NOW)
    assert await store.claim_run("run_1", "worker_2", NOW + HOUR, MINUTE) is None


async def a_run_whose_lease_has_run_out_is_taken_over_with_its_journal(store: Store) -> None:
    """From `lease.until` on anybody may; the one before is fenced off from then on."""
    store.open_run(a_run(), a_lease())
    store.journal(a_lease(), "an entry")
    claimed = await store.claim_run("run_1", "worker_2", a_lease().until, MINUTE)
    assert claimed is not None
    assert claimed[1].journal == ("an entry",)
    store.journal(a_lease(), "too late")
    assert await store.renew_lease(a_lease(), NOW + HOUR) is None
    answer = await store.claim(a_claim(lease=a_lease()))
    assert isinstance(answer, ClaimRefused)
    assert answer.reason is Reason.LEASE_LOST
    await _is_lost(store, a_lease())
    run = await store.load_run("run_1")
    assert run == claimed[1]


async def a_takeover_makes_the_running_effects_of_its_run_unknown(store: Store) -> None:
    """Those of other runs, and those that have ended, stay as they are."""
    store.open_run(a_run(), a_lease())
    for effect in (
        an_effect("run_1:1.0", digest="a", deadline=NOW + HOUR),
        an_effect("run_1:1.1", digest="b", deadline=NOW + HOUR),
        an_effect("run_2:1.0", digest="c", run_id="run_2", deadline=NOW + HOUR),
    ):
        assert await store.claim(a_claim(effect)) == Claimed()
    await store.settle("run_1:1.1", EffectState.DONE, "1", an_entry(AuditKind.OUTCOME))
    await store.claim_run("run_1", "worker_2", NOW + MINUTE, MINUTE)
    states = {effect.key: effect.state for effect in await store.list_effects()}
    assert states == {
        "run_1:1.0": EffectState.UNKNOWN,
        "run_1:1.1": EffectState.DONE,
        "run_2:1.0": EffectState.RUNNING,
    }


async def of_many_who_claim_a_run_one_gets_it(store: Store) -> None:
    """The claim is one atomic step."""
    store.open_run(a_run(), a_lease())
    answers = await asyncio.gather(
        *(store.claim_run("run_1", f"worker_{number}", NOW + HOUR, MINUTE) for number in range(20))
    )
    assert len([answer for answer in answers if answer is not None]) == 1


async def a_lease_is_renewed_by_its_owner_alone(store: Store) -> None:
    """`renew_lease` returns the longer lease, and it holds."""
    store.open_run(a_run(), a_lease())
    assert await store.renew_lease(a_lease(owner="worker_2"), NOW + HOUR) is None
    assert await store.renew_lease(a_lease(fence=0), NOW + HOUR) is None
    assert await store.renew_lease(a_lease(), NOW + HOUR) == a_lease(until=NOW + HOUR)
    assert await store.claim_run("run_1", "worker_2", NOW + MINUTE, MINUTE) is None
    assert await store.claim_run("run_1", "worker_2", NOW + HOUR, MINUTE) is not None


async def runs_are_listed_newest_first(store: Store) -> None:
    """By status, by principal, so many, and without their journals."""
    for number, principal_id in enumerate(("c17", "c17", "c18")):
        run_id = f"run_{number}"
        store.open_run(a_run(run_id, principal_id=principal_id, created_at=NOW + number * MINUTE), a_lease(run_id))
        store.journal(a_lease(run_id), "an entry")
    await store.close_run(a_lease("run_0"), RunStatus.DONE, "{}", (), NOW)
    runs = await store.list_runs()
    assert [run.id for run in runs] == ["run_2", "run_1", "run_0"]
    assert {run.journal for run in runs} == {()}
    assert [run.id for run in await store.list_runs(principal_id="c17")] == ["run_1", "run_0"]
    assert [run.id for run in await store.list_runs(statuses=[RunStatus.RUNNING])] == ["run_2", "run_1"]
    both = [RunStatus.DONE, RunStatus.RUNNING]
    assert [run.id for run in await store.list_runs(statuses=both, principal_id="c17", limit=1)] == ["run_1"]


async def a_purged_run_leaves_who_decided_and_what_may_not_happen_again(store: Store) -> None:
    """Of runs that ended before a time the texts go: snapshots, arguments, previews, notes, results."""
    await open_and_suspend(store, a_request())
    await approve(store)
    claimed = await store.claim_run("run_1", "worker_1", NOW + MINUTE, MINUTE)
    assert claimed is not None
    await store.claim(a_claim(an_effect(), lease=claimed[0]))
    await store.settle(an_effect().key, EffectState.DONE, '"paid"', an_entry(AuditKind.OUTCOME))
    await store.close_run(claimed[0], RunStatus.DONE, '{"said":"much"}', (), NOW + MINUTE)
    purge = an_entry(AuditKind.PURGE)

    assert await store.purge_runs(NOW + MINUTE, purge) == 0
    assert await store.purge_runs(NOW + HOUR, purge) == 1
    assert await store.purge_runs(NOW + HOUR, purge) == 0

    assert await store.load_run("run_1") is None
    request = await store.find_approval(id="apr_1")
    assert request is not None
    assert (request.arguments, request.preview, request.note, request.decided_by) == ({}, None, None, "s1")
    effect = await store.find_effect(an_effect().key)
    assert effect is not None
    assert (effect.state, effect.result) == (EffectState.DONE, None)
    assert isinstance(await store.claim(a_claim(an_effect())), AlreadyDone)
    assert [entry.kind for entry in await entries_of(store)].count(AuditKind.PURGE) == 1


async def what_has_not_ended_is_not_purged(store: Store) -> None:
    """A run that waits, is ready or was left keeps everything, and so does an effect in doubt."""
    await open_and_suspend(store, a_request())
    store.open_run(a_run("run_2"), a_lease("run_2"))
    store.open_run(a_run("run_3"), a_lease("run_3"))
    doubtful = an_effect("run_3:1.0", run_id="run_3", digest="other")
    await store.claim(a_claim(doubtful, lease=a_lease("run_3")))
    await store.settle(doubtful.key, EffectState.UNKNOWN, '"perhaps"', an_entry(AuditKind.OUTCOME))
    await store.close_run(a_lease("run_3"), RunStatus.STOPPED, "{}", (), NOW)

    assert await store.purge_runs(NOW + HOUR, an_entry(AuditKind.PURGE)) == 1

    waiting, running = await store.load_run("run_1"), await store.load_run("run_2")
    assert waiting is not None
    assert running is not None
    request = await store.find_approval(id="apr_1")
    assert request is not None
    assert request.arguments == a_request().arguments
    effect = await store.find_effect(doubtful.key)
    assert effect is not None
    assert (effect.state, effect.result) == (EffectState.UNKNOWN, '"perhaps"')


LAWS = (
    a_run_is_found_as_it_was_opened_owned_by_its_lease,
    a_run_that_exists_is_not_opened_again,
    the_journal_keeps_its_order,
    the_journal_drops_what_a_lost_lease_says,
    a_suspended_run_waits_with_its_snapshot_its_requests_and_its_records,
    a_run_is_suspended_by_its_owner_alone,
    a_run_that_asks_what_was_asked_before_stores_nothing,
    a_run_whose_request_was_decided_while_it_ran_is_ready_when_it_suspends,
    whoever_takes_a_run_over_has_seen_its_decisions,
    a_closed_run_has_ended,
    a_ready_run_is_claimed_under_a_higher_fence,
    a_run_that_is_owned_or_waits_is_not_claimed,
    a_run_whose_lease_has_run_out_is_taken_over_with_its_journal,
    a_takeover_makes_the_running_effects_of_its_run_unknown,
    of_many_who_claim_a_run_one_gets_it,
    a_lease_is_renewed_by_its_owner_alone,
    runs_are_listed_newest_first,
    a_purged_run_leaves_who_decided_and_what_may_not_happen_again,
    what_has_not_ended_is_not_purged,
)
"""Each is tried on a store of its own, open and empty."""
