from dataclasses import replace

import pytest

from placet.gate.permission import check_permission
from placet.values.decision import Allow, Deny
from placet.values.principal import EVERYONE, Principal
from tests.gate.conftest import LOOK, MakeRequest


def test_a_role_that_the_tool_names_permits_by_its_name(make_request: MakeRequest) -> None:
    assert check_permission(make_request()) == Allow("role support")


@pytest.mark.parametrize("roles", [frozenset[str](), frozenset({"Support"}), frozenset({"supporters"})])
def test_roles_match_exactly(make_request: MakeRequest, roles: frozenset[str]) -> None:
    assert isinstance(check_permission(make_request(principal=Principal("s1", roles))), Deny)


@pytest.mark.parametrize("roles", [None, frozenset[str]()])
def test_a_tool_that_names_no_roles_is_open_to_nobody(make_request: MakeRequest, roles: frozenset[str] | None) -> None:
    assert isinstance(check_permission(make_request(tool=replace(LOOK, roles=roles))), Deny)


def test_a_tool_for_everyone_is_open_without_a_role(make_request: MakeRequest) -> None:
    request = make_request(tool=replace(LOOK, roles=frozenset({EVERYONE})), principal=Principal("s1"))

    assert check_permission(request) == Allow("everyone")
