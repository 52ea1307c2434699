import pytest

from placet.errors import ConfigurationError
from placet.gate.gate import Gate
from placet.gate.request import GateRequest
from placet.values.approval import Approval, Confirmation
from placet.values.decision import Allow, Decision, Deny, NeedsApproval, Reason
from tests.gate.conftest import MakeRequest

ASK_FINANCE = NeedsApproval(Approval.always(approvers={"finance"}))
ASK_SELF = NeedsApproval(Confirmation.always())
NO = Deny(Reason.NOT_PERMITTED, "no")


def says(decision: object):  # type: ignore[no-untyped-def]
    def check(_: GateRequest) -> Decision:
        return decision  # type: ignore[return-value]  # some of them are none, on purpose

    return check


def test_a_gate_without_checks_does_not_build() -> None:
    with pytest.raises(ConfigurationError, match="at least one check"):
        Gate(())


def test_one_refusal_outweighs_every_permit_and_every_doubt(make_request: MakeRequest) -> None:
    gate = Gate((says(Allow("a")), says(ASK_FINANCE), says(NO), says(Allow("b"))))

    assert gate.decide(make_request()) == NO


def test_another_persons_yes_is_stricter_than_the_requesters_own(make_request: MakeRequest) -> None:
    for checks in ((ASK_SELF, ASK_FINANCE), (ASK_FINANCE, ASK_SELF)):
        gate = Gate((says(Allow("a")), *map(says, checks)))
        assert gate.decide(make_request()) == ASK_FINANCE


def test_without_a_permit_by_name_nothing_is_permitted(make_request: MakeRequest) -> None:
    for checks in ((Allow(""),), (Allow(""), ASK_FINANCE)):
        decision = Gate(tuple(map(says, checks))).decide(make_request())
        assert isinstance(decision, Deny)


@pytest.mark.parametrize("answer", [None, "yes", 1, {}, True, Allow])
def test_an_answer_that_is_no_decision_is_a_refusal(make_request: MakeRequest, answer: object) -> None:
    decision = Gate((says(Allow("a")), says(answer))).decide(make_request())

    assert isinstance(decision, Deny)
    assert decision.reason is Reason.CHECK_FAILED


def test_a_check_that_breaks_is_a_refusal_and_its_text_is_for_the_audit_log_alone(make_request: MakeRequest) -> None:
    def check(_: GateRequest) -> Decision:
        raise KeyError("password=hunter2")

    decision = Gate((says(Allow("a")), check)).decide(make_request())

    assert isinstance(decision, Deny)
    assert "hunter2" not in decision.message
    assert "hunter2" in (decision.detail or "")


def test_a_check_that_breaks_in_a_way_that_cannot_be_put_into_words_is_a_refusal_too(make_request: MakeRequest) -> None:
    class UnspeakableError(Exception):
        def __repr__(self) -> str:
            raise ValueError("no words")

    def check(_: GateRequest) -> Decision:
        raise UnspeakableError

    decision = Gate((says(Allow("a")), check)).decide(make_request())

    assert isinstance(decision, Deny)
    assert decision.reason is Reason.CHECK_FAILED
    assert "UnspeakableError" in (decision.detail or "")
