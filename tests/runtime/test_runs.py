import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from placet import Agent
from placet.agent.definition import AgentDefinition
from placet.errors import ConfigurationError, ModelUnavailableError, StoreError
from placet.models.scripted import ScriptedModel
from placet.ports import ModelAnswer, ModelRequest
from placet.runtime.sinks import ListSink
from placet.values.audit import AuditKind
from placet.values.call import ToolCall, ToolResult
from placet.values.event import CallFinished, CallStarted, RunEnded, TextDelta
from placet.values.limits import Budget
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Refused, Stopped, Waiting
from placet.values.principal import Principal
from placet.values.run import RunStatus, StopReason
from tests.runtime.conftest import CLERK, MakeAgent, Office


def last_results(outcome: Answer | Stopped) -> list[tuple[str, str]]:
    message = next(message for message in reversed(outcome.history) if isinstance(message, ToolMessage))
    return [(result.code, result.content) for result in message.results]


async def test_a_question_is_answered_with_the_help_of_a_tool(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(ScriptedModel().calls("look", name="sky").says("It is blue."))

    outcome = await agent.ask("What colour is the sky?", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert outcome.text == "It is blue."
    assert office.done == [("look", "sky")]
    assert last_results(outcome) == [("ok", "sky is blue")]


async def test_what_happened_stands_in_the_audit_log_and_its_chain_holds(
    make_agent: MakeAgent, heard: ListSink
) -> None:
    agent = make_agent(ScriptedModel().calls("look", name="sky").says("It is blue."))

    await agent.ask("What colour is the sky?", principal=CLERK)

    told = [(entry.kind, entry.tool, entry.decision, entry.rule) for entry in heard.entries]
    assert told == [
        (AuditKind.QUESTION, "", "", ""),
        (AuditKind.CALL, "look", "allow", "role support"),
        (AuditKind.ANSWER, "", "done", ""),
    ]
    stored = [record.entry async for record in agent.store.read()]
    assert stored[1:] == heard.entries
    assert (await agent.store.verify()).fault is None


async def test_a_conversation_goes_on_from_its_history(make_agent: MakeAgent) -> None:
    model = ScriptedModel().says("Hello.").says("As I said: hello.")
    agent = make_agent(model)

    first = await agent.ask("Hi", principal=CLERK)
    assert isinstance(first, Answer)
    await agent.ask("What?", principal=CLERK, history=first.history)

    assert len(model.requests[1].transcript) == 3


async def test_events_tell_a_person_what_goes_on(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("look", name="céu").says("É azul."))

    events = [event async for event in agent.stream("De que cor é o céu?", principal=CLERK, language="pt-BR")]

    started = next(event for event in events if isinstance(event, CallStarted))
    assert (started.sentence, started.rule) == ("olhando céu…", "role support")
    assert any(isinstance(event, CallFinished) and event.code == "ok" for event in events)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "É azul."
    assert isinstance(events[-1], RunEnded)


async def test_an_unknown_principal_is_refused_before_anything_happens(make_agent: MakeAgent) -> None:
    model = ScriptedModel().says("never")
    outcome = await make_agent(model).ask("Hi", principal="nobody-said-who-this-is")

    assert isinstance(outcome, Refused)
    assert not model.requests


async def test_the_model_sees_only_what_the_principal_may_call(make_agent: MakeAgent) -> None:
    model = ScriptedModel().says("ok")
    await make_agent(model).ask("Hi", principal=CLERK)

    names = {spec.name for spec in model.requests[0].tools.specs}
    assert "look" in names
    assert "payroll" not in names


async def test_a_run_ends_politely_in_the_persons_language_when_its_turns_run_out(make_agent: MakeAgent) -> None:
    agent = make_agent(
        ScriptedModel(cycle=True).calls("look", name="sky"),
        definition=AgentDefinition(name="office", budget=Budget(turns=3)),
    )

    outcome = await agent.ask("De que cor é o céu?", principal=CLERK, language="pt-BR")

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.TURNS
    assert "Desculpe" in outcome.text


async def test_default_budgets_end_a_model_that_never_stops(make_agent: MakeAgent, office: Office) -> None:
    outcome = await make_agent(ScriptedModel(cycle=True).calls("look", name="sky")).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert len(office.done) == Budget().turns


async def test_a_model_that_cannot_be_asked_stops_the_run_and_its_text_stays_inside(
    make_agent: MakeAgent, heard: ListSink
) -> None:
    agent = make_agent(
        ScriptedModel().fails(ModelUnavailableError("api_key=sk-secret-1234567890abcdef is out of quota"))
    )

    outcome = await agent.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.MODEL
    assert "quota" not in outcome.text
    assert any("out of quota" in entry.body for entry in heard.entries)
    assert not any("sk-secret-1234567890abcdef" in entry.body for entry in heard.entries)


async def test_a_stopped_run_leaves_a_history_that_can_be_asked_on(make_agent: MakeAgent) -> None:
    model = ScriptedModel().calls("break_down", how="fatal").says("Back again.")
    agent = make_agent(model)

    first = await agent.ask("Hi", principal=CLERK)
    assert isinstance(first, Stopped)
    second = await agent.ask("And now?", principal=CLERK, history=first.history)

    assert isinstance(second, Answer)


async def test_one_agent_serves_two_hundred_runs_without_mixing_them_up(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel(per_run=True).calls("balance_of", account="a").says("done"))
    owner, stranger = CLERK, Principal("s2", {"support"})

    outcomes = await asyncio.gather(
        *[agent.ask("Mine?", principal=(owner, stranger)[number % 2]) for number in range(200)]
    )

    for number, outcome in enumerate(outcomes):
        assert isinstance(outcome, Answer)
        ((code, content),) = last_results(outcome)
        assert (code, content) == (("ok", "100") if number % 2 == 0 else ("not_found", content))


def test_a_program_without_an_event_loop_can_ask_too(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("look", name="sky").says("It is blue."))

    outcome = agent.ask_sync("What colour?", principal=CLERK)
    agent.close_sync()

    assert isinstance(outcome, Answer)


async def test_where_an_event_loop_runs_the_verb_itself_is_awaited(make_agent: MakeAgent) -> None:
    agent = make_agent()

    with pytest.raises(ConfigurationError, match=r"await the verb itself"):
        agent.run_sync(agent.purge("1 day"))


@pytest.mark.parametrize(
    "verb",
    [
        pytest.param(lambda agent: agent.ask("Hi", principal=CLERK), id="ask"),
        pytest.param(lambda agent: agent.call("look", {"name": "sky"}, principal=CLERK), id="call"),
        pytest.param(lambda agent: agent.explain("look", {"name": "sky"}, principal=CLERK), id="explain"),
        pytest.param(lambda agent: agent.approve("apr_1", by=CLERK), id="approve"),
        pytest.param(lambda agent: agent.confirm("apr_1", by=CLERK), id="confirm"),
        pytest.param(lambda agent: agent.reject("apr_1", by=CLERK), id="reject"),
        pytest.param(lambda agent: agent.approvals(), id="approvals"),
        pytest.param(lambda agent: agent.resume("run_1"), id="resume"),
        pytest.param(lambda agent: agent.report("run_1"), id="report"),
        pytest.param(lambda agent: agent.purge("1 day"), id="purge"),
    ],
)
async def test_the_first_verb_opens_the_store(
    make_agent: MakeAgent, tmp_path: Path, verb: Callable[[Agent], Awaitable[object]]
) -> None:
    agent = make_agent(store=f"sqlite:///{tmp_path}/placet.db")

    await verb(agent)
    await agent.close()


async def test_leaving_a_stream_cancels_the_run_and_closes_it(make_agent: MakeAgent, heard: ListSink) -> None:
    agent = make_agent(ScriptedModel(delay=timedelta(seconds=5)).says("too late"))

    async def leave_soon() -> None:
        async for _ in agent.stream("Hi", principal=CLERK):
            pass

    with_timeout = asyncio.create_task(leave_soon())
    await asyncio.sleep(0.05)
    with_timeout.cancel()
    await asyncio.wait({with_timeout})

    assert heard.entries[-1].decision == "cancelled"
    (run,) = await agent.store.list_runs()
    assert run.status == "stopped"


async def test_a_model_client_that_breaks_leaves_no_run_half_open(make_agent: MakeAgent, heard: ListSink) -> None:
    def break_down(_: ModelRequest) -> ModelAnswer:
        raise ZeroDivisionError("a fault in somebody's own client")

    agent = make_agent(ScriptedModel().does(break_down))

    with pytest.raises(ZeroDivisionError):
        await agent.ask("Hi", principal=CLERK)

    (run,) = await agent.store.list_runs()
    assert run.status is RunStatus.STOPPED
    assert [entry.decision for entry in heard.entries if entry.kind is AuditKind.ANSWER] == ["model"]


async def test_a_role_that_is_lost_between_two_turns_takes_its_tools_along(make_agent: MakeAgent) -> None:
    def lose_it(_: ModelRequest) -> ModelAnswer:
        agent._stated.state(Principal(CLERK.id, {"garden"}))
        return ModelAnswer(calls=(ToolCall("c1", "look", '{"name": "sky"}'),))

    model = ScriptedModel().does(lose_it).says("ok")
    agent = make_agent(model)
    outcome = await agent.ask("Hi", principal=CLERK)

    offered = [{spec.name for spec in request.tools.specs} for request in model.requests]
    assert isinstance(outcome, Answer)
    assert ["look" in names for names in offered] == [True, False]
    assert last_results(outcome)[0][0] == "unknown_tool"


async def test_who_is_not_known_any_more_is_asked_for_no_more(make_agent: MakeAgent) -> None:
    class Leaving:
        known = True

        async def find(self, principal_id: str) -> Principal | None:
            return Principal(principal_id, {"support"}) if self.known else None

    def leave(_: ModelRequest) -> ModelAnswer:
        directory.known = False
        return ModelAnswer(calls=(ToolCall("c1", "look", '{"name": "sky"}'),))

    directory = Leaving()
    model = ScriptedModel().does(leave).says("never")
    outcome = await make_agent(model, directory=directory).ask("Hi", principal=CLERK.id)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.REFUSAL
    assert len(model.requests) == 1


async def test_a_directory_that_cannot_be_read_refuses_a_call_and_the_record_says_so(
    make_agent: MakeAgent, heard: ListSink
) -> None:
    class Failing:
        asked = 0

        async def find(self, principal_id: str) -> Principal:
            self.asked += 1
            if self.asked > 1:
                raise StoreError("the directory is down")
            return Principal(principal_id, {"support"})

    for name in ("look", "nothing"):
        result = await make_agent(directory=Failing()).call(name, {}, principal=CLERK)

        assert isinstance(result, ToolResult)
        assert (result.code, "down" in result.content) == ("check_failed", False)
        assert (heard.entries[-1].rule, "down" in heard.entries[-1].body) == ("directory", True)


async def test_a_model_has_a_timeout_of_its_own(make_agent: MakeAgent) -> None:
    async def hang(_: ModelRequest) -> ModelAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    impatient = AgentDefinition(name="office", model_timeout=timedelta(seconds=0.05))
    async with asyncio.timeout(2):
        outcome = await make_agent(ScriptedModel().does(hang), definition=impatient).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.MODEL


async def test_a_run_of_one_agent_does_not_go_on_with_another(make_agent: MakeAgent, office: Office) -> None:
    waiting = await make_agent(ScriptedModel().calls("pay", to="x", amount=1)).ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)

    other = make_agent(ScriptedModel().says("never"), definition=AgentDefinition(name="garden"))
    refused = await other.resume(waiting.run_id)

    assert isinstance(refused, Refused)
    assert refused.reason == "not_permitted"
