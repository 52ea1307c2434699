"""Laws of the store contract: approvals."""

# ruff: noqa: S101 - a law asserts

import asyncio
from dataclasses import replace

from placet.ports import NotDecided, Store
from placet.testing.store_samples import (
    HOUR,
    NOW,
    a_claim,
    a_decision,
    a_request,
    an_approval_entry,
    an_entry,
    approve,
    entries_of,
    open_and_suspend,
    status_of,
)
from placet.values.approval import ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import Claimed, ClaimRefused
from placet.values.run import RunStatus


async def a_request_is_found_by_its_id_and_by_its_token(store: Store) -> None:
    """Every field comes back as it was, also without a preview."""
    requests = (a_request(), a_request("apr_2", preview=None, approvers=frozenset(), provenance={}))
    await open_and_suspend(store, *requests)
    assert await store.find_approval(id="apr_1") == requests[0]
    assert await store.find_approval(token_hash="hash of apr_2") == requests[1]  # noqa: S106 - made up
    assert await store.find_approval(id="apr_3") is None
    assert await store.find_approval(token_hash="hash of apr_3") is None  # noqa: S106 - made up
    assert await store.find_approval() is None


async def requests_are_listed_oldest_first_without_their_tokens(store: Store) -> None:
    """By run, by status, so many."""
    await open_and_suspend(store, a_request("apr_3"), a_request("apr_1"))
    await open_and_suspend(store, a_request("apr_2", run_id="run_2"), run_id="run_2")
    await approve(store, "apr_1")
    requests = await store.list_approvals()
    assert [request.id for request in requests] == ["apr_3", "apr_1", "apr_2"]
    assert {request.token_hash for request in requests} == {""}
    assert [request.id for request in await store.list_approvals(run_id="run_1", limit=1)] == ["apr_3"]
    assert [request.id for request in await store.list_approvals(statuses=[ApprovalStatus.APPROVED])] == ["apr_1"]


async def a_yes_is_taken_and_makes_its_run_ready(store: Store) -> None:
    """The decision, its record and the run that waits change together."""
    await open_and_suspend(store, a_request())
    decision = a_decision(note="seen the photo", note_for_model=False)
    answer = await store.decide_approval(decision, an_approval_entry())
    expected = replace(
        a_request(), status=ApprovalStatus.APPROVED, decided_by="s1", decided_at=decision.at, note="seen the photo",
        note_for_model=False,
    )  # fmt: skip
    assert answer == expected
    assert await store.find_approval(id="apr_1") == expected
    assert await status_of(store) is RunStatus.READY
    assert await entries_of(store) == [an_approval_entry()]


async def a_no_is_taken_and_makes_its_run_ready(store: Store) -> None:
    """A rejected request is rejected, and the run goes on to say so."""
    await open_and_suspend(store, a_request())
    answer = await store.decide_approval(a_decision(yes=False, note="too late"), an_approval_entry("rejected"))
    assert isinstance(answer, ApprovalRequest)
    assert (answer.status, answer.note) == (ApprovalStatus.REJECTED, "too late")
    assert await status_of(store) is RunStatus.READY


async def an_edited_yes_is_for_the_edited_call(store: Store) -> None:
    """Arguments and digest change in the same step, and only the edited call may use it."""
    await open_and_suspend(store, a_request())
    await approve(store, arguments={"order": "8842", "euro": 4}, digest="digest_2")
    request = await store.find_approval(id="apr_1")
    assert request is not None
    assert (request.arguments, request.digest) == ({"order": "8842", "euro": 4}, "digest_2")
    before = await store.claim(a_claim(approval_id="apr_1", approval_digest="digest_1"))
    assert isinstance(before, ClaimRefused)
    assert await store.claim(a_claim(approval_id="apr_1", approval_digest="digest_2")) == Claimed()


async def a_request_is_decided_once(store: Store) -> None:
    """A second word changes nothing and is not recorded; the answer says what stands."""
    await open_and_suspend(store, a_request(), a_request("apr_2"))
    await approve(store)
    await store.decide_approval(a_decision("apr_2", yes=False), an_approval_entry("rejected"))
    again = await store.decide_approval(a_decision(yes=False), an_approval_entry("rejected"))
    assert again == NotDecided(Reason.APPROVAL_USED, ApprovalStatus.APPROVED)
    late = await store.decide_approval(a_decision(at=NOW + 2 * HOUR), an_approval_entry())
    assert late == NotDecided(Reason.APPROVAL_USED, ApprovalStatus.APPROVED)
    again = await store.decide_approval(a_decision("apr_2"), an_approval_entry())
    assert again == NotDecided(Reason.REJECTED, ApprovalStatus.REJECTED)
    assert [entry.decision for entry in await entries_of(store)] == ["approved", "rejected"]


async def a_request_that_does_not_exist_is_not_decided(store: Store) -> None:
    """And nothing is recorded."""
    answer = await store.decide_approval(a_decision("apr_9"), an_approval_entry())
    assert answer == NotDecided(Reason.NOT_FOUND)
    assert await entries_of(store) == []


async def of_many_who_decide_one_is_heard(store: Store) -> None:
    """Yes and no at the same time: one of them stands, and one is recorded."""
    await open_and_suspend(store, a_request())
    answers = await asyncio.gather(
        *(
            store.decide_approval(a_decision(yes=number % 2 == 0), an_approval_entry(str(number)))
            for number in range(20)
        )
    )
    assert len([answer for answer in answers if isinstance(answer, ApprovalRequest)]) == 1
    assert len(await entries_of(store)) == 1


async def a_yes_at_the_expiry_is_too_late(store: Store) -> None:
    """The request becomes expired instead, is recorded as that, and its run goes on."""
    await open_and_suspend(store, a_request())
    answer = await store.decide_approval(a_decision(at=a_request().expires_at), an_approval_entry())
    assert answer == NotDecided(Reason.EXPIRED, ApprovalStatus.EXPIRED)
    again = await store.decide_approval(a_decision(), an_approval_entry())
    assert again == NotDecided(Reason.EXPIRED, ApprovalStatus.EXPIRED)
    assert await status_of(store) is RunStatus.READY
    (entry,) = await entries_of(store)
    assert (entry.kind, entry.decision, entry.call_key) == (AuditKind.APPROVAL, "expired", "run_1:1.0")


async def what_waits_past_its_expiry_is_expired(store: Store) -> None:
    """`expire_approvals` marks, records and wakes; what was decided stays decided."""
    await open_and_suspend(store, a_request(), a_request("apr_2"), a_request("apr_3", expires_at=NOW + 2 * HOUR))
    await open_and_suspend(store, a_request("apr_4", run_id="run_2"), run_id="run_2")
    await approve(store, "apr_2")
    expired = await store.expire_approvals(NOW + HOUR)
    assert [(request.id, request.status) for request in expired] == [
        ("apr_1", ApprovalStatus.EXPIRED),
        ("apr_4", ApprovalStatus.EXPIRED),
    ]
    assert await status_of(store, "run_2") is RunStatus.READY
    assert [entry.decision for entry in await entries_of(store)] == ["approved", "expired", "expired"]
    assert await store.expire_approvals(NOW + HOUR) == []


async def a_yes_is_used_once(store: Store) -> None:
    """The claim that uses it is atomic, however many try."""
    await open_and_suspend(store, a_request())
    await approve(store)
    claim = a_claim(approval_id="apr_1", approval_digest="digest_1")
    answers = await asyncio.gather(*(store.claim(claim) for _ in range(20)))
    assert answers.count(Claimed()) == 1
    reasons = {answer.reason for answer in answers if isinstance(answer, ClaimRefused)}
    assert reasons == {Reason.APPROVAL_USED}
    request = await store.find_approval(id="apr_1")
    assert request is not None
    assert request.status is ApprovalStatus.USED


async def a_yes_counts_for_its_own_call_alone(store: Store) -> None:
    """Another digest, or none, is refused and leaves it unused."""
    await open_and_suspend(store, a_request())
    await approve(store)
    for digest in ("digest_2", None):
        answer = await store.claim(a_claim(approval_id="apr_1", approval_digest=digest))
        assert isinstance(answer, ClaimRefused)
        assert answer.reason is Reason.APPROVAL_VOID
    assert await store.claim(a_claim(approval_id="apr_1", approval_digest="digest_1")) == Claimed()


async def nothing_but_a_yes_that_is_valid_carries_a_claim(store: Store) -> None:
    """No request, one that waits, a no, an expired yes: each refuses."""
    await open_and_suspend(store, a_request("apr_1"), a_request("apr_2"), a_request("apr_3"))
    await store.decide_approval(a_decision("apr_2", yes=False), an_approval_entry("rejected"))
    await approve(store, "apr_3")
    wanted = {"apr_1": NOW, "apr_2": NOW, "apr_3": a_request().expires_at, "apr_9": NOW}
    for approval_id, at in wanted.items():
        answer = await store.claim(a_claim(at=at, approval_id=approval_id, approval_digest="digest_1"))
        assert isinstance(answer, ClaimRefused)
        assert answer.reason is (Reason.EXPIRED if approval_id == "apr_3" else Reason.APPROVAL_VOID)


async def a_voided_yes_carries_nothing(store: Store) -> None:
    """`void_approval` is recorded, and changes nothing but a yes."""
    await open_and_suspend(store, a_request(), a_request("apr_2"))
    await approve(store)
    voided = an_entry(AuditKind.APPROVAL, decision="approval_void")
    await store.void_approval("apr_1", voided)
    await store.void_approval("apr_2", voided)
    await store.void_approval("apr_9", voided)
    answer = await store.claim(a_claim(approval_id="apr_1", approval_digest="digest_1"))
    assert isinstance(answer, ClaimRefused)
    assert answer.reason is Reason.APPROVAL_VOID
    statuses = [request.status for request in await store.list_approvals()]
    assert statuses == [ApprovalStatus.VOID, ApprovalStatus.PENDING]
    assert await entries_of(store) == [an_approval_entry(), voided]


LAWS = (
    a_request_is_found_by_its_id_and_by_its_token,
    requests_are_listed_oldest_first_without_their_tokens,
    a_yes_is_taken_and_makes_its_run_ready,
    a_no_is_taken_and_makes_its_run_ready,
    an_edited_yes_is_for_the_edited_call,
    a_request_is_decided_once,
    a_request_that_does_not_exist_is_not_decided,
    of_many_who_decide_one_is_heard,
    a_yes_at_the_expiry_is_too_late,
    what_waits_past_its_expiry_is_expired,
    a_yes_is_used_once,
    a_yes_counts_for_its_own_call_alone,
    nothing_but_a_yes_that_is_valid_carries_a_claim,
    a_voided_yes_carries_nothing,
)
"""Each is tried on a store of its own, open and empty."""
