"""The five steps of function calling over each wire, with two cities asked at once."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from five_steps import QUESTION, take_five_steps
from placet.models.anthropic_messages import AnthropicMessages
from placet.models.openai_chat import OpenAIChat
from placet.models.openai_responses import OpenAIResponses
from placet.ports import ModelClient
from tests.models.wire import WireServer, completion, message, response, whole

WORDS = "It is 4 °C in Oslo and 19 °C in Rome."
CITIES = ("Oslo", "Rome")
DOCS = Path(__file__).parents[2] / "docs" / "models.md"


def played(kind: str) -> list[dict[str, Any]]:
    """Two parallel calls, then the words, as each provider sends them."""
    if kind == "chat":
        calls = [
            {"id": f"c{n}", "function": {"name": "get_temperature", "arguments": json.dumps({"city": city})}}
            for n, city in enumerate(CITIES)
        ]
        return [completion({"content": None, "tool_calls": calls}, "tool_calls"), completion({"content": WORDS})]
    if kind == "messages":
        used = [
            {"type": "tool_use", "id": f"c{n}", "name": "get_temperature", "input": {"city": city}}
            for n, city in enumerate(CITIES)
        ]
        return [message(used, "tool_use"), message([{"type": "text", "text": WORDS}])]
    items = [
        {
            "type": "function_call",
            "id": f"f{n}",
            "call_id": f"c{n}",
            "name": "get_temperature",
            "arguments": json.dumps({"city": city}),
        }
        for n, city in enumerate(CITIES)
    ]
    words = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": WORDS}]}
    return [response(items), response([words])]


@pytest.mark.parametrize("kind", ["chat", "messages", "responses"])
async def test_the_five_steps_are_taken(wire: WireServer, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    wire.plays(*map(whole, played(kind)))
    clients: dict[str, OpenAIChat | AnthropicMessages | OpenAIResponses] = {
        "chat": OpenAIChat("m", base_url=f"{wire.url}/v1"),
        "messages": AnthropicMessages("m", base_url=wire.url),
        "responses": OpenAIResponses("m", base_url=f"{wire.url}/v1"),
    }
    model: ModelClient = clients[kind]

    assert await take_five_steps(model) == WORDS

    printed = capsys.readouterr().out
    assert [line[0] for line in printed.splitlines()] == ["1", "2", "2", "3", "3", "4", "5"]
    assert f"```text\n{printed}```" in DOCS.read_text("utf-8"), "as the docs show it"
    first, second = (json.dumps(seen.body, ensure_ascii=False) for seen in wire.requests)
    assert QUESTION in first
    assert "get_temperature" in first
    assert second.index("c0") < second.index("c1")
    for client in clients.values():
        await client.close()


@pytest.mark.slow
async def test_the_example_runs_as_a_program_with_the_id_of_any_model(wire: WireServer) -> None:
    wire.plays(*map(whole, played("chat")))
    script = Path(__file__).parents[2] / "examples" / "five_steps.py"
    model = f"openai-compatible:any@{wire.url}/v1"

    program = await asyncio.create_subprocess_exec(
        sys.executable, str(script), model, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    out, err = await asyncio.wait_for(program.communicate(), 60)

    assert program.returncode == 0, err.decode()
    assert out.decode().splitlines()[-1] == f"5. the model says: {WORDS}"
    assert [line[0] for line in out.decode().splitlines()] == ["1", "2", "2", "3", "3", "4", "5"]
