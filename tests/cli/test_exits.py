import pytest

from placet.cli.exits import BY_REASON, Exit, exit_of, exit_of_code, exit_of_error
from placet.errors import ConfigurationError, StoreError
from placet.values.call import ToolResult
from placet.values.decision import Reason
from placet.values.outcome import Answer, Refused, Stopped, Waiting
from placet.values.run import StopReason


def test_the_codes_are_a_contract() -> None:
    assert {code.name: code.value for code in Exit} == {
        "OK": 0, "ERROR": 1, "USAGE": 2, "NOT_FOUND": 3, "DENIED": 4, "CONFLICT": 5, "PENDING": 6, "REJECTED": 7,
        "LIMITED": 8, "TIMEOUT": 9, "INVALID": 10, "INTERRUPTED": 130,
    }  # fmt: skip


def test_every_reason_has_a_code_and_none_of_them_is_success() -> None:
    assert set(BY_REASON) == set(Reason)
    assert Exit.OK not in BY_REASON.values()


@pytest.mark.parametrize("reason", StopReason)
def test_no_stop_is_success(reason: StopReason) -> None:
    assert exit_of(Stopped(run_id="r", reason=reason, text="")) not in (Exit.OK, Exit.PENDING)


@pytest.mark.parametrize(
    ("code", "expected"),
    [("ok", 0), ("timeout", 9), ("tool_error", 1), ("limit_reached", 8), ("expired", 7), ("who knows", 1)],
)
def test_a_call_ends_a_command_by_its_code(code: str, expected: int) -> None:
    assert exit_of_code(code) == expected
    assert exit_of(ToolResult("c", "x", code=code)) == expected


def test_an_outcome_ends_a_command() -> None:
    assert exit_of(Answer(run_id="r", text="")) == 0
    assert exit_of(Waiting(run_id="r", approvals=())) == 6
    assert exit_of(Stopped(run_id="r", reason=StopReason.SECONDS, text="")) == 9
    assert exit_of(Refused(reason=Reason.NOT_PERMITTED, message="")) == 4


def test_what_is_configured_wrongly_is_wrong_usage() -> None:
    assert exit_of_error(ConfigurationError("x")) == 2
    assert exit_of_error(StoreError("x")) == 1
