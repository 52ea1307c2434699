"""What was approved is what runs, or nothing: stored state is edited, edits reach too far, conditions flip."""

from dataclasses import replace
from typing import Any

from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.tools.context import Context
from placet.tools.parameters import Loaded
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.outcome import Answer, Refused, Waiting
from tests.runtime.conftest import BOSS, CLERK, MakeAgent, Office, load_account, owns_account
from tests.runtime.doors import results_of


class Altered:
    """A store in which somebody has edited what is stored."""

    def __init__(self, store: Store, *, runs: bool = False, questions: bool = False) -> None:
        self._store, self._runs, self._questions = store, runs, questions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def load_run(self, run_id: str) -> Any:
        stored = await self._store.load_run(run_id)
        if stored is None or not self._runs:
            return stored
        assert "4711" in stored.snapshot
        return replace(stored, snapshot=stored.snapshot.replace("4711", "9999"))

    async def find_approval(self, **by: Any) -> Any:
        return self._alter(await self._store.find_approval(**by))

    async def list_approvals(self, **by: Any) -> Any:
        return [self._alter(one) for one in await self._store.list_approvals(**by)]

    async def decide_approval(self, *given: Any) -> Any:
        return self._alter(await self._store.decide_approval(*given))

    def _alter(self, request: Any) -> Any:
        if not self._questions or not hasattr(request, "arguments"):
            return request
        return replace(request, arguments={**request.arguments, "amount": 9999})


async def test_a_call_that_was_altered_in_the_stored_run_does_not_run_altered(
    make_agent: MakeAgent, office: Office, store: Store
) -> None:
    waiting = await make_agent(ScriptedModel().calls("pay", to="x", amount=4711)).ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    altered: Any = Altered(store, runs=True)

    await make_agent(ScriptedModel().says("ok"), store=altered).approve(waiting.approvals[0].token, by=BOSS)

    assert office.done in ([], [("pay", "x", 4711)])


async def test_a_call_that_was_altered_in_the_stored_question_does_not_run(
    make_agent: MakeAgent, office: Office, store: Store
) -> None:
    waiting = await make_agent(ScriptedModel().calls("pay", to="x", amount=4711)).ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    altered: Any = Altered(store, questions=True)

    await make_agent(ScriptedModel().says("ok"), store=altered).approve(waiting.approvals[0].token, by=BOSS)

    assert not office.done


async def test_an_edit_into_what_the_requester_may_not_touch_runs_nothing(make_agent: MakeAgent) -> None:
    @tool(
        effect="read",
        roles={"support"},
        resource=load_account,
        authorise=owns_account,
        approval=Approval.always(approvers={"finance"}),
    )
    async def read_account(account: str, loaded: Loaded[dict[str, Any]]) -> str:
        """Read an account."""
        return f"{account} holds {loaded['balance']}"

    agent = make_agent(ScriptedModel().calls("read_account", account="a").says("ok"), tools=[read_account])
    waiting = await agent.ask("Read", principal=CLERK)
    assert isinstance(waiting, Waiting)

    outcome = await agent.approve(waiting.approvals[0].token, by=BOSS, arguments={"account": "b"})

    assert "50" not in repr(outcome)
    assert isinstance(outcome, Refused) or results_of(outcome.history)[-1].code == "not_found"


async def test_a_rejection_holds_although_nobody_would_be_asked_any_more(make_agent: MakeAgent, office: Office) -> None:
    asked = [True]

    @tool(effect="write", roles={"support"}, approval=Approval.when(lambda _: asked[0], approvers={"finance"}))
    async def send(context: Context[Office], to: str) -> str:
        """Send it."""
        context.deps.done.append(("send", to))
        return "sent"

    model = ScriptedModel().calls("send", to="x").calls("send", to="x").says("ok")
    agent = make_agent(model, tools=[send])
    waiting = await agent.ask("Send", principal=CLERK)
    assert isinstance(waiting, Waiting)
    asked[0] = False

    outcome = await agent.reject(waiting.approvals[0].token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert [result.code for result in results_of(outcome.history)] == ["rejected", "rejected"]
    assert not office.done
