import asyncio
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.runtime.observations import refusal_text, rejection_text
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.decision import Reason
from placet.values.outcome import Answer, Refused, Waiting
from placet.wiring import Agent
from tests.runtime.conftest import BOSS, CLERK, MakeAgent, Office
from tests.runtime.doors import results_of


def silent() -> ScriptedModel:
    """Return a model that chooses calls and words nothing, as the embedded one."""
    return ScriptedModel(writes_prose=False).calls("pay", to="ann", amount=5).says("")


async def ask(agent: Agent) -> Waiting:
    waiting = await agent.ask("pague", principal=CLERK, language="pt-BR")
    assert isinstance(waiting, Waiting)
    return waiting


async def test_who_asked_reads_that_it_was_rejected_and_why(make_agent: MakeAgent) -> None:
    agent = make_agent(silent())
    waiting = await ask(agent)

    answer = await agent.reject(waiting.approvals[0].token, by=BOSS, reason="saldo baixo")

    assert isinstance(answer, Answer)
    assert answer.text == "O pedido foi recusado. saldo baixo"


async def test_a_reason_that_is_kept_back_is_kept_from_who_asked_too(make_agent: MakeAgent) -> None:
    agent = make_agent(silent())
    waiting = await ask(agent)

    answer = await agent.reject(waiting.approvals[0].token, by=BOSS, reason="fraude?", reason_for_model=False)

    assert isinstance(answer, Answer)
    assert answer.text == "O pedido foi recusado."


async def test_who_asked_reads_that_nobody_answered_in_time(make_agent: MakeAgent, clock: FrozenClock) -> None:
    agent = make_agent(silent(), clock=clock)
    waiting = await ask(agent)
    clock.move(16 * 60)

    answer = await agent.resume(waiting.run_id)

    assert isinstance(answer, Answer)
    assert "expirou" in answer.text


async def test_a_model_reads_english_whatever_the_person_speaks(make_agent: MakeAgent, clock: FrozenClock) -> None:
    rejecting = make_agent(silent(), clock=clock)
    rejected = await rejecting.reject((await ask(rejecting)).approvals[0].token, by=BOSS)
    expiring = make_agent(silent(), clock=clock)
    waiting = await ask(expiring)
    clock.move(16 * 60)
    expired = await expiring.resume(waiting.run_id)

    assert isinstance(rejected, Answer)
    assert isinstance(expired, Answer)
    assert results_of(rejected.history)[0].content == rejection_text(None)
    assert results_of(expired.history)[0].content == refusal_text(Reason.EXPIRED)


async def test_a_yes_given_while_another_call_of_the_run_goes_on_is_taken_and_it_is_said_so(
    make_agent: MakeAgent, office: Office
) -> None:
    begun, let_go = asyncio.Event(), asyncio.Event()

    @tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}))
    async def wire(context: Context[Office], amount: int) -> str:
        """Wire money."""
        begun.set()
        await let_go.wait()
        context.deps.done.append(("wire", amount))
        return "wired"

    agent = make_agent(
        ScriptedModel().calls_all([("wire", {"amount": 1}), ("wire", {"amount": 2})]).says("ok"), tools=[wire]
    )
    first, second = (await ask(agent)).approvals
    going_on = asyncio.create_task(agent.approve(first.token, by=BOSS))
    await begun.wait()

    told = await agent.approve(second.token, by=BOSS)
    let_go.set()

    assert isinstance(told, Refused)
    assert (told.reason, told.run_id) == (Reason.EFFECT_RUNNING, (await going_on).run_id)
    assert told.message.startswith("the yes was taken")
    assert isinstance(await going_on, Answer)
    assert office.done == [("wire", 1), ("wire", 2)]


async def test_a_no_given_to_an_agent_whose_run_it_is_not_is_taken_and_it_is_said_so(make_agent: MakeAgent) -> None:
    waiting = await ask(make_agent(silent()))
    other = make_agent(ScriptedModel(), definition=AgentDefinition(name="another"))

    told = await other.reject(waiting.approvals[0].token, by=BOSS)

    assert isinstance(told, Refused)
    assert told.message.startswith("the no was taken; run ")
    assert isinstance(await make_agent(silent().says("ok")).resume(waiting.run_id), Answer)


@pytest.mark.parametrize("run_id", [{}, None, 5, b"run_1"])
async def test_what_is_no_run_is_refused_in_words(make_agent: MakeAgent, run_id: Any) -> None:
    with pytest.raises(ConfigurationError, match="is no run; give its id"):
        await make_agent().resume(run_id)
