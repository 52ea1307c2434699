from dataclasses import replace

import pytest

from placet.gate.authorisation import check_authorisation
from placet.values.decision import Allow, Deny, Reason
from placet.values.principal import Principal
from tests.gate.conftest import LOOK, MakeRequest


def is_mine(_principal: Principal, order: object, _arguments: object) -> bool:
    return order == "mine"


def test_what_is_not_found_and_what_is_not_allowed_look_the_same(make_request: MakeRequest) -> None:
    tool = replace(LOOK, loads=True, authorise=is_mine)

    missing = check_authorisation(make_request(tool=tool, resource=None))
    foreign = check_authorisation(make_request(tool=tool, resource="yours"))

    assert isinstance(missing, Deny)
    assert isinstance(foreign, Deny)
    assert (missing.reason, missing.message, missing.hint) == (foreign.reason, foreign.message, foreign.hint)
    assert missing.reason is Reason.NOT_FOUND


def test_the_owner_is_let_through(make_request: MakeRequest) -> None:
    tool = replace(LOOK, loads=True, authorise=is_mine)

    assert isinstance(check_authorisation(make_request(tool=tool, resource="mine")), Allow)


@pytest.mark.parametrize("answer", [False, None, 1, "yes", {"ok": True}])
def test_a_rule_that_answers_anything_but_true_refuses(make_request: MakeRequest, answer: object) -> None:
    tool = replace(LOOK, authorise=lambda *_: answer)  # type: ignore[arg-type]  # that is the point

    assert isinstance(check_authorisation(make_request(tool=tool)), Deny)


def test_what_is_not_found_is_refused_although_no_rule_looks_at_it(make_request: MakeRequest) -> None:
    tool = replace(LOOK, loads=True)

    missing = check_authorisation(make_request(tool=tool, resource=None))

    assert isinstance(missing, Deny)
    assert missing.reason is Reason.NOT_FOUND
    assert isinstance(check_authorisation(make_request(tool=tool, resource="something")), Allow)
