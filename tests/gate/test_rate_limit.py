from datetime import timedelta
from decimal import Decimal

import pytest

from placet.gate.rate_limit import check_rate_limit
from placet.values.decision import Allow, Deny, Reason
from placet.values.effect import Take
from tests.gate.conftest import MakeRequest

THREE = Take(key="look|s1", at_most=Decimal(3), per=timedelta(minutes=1), rule="3 calls in 60 s of look")


@pytest.mark.parametrize(("used", "allowed"), [(0, True), (2, True), (3, False), (4, False)])
def test_a_full_window_refuses(make_request: MakeRequest, used: int, *, allowed: bool) -> None:
    decision = check_rate_limit(make_request(takes=(THREE,), used=(Decimal(used),)))

    assert isinstance(decision, Allow) is allowed
    if isinstance(decision, Deny):
        assert decision.reason is Reason.LIMIT_REACHED
        assert "3 calls in 60 s" in decision.message


def test_one_full_window_of_two_refuses(make_request: MakeRequest) -> None:
    decision = check_rate_limit(make_request(takes=(THREE, THREE), used=(Decimal(0), Decimal(3))))

    assert isinstance(decision, Deny)
