"""Attacks that have worked on other frameworks, and the tests that show what becomes of them here.

| # | attack | tests |
|---|---|---|
| 1 | a tool, or what stands around it, raises an exception with a secret | `test_a_secret_in_an_exception_reaches_neither_model_nor_records` `test_it_does_so_wherever_the_developers_code_stands` `tests.runtime.test_calls::test_any_other_exception_reaches_the_model_as_a_code_and_a_reference_only` `tests.runtime.test_isolated::test_each_ending_there_is_an_ending_here` |
| 2 | a declared output has another shape, or one more field | `test_what_a_tool_has_not_declared_reaches_nobody` `test_an_output_of_another_shape_is_an_error_that_repeats_nothing` `tests.tools.test_output::test_what_is_not_declared_is_stripped` `tests.tools.test_output::test_tool_output_does_not_lead_around_what_is_declared` |
| 3 | an extra argument | `tests.runtime.test_calls::test_arguments_that_do_not_fit_are_refused_and_nothing_runs` `tests.tools.test_typed_arguments::test_an_unknown_name_is_refused_at_any_depth` `tests.tools.test_raw_arguments::test_the_nearest_name_is_said` |
| 4 | an argument of another type | `tests.runtime.test_calls::test_arguments_that_do_not_fit_are_refused_and_nothing_runs` `tests.tools.test_typed_arguments::test_another_type_is_refused_and_its_value_not_repeated` |
| 5 | an unknown tool | `tests.runtime.test_calls::test_an_unknown_tool_and_a_hidden_one_are_refused_in_the_same_words` |
| 6 | two tools of one name | `test_two_tools_of_one_name_do_not_build` `tests.tools.test_toolset::test_two_tools_of_one_name_are_refused` `tests.skills.test_skills::test_two_skills_that_register_one_tool_are_refused_by_their_names` |
| 7 | a hidden tool is called | `tests.runtime.test_calls::test_an_unknown_tool_and_a_hidden_one_are_refused_in_the_same_words` `tests.runtime.test_calls::test_a_refusal_is_recorded_with_its_rule` `test_a_hidden_write_looks_unknown_however_it_is_called` `test_who_watches_sees_the_same_of_a_hidden_tool_as_of_none` |
| 8 | arguments altered in stored state, then approved | `tests.runtime.test_attacks_on_approvals::test_a_call_that_was_altered_in_the_stored_run_does_not_run_altered` `tests.runtime.test_attacks_on_approvals::test_a_call_that_was_altered_in_the_stored_question_does_not_run` `tests.runtime.test_takeover::test_a_snapshot_cannot_borrow_the_approval_of_another_run` |
| 9 | asked for one principal, resumed as another | `tests.runtime.test_public_failures_approval::test_a_call_runs_for_who_asked_and_not_for_who_approved` `tests.runtime.test_approvals::test_roles_are_those_of_the_day_when_the_call_runs` `tests.runtime.test_approvals::test_the_requester_confirms_where_the_tool_says_so` |
| 10 | an approval is forged | `tests.runtime.test_approvals::test_a_wrong_token_opens_nothing` `tests.runtime.test_approvals::test_a_list_shows_no_token` `tests.runtime.test_public_failures_approval::test_nothing_but_a_person_with_the_token_is_a_yes` `tests.runtime.test_attacks_on_approvals::test_a_call_in_a_history_that_was_handed_in_is_not_run` |
| 11 | an approval is used again | `tests.runtime.test_approvals::test_an_approval_is_used_once` `tests.workflow.test_processes::test_a_third_process_cannot_decide_it_again` `tests.runtime.test_attacks_on_approvals::test_a_used_yes_is_used_whatever_is_said_afterwards` |
| 12 | an approver edits a call into another, or an invalid one | `tests.runtime.test_approvals::test_an_edit_runs_what_was_edited_and_both_versions_are_recorded` `tests.runtime.test_public_failures_approval::test_what_is_no_set_of_arguments_is_no_edit` `tests.runtime.test_attacks_on_approvals::test_an_edit_into_what_the_requester_may_not_touch_runs_nothing` |
| 13 | rejected, then a condition flips | `tests.runtime.test_approvals::test_a_rejection_is_final_and_its_like_is_not_asked_again` `tests.runtime.test_attacks_on_approvals::test_a_rejection_holds_although_nobody_would_be_asked_any_more` |
| 14 | a synchronous tool passes its timeout | `test_a_tool_past_its_timeout_keeps_nobody_waiting` `tests.runtime.test_execute::test_synchronous_code_past_its_timeout_may_still_be_running_and_its_end_is_told` `tests.runtime.test_isolated::test_what_hangs_is_dead_at_its_timeout_with_all_that_it_has_started` `test_a_look_up_past_its_timeout_keeps_nobody_waiting` |
| 15 | twenty calls where three may run | `tests.runtime.test_calls::test_three_of_twenty_run_when_the_limit_is_three_and_they_are_the_first` `test_three_of_twenty_at_once_run` `test_three_of_twenty_run_through_all_doors_together` |
| 16 | no limit was set | `tests.runtime.test_runs::test_default_budgets_end_a_model_that_never_stops` `tests.workflow.test_budget::test_turns_of_all_agents_count` |
| 17 | a mixed batch | `tests.runtime.test_approvals::test_a_mixed_batch_runs_its_reads_and_waits_for_the_rest` `tests.runtime.test_attacks_on_approvals::test_of_a_mixed_batch_the_read_runs_and_the_rest_waits` |
| 18 | a rule that can never match | `tests.gate.test_policy::test_a_rule_that_names_what_does_not_exist_does_not_build` `tests.runtime.test_explain::test_a_policy_that_names_what_does_not_exist_does_not_build` `tests.runtime.test_value_limits::test_a_limit_of_an_argument_that_a_call_may_lack_does_not_build` |
| 19 | a decision that is none, or none in time | `test_an_answer_that_is_no_decision_runs_nothing` `tests.gate.test_gate::test_an_answer_that_is_no_decision_is_a_refusal` `tests.runtime.test_approvals::test_silence_is_a_refusal` `tests.runtime.test_public_failures_approval::test_a_decision_that_is_merely_truthy_is_none` `tests.gate.test_authorisation::test_a_rule_that_answers_anything_but_true_refuses` `tests.gate.test_approval::test_a_condition_that_answers_neither_true_nor_false_is_broken` |
| 20 | two workers resume one approved run | `tests.runtime.test_public_failures_approval::test_of_two_workers_with_one_paused_run_one_goes_on` `tests.runtime.test_attacks_on_approvals::test_of_two_workers_that_resume_an_approved_run_one_goes_on` |
| 21 | killed between effect and record | `tests.crash.test_crash_matrix::test_who_is_killed_between_intent_and_outcome_leaves_what_others_can_go_on_with` `tests.runtime.test_takeover::test_a_write_that_was_running_when_its_worker_died_is_unknown_and_not_run_again` |
| 22 | the reply is cut within a call | `test_no_call_of_a_cut_answer_runs_whatever_its_client_says` `tests.models.test_accumulator::test_a_cut_answer_makes_its_calls_unknowable` `tests.models.test_messages_reader::test_a_cut_answer_makes_its_calls_unknowable` `tests.models.test_text_protocol::test_a_cut_call_cannot_be_known` |
| 23 | a call stands in words, or in the output of a tool | `test_a_call_in_words_is_words` `tests.agent.test_text_protocol::test_anything_else_is_text` `tests.models.test_text_protocol::test_an_echo_of_a_tools_output_is_text` |
| 24 | what an approver reads hides something | `test_what_an_approver_reads_shows_what_hides_and_the_call_runs_as_it_was_sent` `tests.words.test_escape::test_what_nobody_sees_is_shown_by_its_number_and_said` `tests.cli.test_approvals::test_whoever_may_decide_sees_every_argument_and_nothing_hidden` `tests.runtime.test_report::test_what_nobody_would_see_is_shown` |
"""  # noqa: E501 - a table

import asyncio
import importlib
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

from placet.errors import DuplicateToolError
from placet.gate.gate import STANDARD_CHECKS, Gate
from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, ModelRequest, OnText
from placet.runtime.report_html import render_report
from placet.runtime.sinks import ListSink
from placet.testing import FrozenClock
from placet.tools.parameters import Loaded
from placet.tools.tool import Tool, tool
from placet.tools.toolset import Toolset
from placet.values.approval import Approval
from placet.values.audit import AuditKind
from placet.values.call import ToolResult
from placet.values.outcome import Answer, Waiting
from placet.values.principal import EVERYONE
from placet.words.escape import escape_json
from tests.runtime.conftest import BOSS, CLERK, TOOLS, MakeAgent, Office, load_account
from tests.runtime.doors import AFTER_A_YES, BY_MODELS, DOORS

ALL = {**DOORS, **AFTER_A_YES}

ROW = re.compile(r"^\| (\d+) \|.*\| (.*) \|$", re.MULTILINE)


def test_every_attack_has_its_tests_and_they_are_there() -> None:
    rows = {int(number): re.findall(r"`([^`]+)`", tests) for number, tests in ROW.findall(__doc__ or "")}

    assert sorted(rows) == list(range(1, 25))
    for number, tests in rows.items():
        assert tests, number
        for named in tests:
            module, _, name = named.rpartition("::")
            found = importlib.import_module(module) if module else sys.modules[__name__]
            assert callable(getattr(found, name, None)), f"row {number} names {named}, which is not there"


class Report(BaseModel):
    """What `report` declares."""

    order: str


def raise_secret(*_: object) -> Any:
    raise ValueError("db password=hunter2") from KeyError("token=hunter2")


@tool(effect="read", roles={EVERYONE})
def report(kind: str) -> Report:
    """Write a report."""
    given: Any = {"order": "A-1", "iban": "hunter2"} if kind == "more" else {"number": "hunter2"}
    return given  # type: ignore[no-any-return]  # it breaks its word


@tool(effect="read", roles={EVERYONE}, timeout=0.05)
def hang(name: str) -> str:
    """Hang."""
    time.sleep(1)
    return name


@tool(effect="read", roles={EVERYONE}, resource=raise_secret)
async def in_the_loader(name: str, loaded: Loaded[Any]) -> str:
    """Fail in the loader."""
    return f"{name} {loaded}"


@tool(effect="read", roles={EVERYONE}, resource=load_account, authorise=raise_secret)
async def in_the_rule(account: str, loaded: Loaded[Any]) -> str:
    """Fail in the rule."""
    return f"{account} {loaded}"


@tool(effect="read", roles={EVERYONE}, approval=Approval.always(approvers={"finance"}), preview=raise_secret)
async def in_the_preview(name: str) -> str:
    """Fail in the preview."""
    return name


@tool(effect="read", roles={EVERYONE}, approval=Approval.when(raise_secret, approvers={"finance"}))
async def in_the_condition(name: str) -> str:
    """Fail in the condition."""
    return name


class Unspeakable:
    """What breaks when somebody asks for its words."""

    def __str__(self) -> str:
        raise ValueError("db password=hunter2")


@tool(
    effect="read", roles={EVERYONE}, approval=Approval.always(approvers={"finance"}), preview=lambda *_: Unspeakable()
)
async def in_the_words(name: str) -> str:
    """Fail in the words of the preview."""
    return name


@tool(
    effect="read", roles={EVERYONE}, resource=load_account, authorise=lambda *_: True, version=lambda _: Unspeakable()
)
async def in_the_version(account: str, loaded: Loaded[Any]) -> str:
    """Fail in the version."""
    return f"{account} {loaded}"


@tool(effect="write", roles={"finance"}, waiver="a test of hidden tools")
async def raise_pay(name: str) -> str:
    """Raise somebody's pay."""
    return name


MINE: tuple[Tool, ...] = (
    *TOOLS, report, hang, in_the_loader, in_the_rule, in_the_preview, in_the_condition, in_the_words, in_the_version,
    raise_pay,
)  # fmt: skip


@pytest.fixture
def make_mine(make_agent: MakeAgent) -> MakeAgent:
    def make(*arguments: Any, **options: Any) -> Any:
        return make_agent(*arguments, **{**options, "tools": options.get("tools") or MINE})

    return make


# ── 1, 2: what a tool says that it should not ────────────────────────────────────────────


@pytest.mark.parametrize("door", sorted(ALL))
async def test_a_secret_in_an_exception_reaches_neither_model_nor_records(
    make_mine: MakeAgent, heard: ListSink, door: str
) -> None:
    result = await ALL[door](make_mine, "break_down", {"how": "by surprise"}, CLERK)

    assert (result.is_error, result.code) == (True, "internal_error")
    assert "hunter2" not in repr(result)
    assert "hunter2" not in "".join(entry.body for entry in heard.entries)
    assert "ValueError" in "".join(entry.body for entry in heard.entries)


@pytest.mark.parametrize("door", sorted(DOORS))
@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("in_the_loader", "name"),
        ("in_the_rule", "account"),
        ("in_the_preview", "name"),
        ("in_the_words", "name"),
        ("in_the_version", "account"),
        ("in_the_condition", "name"),
    ],
)
async def test_it_does_so_wherever_the_developers_code_stands(
    make_mine: MakeAgent, heard: ListSink, door: str, name: str, argument: str
) -> None:
    result = await DOORS[door](make_mine, name, {argument: "a"}, CLERK)

    assert result.is_error
    assert "hunter2" not in repr(result)
    assert "hunter2" not in "".join(entry.body for entry in heard.entries)


@pytest.mark.parametrize("door", sorted(ALL))
async def test_what_a_tool_has_not_declared_reaches_nobody(make_mine: MakeAgent, heard: ListSink, door: str) -> None:
    result = await ALL[door](make_mine, "report", {"kind": "more"}, CLERK)

    assert (result.code, result.content) == ("ok", '{"order":"A-1"}')
    assert "hunter2" not in repr(result) + "".join(entry.body for entry in heard.entries)


@pytest.mark.parametrize("door", sorted(ALL))
async def test_an_output_of_another_shape_is_an_error_that_repeats_nothing(
    make_mine: MakeAgent, heard: ListSink, door: str
) -> None:
    result = await ALL[door](make_mine, "report", {"kind": "wrong"}, CLERK)

    assert (result.is_error, result.code) == (True, "bad_output")
    assert "hunter2" not in repr(result) + "".join(entry.body for entry in heard.entries)
    (entry,) = [entry for entry in heard.entries if entry.tool == "report" and entry.kind is AuditKind.CALL]
    assert "bad_output" in entry.body


# ── 6, 7: names ──────────────────────────────────────────────────────────────────────────


def prefixed() -> Toolset:
    return Toolset([report]).prefix("a_").combine(Toolset([replace_name(report, "a_report")]))


def replace_name(one: Tool, name: str) -> Tool:
    return replace(one, spec=replace(one.spec, name=name))


@pytest.mark.parametrize(
    "build",
    [lambda: Toolset([report, report]), lambda: Toolset([report]).combine(Toolset([report])), prefixed],
    ids=["one list", "two lists", "a prefix"],
)
def test_two_tools_of_one_name_do_not_build(build: Callable[[], Toolset]) -> None:
    with pytest.raises(DuplicateToolError, match="report"):
        build()


def test_two_tools_of_one_name_do_not_make_an_agent(make_agent: MakeAgent) -> None:
    with pytest.raises(DuplicateToolError, match="report"):
        make_agent(tools=[*TOOLS, report, report])


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize("arguments", [{"name": "a"}, {"nam": 5}])
async def test_a_hidden_write_looks_unknown_however_it_is_called(
    make_mine: MakeAgent, key: str | None, arguments: Mapping[str, Any]
) -> None:
    agent = make_mine()
    hidden = await agent.call("raise_pay", arguments, principal=CLERK, key=key and f"{key}1")
    unknown = await agent.call("raise_pey", arguments, principal=CLERK, key=key and f"{key}2")

    assert type(hidden) is type(unknown) is ToolResult
    assert (hidden.code, hidden.content) == ("unknown_tool", unknown.content.replace("raise_pey", "raise_pay"))


@pytest.mark.parametrize("arguments", [{"name": "a"}, {"nam": 5}])
async def test_who_watches_sees_the_same_of_a_hidden_tool_as_of_none(
    make_mine: MakeAgent, clock: FrozenClock, arguments: Mapping[str, Any]
) -> None:
    async def seen(name: str) -> list[str]:
        agent = make_mine(ScriptedModel().calls(name, arguments).says("ok"), clock=clock)
        events = [event async for event in agent.stream("Hi", principal=CLERK)]
        return [re.sub(r"(run|call)_\w+", "", repr(event)).replace(name, "NAME") for event in events]

    assert await seen("raise_pay") == await seen("raise_pey")


# ── 14, 15: time and number ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize("door", sorted(ALL))
async def test_a_tool_past_its_timeout_keeps_nobody_waiting(make_mine: MakeAgent, door: str) -> None:
    result = await ALL[door](make_mine, "hang", {"name": "x"}, CLERK)

    assert result.code == "timeout"
    assert "may_still_be_running" in result.content


def sleep(*_: object) -> str:
    time.sleep(2)
    return "slept"


SLOW: Mapping[str, dict[str, Any]] = {
    "a loader": {"resource": sleep},
    "a preview": {"preview": sleep, "approval": Approval.always(approvers={"finance"})},
}


@pytest.mark.parametrize("where", SLOW)
async def test_a_look_up_past_its_timeout_keeps_nobody_waiting(make_agent: MakeAgent, where: str) -> None:
    @tool(effect="read", roles={EVERYONE}, timeout=0.05, **SLOW[where])
    async def quick(name: str) -> str:
        """Be quick, once it is looked up."""
        return name

    began = time.monotonic()
    result = await DOORS["loop"](partial(make_agent, tools=[quick]), "quick", {"name": "x"}, CLERK)

    assert result.is_error
    assert "took too long" in result.content
    assert time.monotonic() - began < 1.5


@pytest.mark.parametrize("door", sorted(DOORS))
async def test_three_of_twenty_at_once_run(make_agent: MakeAgent, office: Office, door: str) -> None:
    calls = [DOORS[door](make_agent, "note", {"text": str(number)}, CLERK) for number in range(20)]

    results = await asyncio.gather(*calls)

    assert Counter(result.code for result in results) == {"ok": 3, "limit_reached": 17}
    assert len(office.done) == 3


async def test_three_of_twenty_run_through_all_doors_together(make_agent: MakeAgent, office: Office) -> None:
    doors = [*DOORS.values(), *DOORS.values()]

    calls = [door(make_agent, "note", {"text": str(number)}, CLERK) for number, door in enumerate(doors)]
    results = await asyncio.gather(*calls)

    assert Counter(result.code for result in results) == {"ok": 3, "limit_reached": len(doors) - 3}
    assert len(office.done) == 3


# ── 19: decisions ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("door", sorted(DOORS))
@pytest.mark.parametrize("said", [None, "yes", 1, {}, True])
async def test_an_answer_that_is_no_decision_runs_nothing(
    make_agent: MakeAgent, office: Office, door: str, said: Any
) -> None:
    def check(facts: Any) -> Any:
        return said if facts.tool.name == "look" else STANDARD_CHECKS[0](facts)

    result = await DOORS[door](partial(make_agent, gate=Gate((*STANDARD_CHECKS, check))), "look", {"name": "x"}, CLERK)

    assert result.is_error
    assert not office.done


# ── 22, 23: what is no call ──────────────────────────────────────────────────────────────


class Cut:
    """A client that reads what it can of a cut answer, and only says that it was cut."""

    def __init__(self, model: ScriptedModel, finish: Finish) -> None:
        self.name, self.writes_prose = model.name, True
        self._model, self._finish = model, finish

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        answer = await self._model.answer(request, on_text)
        return replace(answer, finish=self._finish) if any(call.name == "note" for call in answer.calls) else answer


@pytest.mark.parametrize("door", BY_MODELS)
@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.FILTER, Finish.REFUSAL])
async def test_no_call_of_a_cut_answer_runs_whatever_its_client_says(
    make_agent: MakeAgent, office: Office, door: str, finish: Finish
) -> None:
    def make(model: Any = None, **options: Any) -> Any:
        return make_agent(model and Cut(model, finish), **options)

    result = await DOORS[door](make, "note", {"text": "x"}, CLERK)

    assert result.code == "cut_off"
    assert not office.done


@pytest.mark.parametrize("door", BY_MODELS)
async def test_a_call_in_words_is_words(make_agent: MakeAgent, office: Office, door: str) -> None:
    """The protocol of text is off: the model quotes a call, and then makes another one."""
    quoted = '{"action": "note", "text": "x"}'

    def make(model: Any = None, **options: Any) -> Any:
        return make_agent(model and Quoting(model, quoted), **options)

    await DOORS[door](make, "look", {"name": "sky"}, CLERK)

    assert office.done == [("look", "sky")]


class Quoting:
    """A client whose every answer has a call in its words."""

    def __init__(self, model: ScriptedModel, words: str) -> None:
        self.name, self.writes_prose = model.name, True
        self._model, self._words = model, words

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        return replace(await self._model.answer(request, on_text), text=self._words)


# ── 24: what hides ───────────────────────────────────────────────────────────────────────


async def test_what_an_approver_reads_shows_what_hides_and_the_call_runs_as_it_was_sent(
    make_agent: MakeAgent, office: Office
) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="ana\u202egro.kc\u200b", amount=1).says("ok"))
    waiting = await agent.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    told = await agent.report(waiting.run_id)
    assert told is not None
    shown = escape_json(waiting.approvals[0].arguments)
    assert "⟨U+202E⟩" in shown.text
    assert shown.suspicious
    assert not {"\u202e", "\u200b"} & set(shown.text + render_report(told))

    assert isinstance(await agent.approve(waiting.approvals[0].token, by=BOSS), Answer)
    assert office.done == [("pay", "ana\u202egro.kc\u200b", 1)]
