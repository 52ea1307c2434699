"""ScriptedModel says what it was told, to whoever asks, and nothing else."""

import asyncio
from datetime import timedelta

import pytest

from placet.errors import ConfigurationError, ModelProtocolError, ModelUnavailableError
from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, ModelClient, ModelRequest
from placet.values.call import ToolResult
from placet.values.message import AssistantMessage, Message, ToolMessage, Transcript, UserMessage
from placet.values.run import Usage
from placet.values.tool import VisibleTools

NO_TOOLS = VisibleTools(())


def ask(*messages: Message) -> ModelRequest:
    return ModelRequest(system="", transcript=Transcript(messages or (UserMessage("hello"),)), tools=NO_TOOLS)


async def test_it_is_a_model_client() -> None:
    client: ModelClient = ScriptedModel().says("hello")

    assert (await client.answer(ask())).text == "hello"


async def test_steps_are_played_in_order() -> None:
    model = ScriptedModel().calls("check_stock", product="arroz").says("Temos 42 unidades.")

    first, second = await model.answer(ask()), await model.answer(ask())

    assert [(call.name, call.arguments) for call in first.calls] == [("check_stock", '{"product": "arroz"}')]
    assert first.finish is Finish.CALLS
    assert (second.text, second.calls, second.finish) == ("Temos 42 unidades.", (), Finish.STOP)


async def test_an_argument_may_have_any_name() -> None:
    model = ScriptedModel().calls("find", {"from": 1}, tool=2, arguments=3, id=4, self=5)

    (call,) = (await model.answer(ask())).calls

    assert call.arguments == '{"from": 1, "tool": 2, "arguments": 3, "id": 4, "self": 5}'


async def test_several_calls_are_made_in_one_turn() -> None:
    model = ScriptedModel().calls_all([("a", {"x": 1}), ("b", {})]).says("so").also_calls("c").also_calls("d")

    first, second = await model.answer(ask()), await model.answer(ask())

    assert [call.name for call in first.calls] == ["a", "b"]
    assert (second.text, [call.name for call in second.calls]) == ("so", ["c", "d"])


async def test_call_ids_do_not_repeat_in_one_history() -> None:
    model = ScriptedModel(cycle=True).calls("a").also_calls("b")
    transcript = Transcript([UserMessage("go")])
    ids: list[str] = []
    for _ in range(3):
        answer = await model.answer(ModelRequest(system="", transcript=transcript, tools=NO_TOOLS))
        ids += [call.id for call in answer.calls]
        results = ToolMessage(tuple(ToolResult(call.id, "ok") for call in answer.calls))
        transcript = transcript.append(AssistantMessage(calls=answer.calls)).append(results)

    assert len(set(ids)) == 6


async def test_raw_arguments_stay_as_they_are() -> None:
    model = ScriptedModel().calls_raw("pay", '{"amount": 5', id="c1", fault="cut")

    (call,) = (await model.answer(ask())).calls

    assert (call.id, call.arguments, call.fault) == ("c1", '{"amount": 5', "cut")


async def test_an_exhausted_script_says_so() -> None:
    model = ScriptedModel().says("once")
    await model.answer(ask())

    with pytest.raises(ModelProtocolError, match="at its end after 1 answers"):
        await model.answer(ask())


async def test_a_scripted_error_is_raised() -> None:
    model = ScriptedModel().fails(ModelUnavailableError("busy")).says("back")

    with pytest.raises(ModelUnavailableError, match="busy"):
        await model.answer(ask())
    assert (await model.answer(ask())).text == "back"


async def test_a_function_sees_the_question() -> None:
    async def later(request: ModelRequest) -> ModelAnswer:
        await asyncio.sleep(0)
        return ModelAnswer(text=f"{len(request.transcript)} later")

    model = ScriptedModel().does(lambda request: ModelAnswer(text=f"{len(request.transcript)} now")).does(later)

    assert [(await model.answer(ask())).text for _ in range(2)] == ["1 now", "1 later"]


async def test_text_streams_in_pieces() -> None:
    pieces: list[str] = []

    await ScriptedModel().says("Temos 42 \n unidades.").answer(ask(), pieces.append)

    assert pieces == ["Temos ", "42 \n ", "unidades."]


async def test_one_script_serves_interleaved_runs() -> None:
    model = ScriptedModel(per_run=True, delay=timedelta(milliseconds=1)).calls("a").calls("b").says("done")

    async def run() -> list[str]:
        transcript, said = Transcript([UserMessage("go")]), []
        while True:
            answer = await model.answer(ModelRequest(system="", transcript=transcript, tools=NO_TOOLS))
            said.append(answer.text or answer.calls[0].name)
            if not answer.calls:
                return said
            results = ToolMessage(tuple(ToolResult(call.id, "ok") for call in answer.calls))
            transcript = transcript.append(AssistantMessage(calls=answer.calls)).append(results)

    runs = await asyncio.gather(*(run() for _ in range(200)))

    assert all(said == ["a", "b", "done"] for said in runs)


async def test_requests_are_remembered() -> None:
    model = ScriptedModel().says("hello")
    question = ask()

    await model.answer(question)

    assert model.requests == (question,)
    assert model.fresh().requests == ()


async def test_a_fresh_copy_starts_at_the_beginning() -> None:
    model = ScriptedModel(usage=Usage(input_tokens=7)).says("one").says("two")
    await model.answer(ask())

    answer = await model.fresh().answer(ask())

    assert (answer.text, answer.usage.input_tokens, model.position) == ("one", 7, 1)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda: ScriptedModel().also_calls("a"), id="nothing before"),
        pytest.param(lambda: ScriptedModel().fails(ModelUnavailableError("x")).also_calls("a"), id="after an error"),
        pytest.param(lambda: ScriptedModel().calls_all([]), id="no calls"),
        pytest.param(lambda: ScriptedModel().calls("a", x=float("nan")), id="not JSON"),
        pytest.param(lambda: ScriptedModel().calls("a", x=object()), id="an object"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused(write: "object") -> None:
    assert callable(write)
    with pytest.raises(ConfigurationError):
        write()
