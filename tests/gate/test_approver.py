from dataclasses import replace

import pytest

from placet.gate.approver import check_approver
from placet.values.approval import Yes
from placet.values.decision import Allow, Deny
from placet.values.principal import Principal
from tests.gate.conftest import YES

FINANCE = Principal("f1", {"finance"})
REQUESTER = Principal("s1", {"support", "finance"})
STRANGER = Principal("x9", {"warehouse"})
OWN = replace(YES, yes=Yes.CONFIRM, approvers=frozenset())


def test_an_approver_approves() -> None:
    assert isinstance(check_approver(YES, FINANCE, Yes.APPROVE), Allow)


@pytest.mark.parametrize("by", [REQUESTER, STRANGER], ids=["the requester, whatever their roles", "a stranger"])
def test_nobody_else_approves(by: Principal) -> None:
    assert isinstance(check_approver(YES, by, Yes.APPROVE), Deny)


def test_a_confirmation_is_no_approval_and_an_approval_no_confirmation() -> None:
    assert isinstance(check_approver(YES, FINANCE, Yes.CONFIRM), Deny)
    assert isinstance(check_approver(OWN, REQUESTER, Yes.APPROVE), Deny)


def test_only_the_requester_confirms() -> None:
    assert isinstance(check_approver(OWN, REQUESTER, Yes.CONFIRM), Allow)
    assert isinstance(check_approver(OWN, FINANCE, Yes.CONFIRM), Deny)


def test_the_requester_may_take_back_what_they_asked_for() -> None:
    assert isinstance(check_approver(YES, REQUESTER, Yes.APPROVE, rejecting=True), Allow)
    assert isinstance(check_approver(YES, STRANGER, Yes.APPROVE, rejecting=True), Deny)
