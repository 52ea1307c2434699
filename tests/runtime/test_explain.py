from pathlib import Path

import pytest

from placet.errors import PolicyError
from placet.values.decision import Allow, Deny, NeedsApproval
from tests.runtime.conftest import CLERK, MakeAgent, Office

POLICY = """
roles = ["support", "finance"]
[[rule]]
id = "clerks look and pay"
permit = ["look", "pay"]
roles = ["support"]
[[rule]]
id = "no large payments"
forbid = ["pay"]
roles = ["*"]
when = { amount = { at_least = 100 } }
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return path


async def test_it_says_what_each_check_says_and_nothing_happens(
    make_agent: MakeAgent, office: Office, policy: Path
) -> None:
    agent = make_agent(policy=policy)

    allowed = await agent.explain("look", {"name": "sky"}, principal=CLERK)
    asked = await agent.explain("pay", {"to": "x", "amount": 99}, principal=CLERK)
    forbidden = await agent.explain("pay", {"to": "x", "amount": 100}, principal=CLERK)

    assert allowed.decision == Allow("rule clerks look and pay, role support")
    assert isinstance(asked.decision, NeedsApproval)
    assert isinstance(forbidden.decision, Deny)
    assert forbidden.decision.rule == "forbidden by no large payments"
    assert dict(forbidden.answers)["permission"] == Allow("role support")
    assert not office.done
    assert [record async for record in agent.store.read()] == []


async def test_a_tool_that_the_policy_does_not_name_is_hidden_and_refused(make_agent: MakeAgent, policy: Path) -> None:
    agent = make_agent(policy=policy)

    result = await agent.call("note", {"text": "x"}, principal=CLERK, key="1")

    assert result.code == "unknown_tool"  # type: ignore[union-attr]  # a refused call has a result
    explained = await agent.explain("note", {"text": "x"}, principal=CLERK)
    assert isinstance(explained.decision, Deny)
    assert explained.decision.rule == "hidden by role"


def test_a_policy_that_names_what_does_not_exist_does_not_build(make_agent: MakeAgent, policy: Path) -> None:
    policy.write_text(POLICY.replace('"look", "pay"', '"look", "pya"'))

    with pytest.raises(PolicyError, match="pya"):
        make_agent(policy=policy)
