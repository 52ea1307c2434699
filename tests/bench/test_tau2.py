"""The shop and the airline of tau2: each customer may do what is right for their task, and nobody for another."""

import pytest

from tests.bench.proof import run


@pytest.mark.slow
def test_no_gold_call_is_refused_and_one_rule_refuses_every_write_for_another_customer() -> None:
    shop, airline = run("tau2")

    assert shop["own"] == {"calls": 553, "ran": 530, "failed": 23, "writes": 178, "writes_ran": 178, "refused": {}}
    assert airline["own"] == {"calls": 148, "ran": 148, "failed": 0, "writes": 55, "writes_ran": 55, "refused": {}}
    for domain, writes in ((shop, 178), (airline, 55)):
        assert domain["other"]["refused"] == {"owned_by_principal": writes}
        assert domain["other"]["writes_ran"] == 0
        assert not domain["other_changed"]
