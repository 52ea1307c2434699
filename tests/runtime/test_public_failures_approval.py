"""What has failed elsewhere, in public, where a person has to say yes: each test names its cases."""

import asyncio
import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.cli.layout import arguments
from placet.errors import ConfigurationError, PlacetError
from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.approval import Approval, ApprovalDecision, ApprovalStatus
from placet.values.audit import AuditKind
from placet.values.outcome import Answer, Refused, Waiting
from placet.values.principal import Principal
from placet.wiring import Agent
from placet.words.escape import escape_for_person
from tests.runtime.conftest import BOSS, CLERK, SECRET, TOOLS, MakeAgent, Office
from tests.runtime.doors import DOORS, ask_inner
from tests.runtime.public_failures import GATED, playing, results, waiting_for

PAY_A = ("pay", "a", 10)
TRUTHY: list[Any] = ["yes", {}, "approved", "true", 1, True, None, [], object()]


@pytest.mark.parametrize("said", TRUTHY)
async def test_nothing_but_a_person_with_the_token_is_a_yes(make_agent: MakeAgent, office: Office, said: Any) -> None:
    """C094, C096, C097: whatever stands where the token stands."""
    agent = make_agent(playing("C094").says("ok"))
    waiting_for(await agent.ask("Pay", principal=CLERK))

    with contextlib.suppress(PlacetError):
        assert isinstance(await agent.approve(said, by=BOSS), Refused)
    assert not office.done


@pytest.mark.parametrize("by", [*(one for one in TRUTHY if not isinstance(one, str)), "yes", ""])
async def test_nothing_but_a_known_person_says_yes(make_agent: MakeAgent, office: Office, by: Any) -> None:
    agent = make_agent(playing("C094").says("ok"))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    with contextlib.suppress(PlacetError):
        assert isinstance(await agent.approve(pending.token, by=by), Refused)
    assert not office.done


@pytest.mark.parametrize("edited", [one for one in TRUTHY if one is not None])
async def test_what_is_no_set_of_arguments_is_no_edit(make_agent: MakeAgent, office: Office, edited: Any) -> None:
    agent = make_agent(playing("C094").says("ok"))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    with contextlib.suppress(PlacetError):
        assert isinstance(await agent.approve(pending.token, by=BOSS, arguments=edited), Refused)
    assert not office.done


@pytest.mark.parametrize("yes", [one for one in TRUTHY if one is not True])
def test_a_decision_that_is_merely_truthy_is_none(clock: FrozenClock, yes: Any) -> None:
    """C094, C096, C097: at the store's door, too."""
    with pytest.raises(ConfigurationError, match="no decision"):
        ApprovalDecision(approval_id="apr_1", yes=yes, by=BOSS.id, at=clock.now())


async def test_a_no_is_a_no_whatever_the_body_thinks_of_it(
    make_agent: MakeAgent, office: Office, heard: ListSink
) -> None:
    """C098."""
    agent = make_agent(playing("C098").says("As you wish."))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    outcome = await agent.reject(pending.token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert [(result.call_id, result.code) for result in results(outcome)] == [("c1", "rejected")]
    assert "reject" in results(outcome)[0].content
    assert not office.done
    (said,) = [entry for entry in heard.entries if entry.decision == "rejected" and entry.kind is AuditKind.APPROVAL]
    assert said.principal_id == BOSS.id


async def test_of_two_workers_with_one_paused_run_one_goes_on(
    make_agent: MakeAgent, office: Office, heard: ListSink
) -> None:
    """C101, C110: both have loaded the same snapshot, and both have a yes."""
    (pending,) = waiting_for(await make_agent(playing("C101")).ask("Pay", principal=CLERK))
    workers = [make_agent(ScriptedModel().says("ok")) for _ in range(2)]
    snapshots = [await worker.store.load_run(pending_run(await worker.approvals())) for worker in workers]
    assert snapshots[0] == snapshots[1]

    outcomes = await asyncio.gather(*(worker.approve(pending.token, by=BOSS) for worker in workers))

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Answer", "Refused"]
    (refused,) = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert refused.reason == "approval_used"
    assert office.done == [PAY_A]
    attempts = [entry.decision for entry in heard.entries if entry.kind is AuditKind.APPROVAL]
    assert sorted(attempts[1:]) == ["approval_used", "approved"]


def pending_run(requests: Any) -> str:
    (request,) = requests
    return str(request.run_id)


async def test_a_double_click_is_one_click(make_agent: MakeAgent, office: Office) -> None:
    """C102, C110: one after the other, and whatever is resumed in between."""
    agent = make_agent(playing("C102").says("ok"))
    waiting = await agent.ask("Pay", principal=CLERK)
    (pending,) = waiting_for(waiting)
    assert isinstance(waiting, Waiting)
    assert isinstance(await agent.approve(pending.token, by=BOSS), Answer)

    for again in (pending.token, pending.id):
        assert isinstance(await agent.approve(again, by=BOSS), Refused)
        assert isinstance(await agent.reject(again, by=BOSS), Refused)
    await agent.resume(waiting.run_id)

    assert office.done == [PAY_A]


async def test_each_of_two_is_decided_for_itself(make_agent: MakeAgent, office: Office) -> None:
    """C103."""
    model = playing("C103").says("ok")
    agent = make_agent(model)
    first, second = waiting_for(await agent.ask("Pay", principal=CLERK))

    (left,) = waiting_for(await agent.approve(first.token, by=BOSS))
    assert left.id == second.id
    assert len(model.requests) == 1
    outcome = await agent.approve(second.token, by=BOSS)

    assert office.done == [PAY_A, ("pay", "b", 20)]
    assert [(one.call_id, one.content) for one in results(outcome)] == [("c1", "paid 10 to a"), ("c2", "paid 20 to b")]


async def test_results_stand_in_call_order_whichever_is_decided_first(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(playing("C103").says("ok"))
    first, second = waiting_for(await agent.ask("Pay", principal=CLERK))

    await agent.approve(second.token, by=BOSS)
    outcome = await agent.approve(first.token, by=BOSS)

    assert sorted(office.done) == [PAY_A, ("pay", "b", 20)]
    assert [result.call_id for result in results(outcome)] == ["c1", "c2"]


async def test_a_yes_and_a_no_side_by_side(make_agent: MakeAgent, office: Office) -> None:
    """C104."""
    agent = make_agent(playing("C104").says("ok"))
    first, second = waiting_for(await agent.ask("Pay", principal=CLERK))

    await agent.approve(first.token, by=BOSS)
    outcome = await agent.reject(second.token, by=BOSS, reason="use staging")

    assert office.done == [PAY_A]
    assert "use staging" in results(outcome)[1].content


async def test_what_needs_no_yes_runs_once_in_all(make_agent: MakeAgent, office: Office) -> None:
    """C105."""
    model = playing("C105").says("ok")
    agent = make_agent(model, tools=GATED)
    (pending,) = waiting_for(await agent.ask("Delete row 1", principal=CLERK))

    outcome = await agent.approve(pending.token, by=BOSS)

    assert office.done == [("list_rows",), ("delete_row", 1)]
    assert [result.call_id for result in results(outcome)] == ["c1", "c2"]
    assert len(model.requests) == 2


async def test_every_call_has_a_request_of_its_own(make_agent: MakeAgent) -> None:
    """C106."""
    pending = waiting_for(await make_agent(playing("C106"), tools=GATED).ask("Delete them", principal=CLERK))

    assert len(pending) == len({one.id for one in pending}) == len({one.token for one in pending}) == 3


async def test_calls_that_are_alike_to_the_letter_are_asked_each(make_agent: MakeAgent, office: Office) -> None:
    model = ScriptedModel().calls_all([("pay", {"to": "a", "amount": 10})] * 2).says("ok")
    agent = make_agent(model)
    first, second = waiting_for(await agent.ask("Pay", principal=CLERK))
    assert first.id != second.id

    await agent.approve(first.token, by=BOSS)

    assert office.done == [PAY_A]


async def test_every_answer_reaches_its_own_call(make_agent: MakeAgent) -> None:
    """C107: a hundred times, in any order, each answer with what the other one waits for."""
    order = random.Random(7)  # noqa: S311 - an order, no secret
    for _ in range(100):
        agent = make_agent(playing("C107").says("ok"), tools=GATED)
        pending = waiting_for(await agent.ask("Ask them", principal=CLERK))
        answers = [*zip(pending, "ab", strict=True)]
        order.shuffle(answers)
        outcomes = [await agent.approve(one.token, by=BOSS, arguments={"q": answer}) for one, answer in answers]

        assert [result.content for result in results(outcomes[-1])] == ["they say a", "they say b"]


def another(path: Path, model: ScriptedModel, deps: Any) -> Agent:
    """An agent over a file, as another process would make it."""
    tools = [look for look in TOOLS if look.name != "pay"] + [pay_plainly]
    definition = AgentDefinition(name="office")
    return Agent(definition, tools=tools, model=model, store=f"sqlite:///{path}", deps=deps, secret=SECRET)


@tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}), name="pay")
async def pay_plainly(to: str, amount: int, context: Context[Any]) -> str:
    """Pay somebody."""
    context.deps.setdefault("done", []).append((to, amount))
    return "paid"


async def test_a_run_goes_on_from_the_file_with_what_is_given_there(tmp_path: Path) -> None:
    """C108."""
    async with another(tmp_path / "placet.db", playing("C108"), {}) as agent:
        (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))
    deps: dict[str, Any] = {"x": 1}
    async with another(tmp_path / "placet.db", ScriptedModel().says("ok"), deps) as agent:
        outcome = await agent.approve(pending.token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert deps == {"x": 1, "done": [("a", 10)]}


async def test_a_yes_for_an_id_is_none_for_the_next_call_of_that_id(make_agent: MakeAgent, office: Office) -> None:
    """C112."""
    model = playing("C112").calls_raw("pay", '{"to": "a", "amount": 9000}', id="c1").says("ok")
    agent = make_agent(model)
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    (again,) = waiting_for(await agent.approve(pending.token, by=BOSS))

    assert office.done == [PAY_A]
    assert again.id != pending.id
    assert again.arguments["amount"] == 9000


async def test_a_yes_is_for_one_call_and_lasts_no_session(make_agent: MakeAgent, office: Office) -> None:
    """C113: neither for other arguments nor for the same ones again."""
    model = playing("C113").calls("delete_row", id=2).calls("delete_row", id=1).says("ok")
    agent = make_agent(model, tools=GATED)
    (first,) = waiting_for(await agent.ask("Delete row 1", principal=CLERK))

    (second,) = waiting_for(await agent.approve(first.token, by=BOSS))
    assert second.arguments == {"id": 2}
    assert office.done == [("delete_row", 1)]
    (third,) = waiting_for(await agent.reject(second.token, by=BOSS))
    assert third.arguments == {"id": 1}


@pytest.mark.parametrize("said", ["null", "", "{}", "[]", '"pay"', "{"])
async def test_a_call_without_arguments_is_no_call_that_a_person_is_asked_about(
    make_agent: MakeAgent, office: Office, said: str
) -> None:
    """C114, C116: neither the first time nor later."""
    agent = make_agent(ScriptedModel().calls_raw("pay", said).calls_raw("pay", said).says("ok"))

    outcome = await agent.ask("Pay", principal=CLERK)

    assert {result.code for result in results(outcome)} == {"invalid_arguments"}
    assert not await agent.approvals(statuses=())
    assert not office.done


async def test_arguments_that_do_not_fit_are_the_models_to_mend(make_agent: MakeAgent) -> None:
    """C116."""
    agent = make_agent(playing("C116").says("ok"))

    outcome = await agent.ask("Pay", principal=CLERK)

    assert results(outcome)[0].code == "invalid_arguments"
    assert not await agent.approvals(statuses=())


async def test_a_reason_outlives_the_process(tmp_path: Path) -> None:
    """C118."""
    async with another(tmp_path / "placet.db", playing("C118"), {}) as agent:
        (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))
    async with another(tmp_path / "placet.db", ScriptedModel().says("ok"), {}) as agent:
        outcome = await agent.reject(pending.token, by=BOSS, reason="over budget")

    assert "over budget" in results(outcome)[0].content


@tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}, ttl=60), name="pay")
async def pay_as(to: str, amount: int, context: Context[Office]) -> str:
    """Pay somebody."""
    context.deps.done.append((context.principal.id, to, amount))
    return "paid"


async def test_a_call_runs_for_who_asked_and_not_for_who_approved(make_agent: MakeAgent, office: Office) -> None:
    """C120."""
    agent = make_agent(playing("C120").says("ok"), tools=[pay_as])
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    await agent.approve(pending.token, by=BOSS)

    assert office.done == [(CLERK.id, "a", 10)]
    (request,) = await agent.approvals(statuses=())
    assert (request.principal_id, request.decided_by) == (CLERK.id, BOSS.id)


@pytest.mark.parametrize("roles", [set[str](), {"customer"}, {"Support"}, {"support "}])
async def test_a_role_that_was_lost_is_missed_when_the_call_runs(
    make_agent: MakeAgent, office: Office, roles: set[str]
) -> None:
    """C121."""
    agent = make_agent(playing("C121").says("ok"))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))
    await agent.call("nothing", {}, principal=Principal(CLERK.id, roles))

    outcome = await agent.approve(pending.token, by=BOSS)

    assert results(outcome)[0].is_error
    assert not office.done


async def test_an_approver_who_has_lost_the_role_approves_nothing(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(playing("C121").says("ok"))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    assert isinstance(await agent.approve(pending.token, by=Principal(BOSS.id, {"support"})), Refused)
    assert not office.done


@pytest.mark.parametrize("seconds", [60, 61, 10_000])
async def test_a_yes_that_comes_too_late_is_none(
    make_agent: MakeAgent, office: Office, heard: ListSink, clock: FrozenClock, seconds: int
) -> None:
    """C122."""
    agent = make_agent(playing("C122").says("ok"), tools=[pay_as], clock=clock)
    waiting = await agent.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    clock.move(seconds)

    outcome = await agent.resume(waiting.run_id)
    late = await agent.approve(waiting.approvals[0].token, by=BOSS)

    assert results(outcome)[0].code == "expired"
    assert isinstance(late, Refused)
    assert not office.done
    (request,) = await agent.approvals(statuses=())
    assert request.status is ApprovalStatus.EXPIRED
    assert "approved" not in {entry.decision for entry in heard.entries}
    assert "expired" in {entry.decision for entry in heard.entries}


ODD = ["routine\n\x1b[2J[OK] approved by admin", "a\rb", "x\u202ey", "\x9b2J", "a\u2028b", "\x00", "\u200b\u2066"]


@pytest.mark.parametrize("odd", ODD, ids=ascii)
async def test_nothing_of_a_call_can_write_over_what_a_person_is_asked(make_agent: MakeAgent, odd: str) -> None:
    """C125: whichever field it stands in."""
    agent = make_agent(ScriptedModel().calls("open", path=odd), tools=GATED)
    (pending,) = waiting_for(await agent.ask("Open it", principal=CLERK))
    assert pending.preview is not None

    shown = [escape_for_person(pending.preview.text).text]
    shown += [line.plain for line in arguments({"path": pending.arguments["path"], odd: 1}, {})]

    assert len(shown) == 3
    assert not [sign for line in shown for sign in line if sign in odd and not sign.isprintable()]


@pytest.mark.parametrize("door", DOORS)
async def test_no_way_in_leads_past_the_person(make_agent: MakeAgent, office: Office, door: str) -> None:
    """C129, C130: also an agent as a tool, and calls side by side."""

    def make(*given: Any, **options: Any) -> Agent:
        return make_agent(*given, **{"tools": [*TOOLS, ask_inner()], **options})

    with contextlib.suppress(AssertionError, IndexError):  # a door is for calls that end; this one has to wait
        await DOORS[door](make, "pay", {"to": "a", "amount": 10}, CLERK)

    assert not office.done
    requests = await make_agent().store.list_approvals(run_id=None, statuses=())
    assert [request.status for request in requests if request.tool == "pay"] == [ApprovalStatus.PENDING]


async def test_arguments_that_were_mended_are_asked_about_like_any_other(make_agent: MakeAgent, office: Office) -> None:
    """C133."""
    model = ScriptedModel().calls("pay", to="a", amount="lots").calls("pay", to="a", amount=10)
    agent = make_agent(model)

    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    assert pending.arguments == {"to": "a", "amount": 10}
    assert not office.done
