"""No case of the kinds whose input is a run is left out of the tests."""

from types import ModuleType
from typing import Final

from tests.models import test_public_failures as of_clients
from tests.runtime import test_public_failures_approval as of_approvals
from tests.runtime import test_public_failures_injection as of_injection
from tests.runtime import test_public_failures_limits as of_limits
from tests.runtime import test_public_failures_secrets as of_secrets
from tests.runtime import test_public_failures_time as of_time
from tests.runtime.public_failures import IDS, ids_in

MODULES: Final = (of_approvals, of_injection, of_limits, of_secrets, of_time, of_clients)

WAITING: Final = {
    "C131": "a tools/call of the Model Context Protocol, which placet does not serve yet",
    "C136": "roles at a tools/list and a tools/call of the protocol; the law itself is tried through every door",
    "C137": "a server of the protocol that changes its tools; placet is no client of one yet",
}


def functions_of(module: ModuleType) -> list[object]:
    return [test for name, test in vars(module).items() if name.startswith("test_")]


def test_every_case_is_tried_or_says_for_what_it_waits() -> None:
    tried = {case_id for module in MODULES for case_id in ids_in(functions_of(module))}

    assert IDS - tried - WAITING.keys() == set()
    assert WAITING.keys() <= IDS


def test_there_are_cases() -> None:
    assert len(IDS) == 51
