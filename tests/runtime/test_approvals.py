"""A person's yes counts for exactly what will run, once, until it expires."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.stores.sqlite import SqliteStore
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.parameters import Loaded
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval, ApprovalStatus, Preview
from placet.values.call import ToolResult
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Outcome, PendingApproval, Refused, Waiting
from placet.values.principal import Principal
from tests.runtime.conftest import BOSS, CLERK, OTHER_CLERK, TOOLS, MakeAgent, Office, load_account, owns_account


def pay_ten() -> ScriptedModel:
    return ScriptedModel().calls("pay", to="x", amount=10).says("Done.").says("Again.")


def pending(outcome: Outcome) -> PendingApproval:
    assert isinstance(outcome, Waiting)
    return outcome.approvals[0]


def results(outcome: Outcome) -> list[ToolResult]:
    assert not isinstance(outcome, Refused)
    return [result for message in outcome.history if isinstance(message, ToolMessage) for result in message.results]


async def test_a_call_waits_and_runs_once_it_is_approved(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)
    assert pending(waiting).preview is not None
    assert not office.done

    outcome = await agent.approve(pending(waiting).token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert office.done == [("pay", "x", 10)]


async def test_another_process_can_carry_on(make_agent: MakeAgent, office: Office) -> None:
    waiting = await make_agent(pay_ten()).ask("Pay x ten", principal=CLERK)

    elsewhere = make_agent(ScriptedModel().says("Done elsewhere."))
    outcome = await elsewhere.approve(pending(waiting).id, by=BOSS)

    assert isinstance(outcome, Answer)
    assert outcome.text == "Done elsewhere."
    assert office.done == [("pay", "x", 10)]


async def test_an_approval_is_used_once(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)

    outcomes = await asyncio.gather(*[agent.approve(pending(waiting).token, by=BOSS) for _ in range(10)])

    assert [type(outcome) for outcome in outcomes].count(Answer) == 1
    assert {outcome.reason for outcome in outcomes if isinstance(outcome, Refused)} == {"approval_used"}
    assert office.done == [("pay", "x", 10)]


@pytest.mark.parametrize(
    "by",
    [CLERK, OTHER_CLERK, Principal("s1", {"support", "finance"}), Principal("c1")],
    ids=["the requester", "a colleague", "the requester with the role", "nobody in particular"],
)
async def test_nobody_but_an_approver_approves(make_agent: MakeAgent, office: Office, by: Principal) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)

    assert isinstance(await agent.approve(pending(waiting).token, by=by), Refused)
    assert not office.done


async def test_a_wrong_token_opens_nothing(make_agent: MakeAgent) -> None:
    agent = make_agent(pay_ten())
    await agent.ask("Pay x ten", principal=CLERK)

    assert isinstance(await agent.approve("a" * 32, by=BOSS), Refused)


async def test_a_rejection_is_final_and_its_like_is_not_asked_again(make_agent: MakeAgent, office: Office) -> None:
    model = ScriptedModel().calls("pay", to="x", amount=10).calls("pay", amount=10, to="x").says("As you wish.")
    agent = make_agent(model)
    waiting = await agent.ask("Pay x ten", principal=CLERK)

    outcome = await agent.reject(pending(waiting).token, by=BOSS, reason="over budget")

    assert isinstance(outcome, Answer)
    first, second = results(outcome)
    assert "over budget" in first.content
    assert second.code == "rejected"
    assert not office.done
    assert isinstance(await agent.approve(pending(waiting).token, by=BOSS), Refused)


async def test_a_no_to_an_edited_call_is_a_no_to_what_the_model_wished(make_agent: MakeAgent, office: Office) -> None:
    model = ScriptedModel().calls("pay", to="x", amount=10).calls("pay", to="x", amount=10).says("As you wish.")
    agent = make_agent(model)
    waiting = await agent.ask("Pay x ten", principal=CLERK)
    office.accounts["a"]["balance"] = 5
    edited = await agent.approve(pending(waiting).token, by=BOSS, arguments={"to": "x", "amount": 7})

    outcome = await agent.reject(pending(edited).token, by=BOSS)

    assert [result.code for result in results(outcome)] == ["rejected", "rejected"]
    assert not office.done


async def test_a_reason_can_be_kept_from_the_model(make_agent: MakeAgent) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)

    outcome = await agent.reject(pending(waiting).token, by=BOSS, reason="fraud case 7", reason_for_model=False)

    assert "fraud" not in results(outcome)[0].content


async def test_silence_is_a_refusal(make_agent: MakeAgent, office: Office, clock: FrozenClock) -> None:
    agent = make_agent(pay_ten(), clock=clock)
    waiting = await agent.ask("Pay x ten", principal=CLERK)
    assert isinstance(waiting, Waiting)
    clock.move(15 * 60)

    late = await agent.approve(pending(waiting).token, by=BOSS)
    assert isinstance(late, Refused)
    assert late.reason == "expired"
    outcome = await agent.resume(waiting.run_id)

    assert isinstance(outcome, Answer)
    assert results(outcome)[0].code == "expired"
    assert not office.done


async def test_roles_are_those_of_the_day_when_the_call_runs(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)
    await agent.call("look", {"name": "sky"}, principal=Principal("s1", {"customer"}))

    outcome = await agent.approve(pending(waiting).token, by=BOSS)

    assert results(outcome)[0].code == "unknown_tool"
    assert not office.done


async def test_what_changed_since_the_preview_is_asked_anew(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)
    office.accounts["a"]["balance"] = 5

    again = await agent.approve(pending(waiting).token, by=BOSS)

    assert not office.done
    assert pending(again).id != pending(waiting).id
    assert isinstance(await agent.approve(pending(again).token, by=BOSS), Answer)
    assert office.done == [("pay", "x", 10)]


async def test_a_tool_that_changed_since_the_question_is_asked_anew(make_agent: MakeAgent, office: Office) -> None:
    waiting = await make_agent(pay_ten()).ask("Pay x ten", principal=CLERK)

    @tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}))
    async def pay(to: str, amount: int) -> str:
        """Pay somebody, and tell the newspapers."""
        raise AssertionError

    elsewhere = make_agent(ScriptedModel().says("ok"), tools=[*(t for t in TOOLS if t.name != "pay"), pay])
    assert isinstance(await elsewhere.approve(pending(waiting).token, by=BOSS), Waiting)


async def test_an_edit_runs_what_was_edited_and_both_versions_are_recorded(
    make_agent: MakeAgent, office: Office, heard: ListSink
) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)

    invalid = await agent.approve(pending(waiting).token, by=BOSS, arguments={"to": "x", "amount": "lots"})
    assert isinstance(invalid, Refused)
    again = await agent.approve(pending(waiting).token, by=BOSS, arguments={"to": "x", "amount": 7})

    # The preview binds the balance, which is the same, so the edited call runs.
    assert isinstance(again, Answer)
    assert office.done == [("pay", "x", 7)]
    (approved,) = [entry for entry in heard.entries if entry.decision == "approved"]
    assert '"changed":["amount"]' in approved.body
    assert '"amount":10' in approved.body
    assert '"amount":7' in approved.body


async def test_a_mixed_batch_runs_its_reads_and_waits_for_the_rest(make_agent: MakeAgent, office: Office) -> None:
    model = ScriptedModel().calls_all(
        [
            ("look", {"name": "1"}),
            ("pay", {"to": "a", "amount": 1}),
            ("look", {"name": "2"}),
            ("pay", {"to": "b", "amount": 2}),
        ]
    )
    agent = make_agent(model.says("All done."))

    waiting = await agent.ask("Do it all", principal=CLERK)
    assert isinstance(waiting, Waiting)
    assert sorted(office.done) == [("look", "1"), ("look", "2")]
    first, second = waiting.approvals
    assert first.token != second.token

    half = await agent.approve(first.token, by=BOSS)
    assert isinstance(half, Waiting)
    assert [one.id for one in half.approvals] == [second.id]
    outcome = await agent.reject(second.token, by=BOSS, reason="use staging")

    assert [result.code for result in results(outcome)] == ["ok", "ok", "ok", "rejected"]
    assert office.done.count(("pay", "a", 1)) == 1
    assert len(office.done) == 3


async def test_the_requester_confirms_where_the_tool_says_so(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(ScriptedModel().calls("rename", name="Annex").says("Renamed."))
    waiting = await agent.ask("Rename", principal=CLERK)

    assert isinstance(await agent.confirm(pending(waiting).token, by=BOSS), Refused)
    assert isinstance(await agent.approve(pending(waiting).token, by=BOSS), Refused)
    assert isinstance(await agent.confirm(pending(waiting).token, by=CLERK), Answer)
    assert office.done == [("rename", "Annex")]


async def test_a_list_shows_no_token(make_agent: MakeAgent) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)

    (request,) = await agent.approvals()

    assert request.status is ApprovalStatus.PENDING
    assert pending(waiting).token not in repr(request)


async def test_invalid_arguments_make_no_question(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="x", amount="lots").says("Sorry."))

    assert isinstance(await agent.ask("Pay", principal=CLERK), Answer)
    assert not await agent.approvals(statuses=())


async def test_a_token_is_stored_only_as_a_hash(make_agent: MakeAgent, tmp_path: Path) -> None:
    agent = make_agent(pay_ten(), store=SqliteStore(tmp_path / "placet.db", key=b"k" * 32))
    waiting = await agent.ask("Pay x ten", principal=CLERK)
    approval = pending(waiting)
    await agent.close()

    stored = (tmp_path / "placet.db").read_bytes()
    assert approval.id.encode() in stored
    assert approval.token.encode() not in stored


async def test_an_approver_who_has_lost_the_role_since_the_last_yes_approves_nothing(
    make_agent: MakeAgent, office: Office
) -> None:
    agent = make_agent(pay_ten())
    first = await agent.ask("Pay x ten", principal=CLERK)
    await agent.approve(pending(first).token, by=BOSS)
    second = await make_agent(pay_ten()).ask("Pay x ten", principal=CLERK)

    outcome = await agent.approve(pending(second).token, by=Principal(BOSS.id, {"support"}))

    assert isinstance(outcome, Refused)
    assert office.done == [("pay", "x", 10)]


async def test_what_a_person_is_asked_about_has_the_defaults_with_which_it_runs(
    make_agent: MakeAgent, office: Office, store: Store
) -> None:
    @tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}))
    async def send(context: Context[Office], to: str, copies: int = 3) -> str:
        """Send something."""
        context.deps.done.append(("send", to, copies))
        return "sent"

    agent = make_agent(ScriptedModel().calls("send", to="x").says("ok"), tools=[send])
    waiting = await agent.ask("Send", principal=CLERK)
    (request,) = await store.list_approvals()
    await agent.approve(pending(waiting).token, by=BOSS)

    assert request.arguments == {"to": "x", "copies": 3}
    assert office.done == [("send", "x", 3)]


@pytest.mark.parametrize("now", [{"owner": "s2", "balance": 100}, {"owner": "s1", "balance": 7}, None])
async def test_a_resource_is_loaded_again_when_the_call_runs(
    make_agent: MakeAgent, office: Office, now: dict[str, Any] | None
) -> None:
    """It may belong to somebody else by then, hold something else, or be gone."""

    @tool(
        effect="write", roles={"support"}, resource=load_account, authorise=owns_account,
        approval=Approval.always(approvers={"finance"}),
    )  # fmt: skip
    async def empty(context: Context[Office], account: str, loaded: Loaded[dict[str, Any]]) -> str:
        """Empty an account."""
        context.deps.done.append(("empty", account, loaded["balance"]))
        return "emptied"

    agent = make_agent(ScriptedModel().calls("empty", account="a").says("ok"), tools=[empty])
    waiting = await agent.ask("Empty it", principal=CLERK)
    office.accounts = {"a": now} if now is not None else {}
    outcome = await agent.approve(pending(waiting).token, by=BOSS)

    mine = now is not None and now["owner"] == CLERK.id
    assert [result.code for result in results(outcome)] == ["ok" if mine else "not_found"]
    assert office.done == ([("empty", "a", 7)] if mine else [])


async def test_a_run_that_nobody_has_answered_in_time_goes_on_with_a_refusal(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, store: Store
) -> None:
    agent = make_agent(pay_ten(), clock=clock)
    waiting = await agent.ask("Pay x ten", principal=CLERK)
    assert isinstance(waiting, Waiting)
    clock.move(15 * 60)

    outcome = await agent.resume(waiting.run_id)

    assert isinstance(outcome, Answer)
    assert results(outcome)[0].code == "expired"
    assert [request.status for request in await store.list_approvals()] == [ApprovalStatus.EXPIRED]
    assert "expired" in [record.entry.decision async for record in store.read()]
    assert not office.done


async def test_a_reason_is_recorded_and_redacted(make_agent: MakeAgent, heard: ListSink) -> None:
    agent = make_agent(pay_ten())
    waiting = await agent.ask("Pay x ten", principal=CLERK)

    await agent.reject(pending(waiting).token, by=BOSS, reason="not today, password=hunter2", reason_for_model=False)

    (rejected,) = [entry for entry in heard.entries if entry.decision == "rejected" and entry.principal_id == BOSS.id]
    assert "not today" in rejected.body
    assert "hunter2" not in rejected.body


@pytest.mark.parametrize("facts", [{"a": object()}, {"a": {1}}, {"a": float("nan")}])
async def test_facts_that_are_no_json_bind_nothing_and_nobody_is_asked(
    make_agent: MakeAgent, office: Office, facts: Any
) -> None:
    outcome = await make_agent(ScriptedModel().calls("lend").says("ok"), tools=[lending(facts)]).ask(
        "go", principal=CLERK
    )

    assert isinstance(outcome, Answer)
    assert "check_failed" in repr(outcome.history)
    assert not office.done


async def test_facts_bind_as_json_has_them(make_agent: MakeAgent, office: Office, tmp_path: Path) -> None:
    agent = make_agent(
        ScriptedModel().calls("lend").says("ok"),
        tools=[lending({"a": (1, 0.1), "b": {"c": 2**70}})],
        store=f"sqlite:///{tmp_path / 'placet.db'}",
    )
    waiting = await agent.ask("go", principal=CLERK)
    assert isinstance(waiting, Waiting)

    assert isinstance(await agent.approve(waiting.approvals[0].token, by=BOSS), Answer)
    assert office.done == [("lent",)]
    await agent.close()


def lending(facts: Any) -> Tool:
    async def lend(context: Context[Office]) -> str:
        """Lend something."""
        context.deps.done.append(("lent",))
        return "lent"

    asked = Approval.always(approvers={"finance"})
    return tool(effect="write", roles={"support"}, approval=asked, preview=lambda *_: Preview("lent", facts))(lend)
