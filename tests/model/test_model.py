"""Random deeds, in any order, by anybody: the gate does what the promise says."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import GateMachine, SqliteGateMachine

QUICK = settings(
    max_examples=5,
    stateful_step_count=30,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
LONG = settings(QUICK, max_examples=250, stateful_step_count=100, derandomize=False, print_blob=True)

MACHINES = pytest.mark.parametrize("machine", [GateMachine, SqliteGateMachine])


@MACHINES
def test_the_gate_keeps_its_promise_whatever_is_done_to_it(machine: type[GateMachine]) -> None:
    run_state_machine_as_test(machine, settings=QUICK)


@pytest.mark.slow
@MACHINES
def test_ten_thousand_deeds_find_no_other_end_than_the_promise(machine: type[GateMachine]) -> None:
    before = machine.steps

    run_state_machine_as_test(machine, settings=LONG)

    assert machine.steps - before >= 10_000
