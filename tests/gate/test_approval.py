from dataclasses import replace
from datetime import timedelta

import pytest

from placet.gate.approval import check_approval
from placet.values.approval import Approval, ApprovalRequest, ApprovalStatus, Confirmation, Preview, Yes
from placet.values.decision import Allow, Deny, NeedsApproval, Reason
from placet.values.principal import Principal
from tests.gate.conftest import NOW, PAY, YES, MakeRequest


def test_a_call_without_a_yes_is_asked(make_request: MakeRequest) -> None:
    assert isinstance(check_approval(make_request(tool=PAY)), NeedsApproval)


def test_a_yes_counts_for_its_call(make_request: MakeRequest) -> None:
    assert isinstance(check_approval(make_request(tool=PAY, approval=YES)), Allow)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"digest": "digest of pay 6"}, id="other arguments"),
        pytest.param({"tool": replace(PAY, name="refund")}, id="other tool"),
        pytest.param({"principal": Principal("s2", {"support"})}, id="other principal"),
    ],
)
def test_a_yes_counts_for_no_other_call(make_request: MakeRequest, changes: dict[str, object]) -> None:
    decision = check_approval(make_request(**{"tool": PAY, "approval": YES, **changes}))

    assert isinstance(decision, Deny)
    assert decision.reason is Reason.APPROVAL_VOID


def test_a_yes_runs_out(make_request: MakeRequest) -> None:
    decision = check_approval(make_request(tool=PAY, approval=YES, now=NOW + timedelta(minutes=14)))

    assert isinstance(decision, Deny)
    assert decision.reason is Reason.EXPIRED


@pytest.mark.parametrize("status", sorted(set(ApprovalStatus) - {ApprovalStatus.APPROVED}))
def test_only_an_approved_request_is_a_yes(make_request: MakeRequest, status: ApprovalStatus) -> None:
    assert isinstance(check_approval(make_request(tool=PAY, approval=replace(YES, status=status))), Deny)


SENT = Preview("sent", {"status": "sent"})
SEEN = replace(YES, preview=SENT)


@pytest.mark.parametrize(
    "yes",
    [
        pytest.param(replace(SEEN, schema_digest="the tool as it was"), id="the tool has changed"),
        pytest.param(replace(SEEN, policy_digest="the policy as it was"), id="the policy has changed"),
        pytest.param(replace(SEEN, preview=Preview("paid", {"status": "paid"})), id="the preview has changed"),
        pytest.param(replace(SEEN, preview=None), id="there was no preview"),
        pytest.param(replace(SEEN, yes=Yes.CONFIRM), id="the other kind of yes"),
        pytest.param(replace(SEEN, approvers=frozenset({"finance", "support"})), id="other approvers were asked"),
    ],
)
def test_a_yes_is_asked_anew_when_what_was_seen_has_changed(make_request: MakeRequest, yes: ApprovalRequest) -> None:
    assert isinstance(check_approval(make_request(tool=PAY, approval=SEEN, preview=SENT)), Allow)
    assert isinstance(check_approval(make_request(tool=PAY, approval=yes, preview=SENT)), NeedsApproval)


def test_a_yes_counts_where_more_may_give_it_than_could(make_request: MakeRequest) -> None:
    wider = replace(PAY, approval=Approval.always(approvers={"finance", "support"}))

    assert isinstance(check_approval(make_request(tool=wider, approval=SEEN, preview=SENT)), Allow)


@pytest.mark.parametrize("make_rule", [lambda when: Approval.when(when, approvers={"finance"}), Confirmation.when])
def test_a_condition_says_whether_to_ask(make_request: MakeRequest, make_rule) -> None:  # type: ignore[no-untyped-def]
    tool = replace(PAY, approval=make_rule(lambda arguments: arguments.euro > 50))
    small = check_approval(make_request(tool=tool))
    assert isinstance(small, Allow)

    tool = replace(PAY, approval=make_rule(lambda arguments: arguments.euro > 4))
    assert isinstance(check_approval(make_request(tool=tool)), NeedsApproval)


@pytest.mark.parametrize("answer", [None, 1, 0, "yes", {}])
def test_a_condition_that_answers_neither_true_nor_false_is_broken(make_request: MakeRequest, answer: object) -> None:
    tool = replace(PAY, approval=Approval.when(lambda _: answer, approvers={"finance"}))  # type: ignore[arg-type,return-value]  # that is the point

    with pytest.raises(TypeError):
        check_approval(make_request(tool=tool))
