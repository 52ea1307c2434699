"""What is built wrong is said when it is built, with the name and the mend."""

from typing import Any, cast

import pytest
from pydantic import BaseModel, Field

from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.values.outcome import Answer
from placet.workflow import AgentStage, FunctionStage, Loop, Parallel, Sequence, Workflow
from tests.runtime.conftest import CLERK
from tests.workflow.conftest import Draft, MakeNamed, MakeWorkflow


class Needs(BaseModel):
    """A state that cannot begin by itself."""

    question: str
    amount: int


def stay(state: Draft) -> None:
    del state


def condition(state: Draft) -> bool:
    return state.approved


def until(context: Any, state: Draft) -> bool:
    del context, state
    return True


def test_an_answer_needs_a_field_that_is_there(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match="'txt', which Draft has not; did you mean 'text'"):
        make_workflow(AgentStage(named("a", ScriptedModel()), into="txt"))


def test_a_field_that_can_take_no_answer_is_refused(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match="'log', which is neither a text nor an object"):
        make_workflow(AgentStage(named("log", ScriptedModel())))


def test_a_question_names_fields_that_are_there(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match=r"'\{txt\}', which is no field of Draft"):
        make_workflow(AgentStage(named("text", ScriptedModel()), ask="Review {txt}"))


@pytest.mark.parametrize("text", ["{plan", "plan}", "{plan.x}"])
def test_a_question_with_a_stray_brace_is_refused(text: str, named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match="a brace itself is written"):
        make_workflow(AgentStage(named("text", ScriptedModel()), ask=text))


def test_an_answer_does_not_say_what_is_redacted(make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match="which is redacted"):
        make_workflow(stay, answer="it is {plan}", redact={"plan"})


def test_only_fields_of_the_state_are_redacted(make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match=r"redact of workflow 'flow' names \['email'\]"):
        make_workflow(stay, redact={"email"})


def test_two_stages_of_one_name_are_refused(make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match="two stages called 'stay'"):
        make_workflow(stay, stay)


def test_two_agents_of_one_name_are_refused(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    one, two = named("a", ScriptedModel()), named("a", ScriptedModel())

    with pytest.raises(ConfigurationError, match="two agents of one workflow are called 'a'"):
        make_workflow(Sequence([AgentStage(one, into="text")]), AgentStage(two, into="text"))
    with pytest.raises(ConfigurationError, match="two of the agents to nest are called 'a'"):
        make_workflow(AgentStage("a", into="text"), agents=[one, two])


def test_a_stage_names_an_agent_that_is_there(make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match="no agent 'text' for stage 'text'"):
        make_workflow(Loop(AgentStage("text"), until=until, max_iterations=1))


async def test_a_stage_may_name_its_agent(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    flow = make_workflow(AgentStage("text"), agents=[named("text", ScriptedModel().says("x"))])

    assert isinstance(await flow.ask("Hi", principal=CLERK), Answer)


def test_the_state_is_a_pydantic_model(make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match="is a pydantic model, not <class 'dict'>"):
        make_workflow(stay, state=dict)


def test_a_state_must_be_able_to_begin(make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot begin: \['amount'\] have no defaults"):
        make_workflow(stay, state=Needs)
    make_workflow(stay, state=Needs, start=lambda question: Needs(question=question, amount=1))


async def test_a_workflow_answers_with_its_state_alone(make_workflow: MakeWorkflow) -> None:
    with pytest.raises(ConfigurationError, match="leave output=… out"):
        await make_workflow(stay).ask("Hi", principal=CLERK, output=Draft)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Sequence([]), "sequence 'sequence' has no stages"),
        (lambda: Parallel([]), "parallel 'parallel' has no stages"),
        (lambda: Loop(stay, until=until, max_iterations=0), "does nothing; give at least 1"),
        (lambda: Loop(stay, until=cast("Any", condition), max_iterations=1), r"must take \(context, state\)"),
        (
            lambda: Loop(stay, until=until, max_iterations=1, when_exhausted="panic"),
            "'panic' is none of 'stop', 'go on'",
        ),
        (lambda: FunctionStage(lambda: None, name="f"), r"'f' must take \(state\) or \(context, state\)"),
        (lambda: FunctionStage(stay, name="a/b"), "'a/b' cannot name a stage"),
        (lambda: AgentStage(42), "needs an agent, a workflow or the name of one, not 42"),
        (lambda: Sequence([42]), "42 is no stage"),
        (lambda: Sequence([Draft]), "is no stage"),
    ],
)
def test_a_stage_that_can_be_none_says_why(build: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build()


async def test_a_state_with_aliases_and_limits_is_read_by_its_own_names() -> None:
    class Aliased(BaseModel):
        question: str = Field(alias="q", default="")
        amount: int = Field(alias="a", default=0, ge=0)

    def add(state: Aliased) -> None:
        state.amount += 1

    flow = Workflow("flow", state=Aliased, stages=[add], store="memory:")
    outcome = await flow.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert (outcome.output.question, outcome.output.amount) == ("Hi", 1)
