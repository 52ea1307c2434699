from pathlib import Path
from typing import Any

import pytest

from placet import Agent, AgentDefinition, ConfigurationError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"store": Path("placet.db")}, "store is a URL, as 'sqlite:///placet.db', .* not PosixPath"),
        ({"directory": {"c17": {"customer"}}}, "find.principal_id.; dict has none"),
        ({"budget": {"turns": 5}}, "budget is a Budget, .* not dict"),
        ({"hooks": print}, "hooks is a list of Hooks, .* not builtin"),
        ({"hooks": [print]}, "hooks is a list of Hooks, .* not list of builtin"),
        ({"audit": print}, "audit is a list of functions"),
        ({"audit": ["audit.log"]}, "audit is a list of functions .* not list of str"),
    ],
)
def test_what_is_of_another_kind_does_not_build(given: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"tools": [], "model": None, "store": "memory:"}

    with pytest.raises(ConfigurationError, match=message):
        Agent(AgentDefinition(name="shop"), **{**options, **given})
