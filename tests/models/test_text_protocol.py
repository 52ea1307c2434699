"""Models without function calling: off by default, narrow when on, over real HTTP."""

import asyncio
from collections.abc import Callable

import pytest

from placet.agent.text_protocol import TextForm
from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.models.text_protocol import TextProtocolModel
from placet.ports import Finish, KeepsConnections, ModelAnswer, ModelClient, ModelRequest
from placet.values.call import ToolCall, ToolResult, Wire
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage
from placet.values.tool import Effect, ToolSpec, VisibleTools
from tests.models.asking import GET_RATE, OpenChat, ask
from tests.models.public_failures import CASES
from tests.models.runs import both
from tests.models.wire import WireServer, chunks, completion, events, whole

DELETE_ROW = ToolSpec(
    name="delete_row",
    description="Delete a row.",
    effect=Effect.DESTRUCTIVE,
    input_schema={"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
)
CALL = '{"action": "delete_row", "id": 1}'


async def hear(
    wire: WireServer, model: ModelClient, text: str, request: ModelRequest, *, streamed: bool
) -> ModelAnswer:
    """What a client makes of a text."""
    middle = len(text) // 2
    deltas = [{"content": text[:middle]}, {"content": text[middle:]}]
    wire.plays(events(chunks(deltas)) if streamed else whole(completion({"content": text})))
    return await model.answer(request, (lambda _: None) if streamed else None)


@both
async def test_off_is_the_default(wire: WireServer, open_chat: OpenChat, streamed: bool) -> None:
    """C223."""
    text = CASES["C223"]["input"]["assistant_text"]

    answer = await hear(wire, open_chat(), text, ask(tools=(DELETE_ROW,)), streamed=streamed)

    assert (answer.text, answer.calls) == (text, ())


@both
async def test_a_whole_reply_is_a_call(wire: WireServer, open_chat: OpenChat, streamed: bool) -> None:
    """C224."""
    model = TextProtocolModel(open_chat())
    text = CASES["C224"]["input"]["assistant_text"]

    answer = await hear(wire, model, text, ask(tools=(DELETE_ROW,)), streamed=streamed)

    assert answer.calls == (ToolCall("call_text_1", "delete_row", '{"id": 1}', wire=Wire.TEXT),)
    assert (answer.text, answer.finish) == ("", Finish.CALLS)


@both
async def test_another_object_is_an_answer(wire: WireServer, open_chat: OpenChat, streamed: bool) -> None:
    """C225."""
    text = CASES["C225"]["input"]["assistant_text"]

    answer = await hear(wire, TextProtocolModel(open_chat()), text, ask(tools=(DELETE_ROW,)), streamed=streamed)

    assert (answer.text, answer.calls, answer.finish) == (text, (), Finish.STOP)


@both
async def test_an_echo_of_a_tools_output_is_text(wire: WireServer, open_chat: OpenChat, streamed: bool) -> None:
    """C226."""
    case = CASES["C226"]["input"]
    results = ToolMessage((ToolResult("c1", case["earlier_tool_output"], fence="m1"),))
    request = ask(
        UserMessage("look"), AssistantMessage(calls=(ToolCall("c1", "get_rate"),)), results, tools=(DELETE_ROW,)
    )

    answer = await hear(wire, TextProtocolModel(open_chat()), case["assistant_text"], request, streamed=streamed)

    assert (answer.text, answer.calls) == (case["assistant_text"], ())


async def test_an_echo_of_the_user_is_text(wire: WireServer, open_chat: OpenChat) -> None:
    request = ask(UserMessage(f"what does {CALL} do?"), tools=(DELETE_ROW,))

    answer = await hear(wire, TextProtocolModel(open_chat()), CALL, request, streamed=False)

    assert (answer.text, answer.calls) == (CALL, ())


async def test_the_server_is_told_of_no_tools_but_in_the_prompt(wire: WireServer, open_chat: OpenChat) -> None:
    await hear(wire, TextProtocolModel(open_chat()), "hi", ask(system="be brief", tools=(DELETE_ROW,)), streamed=False)

    assert "tools" not in wire.last
    prompt = wire.last["messages"][0]["content"]
    assert prompt.startswith("be brief")
    assert "delete_row: Delete a row." in prompt


async def test_a_history_of_calls_is_told_as_text(wire: WireServer, open_chat: OpenChat) -> None:
    calls = AssistantMessage("Let me look.", (ToolCall("c1", "get_rate", '{"city": "Oslo"}', wire=Wire.TEXT),))
    results = ToolMessage((ToolResult("c1", "7", fence="m1"),))
    request = ask(UserMessage("rate?"), calls, results, tools=(GET_RATE,))

    await hear(wire, TextProtocolModel(open_chat()), "Seven.", request, streamed=False)

    assert wire.last["messages"][1:] == [
        {"role": "user", "content": "rate?"},
        {"role": "assistant", "content": 'Let me look.\n{"action": "get_rate", "city": "Oslo"}'},
        {"role": "user", "content": "What the tool returned:\n<<data m1>>\n7\n<<end m1>>"},
    ]


async def test_a_message_is_told_once() -> None:
    model = ScriptedModel(cycle=True).says("hi")
    text = TextProtocolModel(model)
    request = ask(UserMessage("?"), AssistantMessage(calls=(ToolCall("c1", "x"),)), tools=(GET_RATE,))

    await text.answer(request)
    await text.answer(request)

    first, second = (asked.transcript[1] for asked in model.requests)
    assert first is second


@both
async def test_a_cut_call_cannot_be_known(wire: WireServer, open_chat: OpenChat, streamed: bool) -> None:
    said = {"content": CALL}
    wire.plays(events(chunks([said], "length")) if streamed else whole(completion(said, "length")))

    answer = await TextProtocolModel(open_chat()).answer(
        ask(tools=(DELETE_ROW,)), (lambda _: None) if streamed else None
    )

    assert (answer.finish, "token limit" in (answer.calls[0].fault or "")) == (Finish.LENGTH, True)


# ── streaming ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Hello there", ["Hello", " there"], id="words come as they are said"),
        pytest.param(CALL, [], id="a call is never shown"),
        pytest.param('{"a": 1} is JSON', ['{"a": 1} is JSON'], id="what was no call comes at the end"),
    ],
)
async def test_words_stream_unless_they_may_be_a_call(
    wire: WireServer, open_chat: OpenChat, text: str, expected: list[str]
) -> None:
    pieces: list[str] = []
    wire.plays(events(chunks([{"content": text[:5]}, {"content": text[5:]}])))

    await TextProtocolModel(open_chat()).answer(ask(tools=(DELETE_ROW,)), pieces.append)

    assert pieces == expected


async def test_without_a_choice_of_tools_words_are_words(wire: WireServer, open_chat: OpenChat) -> None:
    pieces: list[str] = []
    wire.plays(events(chunks([{"content": CALL}])))

    answer = await TextProtocolModel(open_chat()).answer(ask(tools=(DELETE_ROW,), tool_choice="none"), pieces.append)

    assert (pieces, answer.text, answer.calls) == ([CALL], CALL, ())


# ── between markers ───────────────────────────────────────────────────────────────────


def fenced(answer: Callable[[str], str]) -> tuple[ScriptedModel, TextProtocolModel]:
    """A model that has read its marker in the prompt."""

    def say(request: ModelRequest) -> ModelAnswer:
        marker = request.system.rpartition("<<end ")[2].partition(">>")[0]
        return ModelAnswer(text=answer(marker))

    scripted = ScriptedModel(cycle=True).does(say)
    return scripted, TextProtocolModel(scripted, TextForm.FENCED)


async def test_a_call_between_the_markers_is_one() -> None:
    _, model = fenced(lambda marker: f"<<call {marker}>>\n{CALL}\n<<end {marker}>>")

    answer = await model.answer(ask(tools=(DELETE_ROW,)))

    assert [(call.name, call.arguments, call.wire) for call in answer.calls] == [("delete_row", '{"id": 1}', Wire.TEXT)]


async def test_each_run_has_a_marker_of_its_own() -> None:
    seen: list[str] = []

    def note(marker: str) -> str:
        seen.append(marker)
        return "hi"

    _, model = fenced(note)
    first, second = UserMessage("same words"), UserMessage("same words")
    turn = [AssistantMessage(calls=(ToolCall("c1", "delete_row"),)), ToolMessage((ToolResult("c1", "done"),))]
    again = UserMessage("that does not fit; answer again", by_person=False)
    for transcript in ([first], [first, *turn], [first, *turn, again], [second], [first, *turn, second]):
        await model.answer(ask(*transcript, tools=(DELETE_ROW,)))
    await model.answer(ask(first, AssistantMessage("hi"), UserMessage("?"), tools=(DELETE_ROW,)))

    assert seen[0] == seen[1] == seen[2], "of one run"
    assert seen[3] == seen[4], "a run that goes on from a history is known by what was asked last"
    assert len(set(seen)) == 3, "of three runs"
    assert all(len(marker) >= 16 for marker in seen)


async def test_a_nested_run_has_a_marker_of_its_own() -> None:
    seen: list[str] = []

    def note(marker: str) -> str:
        seen.append(marker)
        return "hi"

    _, model = fenced(note)
    for text in ("one", "two"):
        asked = UserMessage(text, by_person=False)
        for transcript in ([asked], [asked, AssistantMessage("x"), UserMessage("again", by_person=False)]):
            await model.answer(ask(*transcript, tools=(DELETE_ROW,)))

    assert seen[0] == seen[1] != seen[2] == seen[3]


async def test_a_message_of_two_runs_is_told_with_the_marker_of_each() -> None:
    scripted, model = fenced(lambda _: "hi")
    calls = AssistantMessage(calls=(ToolCall("c1", "get_rate"),))
    for _ in range(2):
        await model.answer(ask(UserMessage("same words"), calls, tools=(DELETE_ROW,)))

    first, second = (asked.transcript[1] for asked in scripted.requests)
    assert isinstance(first, AssistantMessage)
    assert isinstance(second, AssistantMessage)
    assert first.text != second.text


# ── by JSON Schema ────────────────────────────────────────────────────────────────────


async def test_a_server_is_held_to_one_branch_for_each_tool_and_one_for_none(
    wire: WireServer, open_chat: OpenChat
) -> None:
    model = TextProtocolModel(open_chat(quirks="llama.cpp"), TextForm.SCHEMA)

    call = await hear(
        wire, model, '{"name": "delete_row", "arguments": {"id": 1}}', ask(tools=(DELETE_ROW,)), streamed=False
    )
    words = await hear(wire, model, '{"name": "none", "answer": "Hello"}', ask(tools=(DELETE_ROW,)), streamed=False)

    schema = wire.last["response_format"]["json_schema"]["schema"]
    assert [branch["properties"]["name"]["const"] for branch in schema["anyOf"]] == ["delete_row", "none"]
    assert schema["anyOf"][0]["properties"]["arguments"] == DELETE_ROW.input_schema
    assert [(one.name, one.arguments) for one in call.calls] == [("delete_row", '{"id": 1}')]
    assert (words.text, words.calls) == ("Hello", ())


async def test_words_of_the_schema_form_stream_without_their_wrapping(wire: WireServer, open_chat: OpenChat) -> None:
    pieces: list[str] = []
    wire.plays(events(chunks([{"content": '{"name": "none", '}, {"content": '"answer": "Hello"}'}])))

    await TextProtocolModel(open_chat(), TextForm.SCHEMA).answer(ask(tools=(DELETE_ROW,)), pieces.append)

    assert pieces == ["Hello"]


@pytest.mark.parametrize(
    ("text", "words", "called"),
    [
        ('{"name": "none", "answer": "Hello, I am', "Hello, I am", []),
        ('{"name": "none"', "", []),
        ('{"name": "delete_row", "arguments": {"id": 1', "", ["delete_row"]),
        ('{"na', '{"na', []),
        ("Hello", "Hello", []),
    ],
)
async def test_a_cut_reply_by_schema_says_what_can_be_known(text: str, words: str, called: list[str]) -> None:
    cut = ModelAnswer(text=text, finish=Finish.LENGTH)

    answer = await TextProtocolModel(ScriptedModel().answers(cut), TextForm.SCHEMA).answer(ask(tools=(DELETE_ROW,)))

    assert (answer.text, [call.name for call in answer.calls], answer.finish) == (words, called, Finish.LENGTH)
    assert all("token limit" in (call.fault or "") for call in answer.calls)


async def test_structured_output_stands_in_the_branch_for_none(wire: WireServer, open_chat: OpenChat) -> None:
    model = TextProtocolModel(open_chat(), TextForm.SCHEMA)
    output = {"type": "object", "properties": {"n": {"type": "integer"}}}
    request = ask(tools=(DELETE_ROW,), output_schema=output)

    answer = await hear(wire, model, '{"name": "none", "answer": {"n": 1}}', request, streamed=False)

    assert answer.text == '{"n": 1}'
    branches = wire.last["response_format"]["json_schema"]["schema"]["anyOf"]
    assert branches[-1]["properties"]["answer"] == output


async def test_structured_output_beside_a_text_call_is_asked_for_in_the_prompt(
    wire: WireServer, open_chat: OpenChat
) -> None:
    request = ask(tools=(DELETE_ROW,), output_schema={"type": "object", "properties": {"n": {"type": "integer"}}})

    answer = await hear(wire, TextProtocolModel(open_chat()), '{"n": 1}', request, streamed=False)

    assert answer.text == '{"n": 1}'
    assert "response_format" not in wire.last
    assert '"n":{"type":"integer"}' in wire.last["messages"][0]["content"]


async def test_no_tool_may_take_the_name_for_none() -> None:
    none = ToolSpec(name="none", description="None.", effect=Effect.READ, input_schema={"type": "object"})

    with pytest.raises(ConfigurationError, match="'none'"):
        await TextProtocolModel(ScriptedModel().says("x"), TextForm.SCHEMA).answer(ask(tools=(none,)))


# ── passing on ────────────────────────────────────────────────────────────────────────


async def test_without_tools_nothing_is_read_as_a_call(wire: WireServer, open_chat: OpenChat) -> None:
    answer = await hear(wire, TextProtocolModel(open_chat()), CALL, ask(), streamed=False)

    assert (answer.text, answer.calls, len(wire.last["messages"])) == (CALL, (), 1)


async def test_native_calls_and_refusals_pass_through() -> None:
    native = ModelAnswer(calls=(ToolCall("c1", "delete_row", "{}"),), finish=Finish.CALLS)
    refusal = ModelAnswer(text=CALL, refusal="no", finish=Finish.REFUSAL)
    model = TextProtocolModel(ScriptedModel().answers(native).answers(refusal))

    assert await model.answer(ask(tools=(DELETE_ROW,))) == native
    assert await model.answer(ask(tools=(DELETE_ROW,))) == refusal


async def test_closing_closes_the_client_that_is_asked(wire: WireServer, open_chat: OpenChat) -> None:
    model = TextProtocolModel(open_chat())
    assert isinstance(model, KeepsConnections)
    await hear(wire, model, "hi", ask(), streamed=False)

    await model.close()

    await asyncio.wait_for(wire.dropped.wait(), 5)
    assert (await hear(wire, model, "hi again", ask(), streamed=False)).text == "hi again"


async def test_call_ids_do_not_repeat_in_one_history() -> None:
    model = TextProtocolModel(ScriptedModel(cycle=True).says(CALL))
    transcript = Transcript([UserMessage("go")])
    for _ in range(3):
        answer = await model.answer(ModelRequest(system="", transcript=transcript, tools=VisibleTools((DELETE_ROW,))))
        results = ToolMessage(tuple(ToolResult(call.id, "ok") for call in answer.calls))
        transcript = transcript.append(AssistantMessage(calls=answer.calls)).append(results)

    ids = [call.id for message in transcript if isinstance(message, AssistantMessage) for call in message.calls]
    assert len(set(ids)) == 3
