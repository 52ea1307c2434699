"""A recording is played again: to the same question the same answer."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from placet.errors import ConfigurationError, ModelProtocolError, ModelUnavailableError
from placet.models.replay import RecordingModel, ReplayModel
from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer
from placet.values.call import ToolCall, ToolResult
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage
from placet.values.run import Usage
from tests.models.asking import GET_RATE, ask

ANSWER = ModelAnswer(
    text="Let me \ud800 look.",
    calls=(ToolCall("c1", "get_rate", '{"city": "Os', "cut", provider_state={"x": 1}, note="n"),),
    finish=Finish.LENGTH,
    usage=Usage(input_tokens=3, output_tokens=2, cached_tokens=1, cost=Decimal("0.5")),
    model="m",
    provider="p",
    provider_state={"blocks": []},
)


async def test_what_was_said_is_said_again(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    recording = RecordingModel(ScriptedModel().answers(ANSWER).says("done"), path)
    first, second = ask(tools=(GET_RATE,)), ask(UserMessage("and?"))
    recorded = [await recording.answer(first), await recording.answer(second)]
    pieces: list[str] = []

    replay = ReplayModel(path)
    played = [await replay.answer(first), await replay.answer(second, pieces.append)]

    assert played == recorded
    assert played[0] == ANSWER
    assert (pieces, replay.writes_prose) == (["done"], True)


async def test_fences_and_call_ids_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"

    def asked(call_id: str, fence: str) -> Transcript:
        results = ToolMessage((ToolResult(call_id, "7", fence=fence),))
        return Transcript([UserMessage("go"), AssistantMessage(calls=(ToolCall(call_id, "get_rate"),)), results])

    await RecordingModel(ScriptedModel().says("seven"), path).answer(ask(*asked("c1", "m1")))

    assert (await ReplayModel(path).answer(ask(*asked("c2", "m2")))).text == "seven"


async def test_the_same_question_gets_its_answers_in_order(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    recording = RecordingModel(ScriptedModel().says("one").says("two"), path)
    for _ in range(2):
        await recording.answer(ask())
    replay = ReplayModel(path)

    assert [(await replay.answer(ask())).text for _ in range(3)] == ["one", "two", "two"]


async def test_another_question_is_not_answered(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    await RecordingModel(ScriptedModel().says("hi"), path).answer(ask())
    replay = ReplayModel(path)

    for other in (ask(UserMessage("?")), ask(tools=(GET_RATE,)), replace(ask(), system="x")):
        with pytest.raises(ModelProtocolError, match="record it again"):
            await replay.answer(other)


async def test_an_error_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    recording = RecordingModel(ScriptedModel().fails(ModelUnavailableError("busy")), path)

    with pytest.raises(ModelUnavailableError):
        await recording.answer(ask())

    assert not path.exists()


async def test_a_recording_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be written"):
        await RecordingModel(ScriptedModel().says("hi"), tmp_path).answer(ask())


@pytest.mark.parametrize("text", ["{broken", "{}", "[]", '{"version": 9}', '{"version": 1, "asked": "x", "said": {}}'])
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recording.jsonl"
    path.write_text(text)

    with pytest.raises(ConfigurationError, match="recording"):
        ReplayModel(path)


def test_a_missing_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="recording"):
        ReplayModel(tmp_path / "none.jsonl")
