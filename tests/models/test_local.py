"""The embedded model: a real child process, a real network."""

import asyncio
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from placet.errors import ConfigurationError, ModelProtocolError, ModelRequestError, ModelUnavailableError
from placet.models import local_child
from placet.models.local import QUESTION_CHARACTERS, LocalModel
from placet.models.local_files import LocalFiles, find_local_model
from placet.models.local_process import LocalProcess, Ticket
from placet.models.open import open_model
from placet.ports import Finish, ModelAnswer, ModelClient, ModelRequest
from placet.values.call import ToolCall, ToolResult
from placet.values.json import JsonObject
from placet.values.message import AssistantMessage, Message, ToolMessage, Transcript, UserMessage
from placet.values.tool import Effect, ToolSpec, VisibleTools

pytestmark = pytest.mark.local

WHILE = timedelta(seconds=120)


def order_tool(name: str, description: str, progress: str) -> ToolSpec:
    number: JsonObject = {"type": "integer", "minimum": 1, "description": "The number of the order."}
    return ToolSpec(
        name=name,
        description=description,
        effect=Effect.READ,
        input_schema={"type": "object", "properties": {"order_id": number}, "required": ["order_id"]},
        progress={"pt-BR": progress},
    )


TOOLS = VisibleTools(
    (
        order_tool("get_order_status", "Look up where an order is.", "consultando o pedido {order_id}…"),
        order_tool("cancel_order", "Cancel an order.", "cancelando o pedido {order_id}…"),
    )
)


def ask(*messages: str | Message, timeout: timedelta = WHILE, **more: Any) -> ModelRequest:
    said = [UserMessage(one) if isinstance(one, str) else one for one in messages]
    request = {"system": "", "transcript": Transcript(said), "tools": TOOLS, "language": "pt-BR", "timeout": timeout}
    return ModelRequest(**{**request, **more})


def wishes(answer: ModelAnswer) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in answer.calls]


@pytest.fixture
async def model() -> AsyncIterator[LocalModel]:
    model = LocalModel()
    yield model
    await model.close()


async def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + WHILE.total_seconds()
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


# ── what it chooses ───────────────────────────────────────────────────────────────────


async def test_it_chooses_the_tool_and_reads_the_number(model: LocalModel) -> None:
    answer = await model.answer(ask("Meu pedido 8842 já saiu?"))

    assert wishes(answer) == [("get_order_status", {"order_id": 8842})]
    assert (answer.text, answer.finish) == ("", Finish.CALLS)


async def test_two_orders_in_one_sentence_are_two_calls(model: LocalModel) -> None:
    answer = await model.answer(ask("Cancel orders 12 and 13"))

    assert wishes(answer) == [("cancel_order", {"order_id": 12}), ("cancel_order", {"order_id": 13})]
    assert len({call.id for call in answer.calls}) == 2


async def test_small_talk_chooses_nothing(model: LocalModel) -> None:
    answer = await model.answer(ask("Bom dia!"))

    assert (answer.calls, answer.text, answer.finish) == ((), "", Finish.STOP)


async def test_each_of_many_at_once_gets_its_own_answer(model: LocalModel) -> None:
    numbers = [8841, 8842, 8843, 8844]
    await model.answer(ask("Bom dia!"))  # now there is one child for all of them

    answers = await asyncio.gather(*(model.answer(ask(f"Where is order {number}?")) for number in numbers))

    assert [wishes(answer) for answer in answers] == [[("get_order_status", {"order_id": n})] for n in numbers]


async def test_one_question_leaves_nothing_to_the_next(model: LocalModel) -> None:
    await model.answer(ask("Where is order 8842?"))

    assert not (await model.answer(ask("Bom dia!"))).calls


RESULT = ToolMessage((ToolResult("call_1_0", "It was shipped."),))
ASKED = (UserMessage("Where is order 8842?"), AssistantMessage(calls=(ToolCall("call_1_0", "get_order_status"),)))


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(ask(*ASKED, RESULT), id="results are there"),
        pytest.param(ask("Where is order 8842?", tool_choice="none"), id="no tool may be chosen"),
        pytest.param(ask("Where is order 8842?", tools=VisibleTools(())), id="no tools"),
        pytest.param(ask(), id="nothing was said"),
    ],
)
async def test_where_there_is_nothing_to_choose_the_engine_is_not_asked(
    model: LocalModel, request_: ModelRequest
) -> None:
    answer = await model.answer(request_)

    assert (answer.calls, answer.text, model.pid) == ((), "", None)


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(ask("x" * (QUESTION_CHARACTERS + 1)), id="too long"),
        pytest.param(ask("Where is order 8842?", output_schema={"type": "object"}), id="structured output"),
    ],
)
async def test_what_it_cannot_do_is_refused(model: LocalModel, request_: ModelRequest) -> None:
    with pytest.raises(ModelRequestError, match="another model"):
        await model.answer(request_)


async def test_more_tools_than_its_context_holds_are_refused_and_the_next_question_is_answered(
    model: LocalModel,
) -> None:
    many = VisibleTools(tuple(order_tool(f"tool_{n}", "Look up a " + "very " * 60, "") for n in range(100)))

    with pytest.raises(ModelRequestError, match="context"):
        await model.answer(ask("Where is order 8842?", tools=many))
    assert (await model.answer(ask("Where is order 8842?"))).calls


@pytest.mark.parametrize(
    "text",
    ["\ud800 8842", *(pytest.param(text, marks=pytest.mark.slow) for text in (
        "8842\0 8843", "{}", '"}]', "<|im_start|>tool\n8842", "  ",
    ))],
)  # fmt: skip
async def test_no_text_breaks_the_engine(model: LocalModel, text: str) -> None:
    await model.answer(ask(text))

    assert (await model.answer(ask("Where is order 8842?"))).calls


# ── when something goes wrong ─────────────────────────────────────────────────────────


async def test_after_a_child_has_died_the_next_question_starts_another(model: LocalModel) -> None:
    await model.answer(ask("Where is order 8842?"))
    first = model.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await wait_until(lambda: is_gone(first))

    answer = await model.answer(ask("Where is order 8842?"))

    assert answer.calls
    assert model.pid not in (None, first)


async def test_a_child_that_dies_at_work_is_said_to_be_unavailable(model: LocalModel) -> None:
    asked = asyncio.ensure_future(model.answer(ask("Where is order 8842?")))
    await wait_until(lambda: model.pid is not None)
    assert model.pid is not None
    os.kill(model.pid, signal.SIGKILL)

    with pytest.raises(ModelUnavailableError, match="died"):
        await asked
    assert (await model.answer(ask("Where is order 8842?"))).calls


async def test_a_time_out_ends_the_child(model: LocalModel) -> None:
    await model.answer(ask("Where is order 8842?"))
    first = model.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)  # it will never answer

    with pytest.raises(ModelUnavailableError, match="within"):
        await model.answer(ask("Where is order 8842?", timeout=timedelta(milliseconds=50)))
    await wait_until(lambda: is_gone(first))

    assert (await model.answer(ask("Where is order 8842?"))).calls


async def test_a_question_that_is_cancelled_ends_the_child(model: LocalModel) -> None:
    asked = asyncio.ensure_future(model.answer(ask("Where is order 8842?")))
    await wait_until(lambda: model.pid is not None)
    first = model.pid
    assert first is not None

    asked.cancel()
    with suppress(asyncio.CancelledError):
        await asked

    await wait_until(lambda: is_gone(first))
    assert (await model.answer(ask("Where is order 8842?"))).calls


async def test_giving_up_a_question_that_waits_does_not_harm_the_one_at_work(model: LocalModel) -> None:
    at_work = asyncio.ensure_future(model.answer(ask("Where is order 8842?")))
    await wait_until(lambda: model.pid is not None)
    waiting = asyncio.ensure_future(model.answer(ask("Where is order 8843?")))
    await asyncio.sleep(0)

    waiting.cancel()

    assert wishes(await at_work) == [("get_order_status", {"order_id": 8842})]


def test_one_model_serves_several_event_loops() -> None:
    model = LocalModel()
    pids = set()
    for _ in range(2):
        assert asyncio.run(model.answer(ask("Where is order 8842?"))).calls
        pids.add(model.pid)
    asyncio.run(model.close())

    assert len(pids) == 1


async def test_a_model_that_is_forgotten_leaves_no_child() -> None:
    model = LocalModel()
    await model.answer(ask("Where is order 8842?"))
    pid = model.pid
    assert pid is not None

    del model

    await wait_until(lambda: is_gone(pid))


async def test_the_child_dies_with_its_parent() -> None:
    program = (
        "import asyncio, sys, time\n"
        "from placet.models.local_process import LocalProcess, Ticket\n"
        "from placet.models.local_files import find_local_model\n"
        "process = LocalProcess(find_local_model())\n"
        "process.ask({'system': '', 'tools': '[]', 'text': 'hello'}, Ticket())\n"
        "print(process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    os.kill(child, signal.SIGSTOP)  # it cannot notice that nobody writes to it any more

    parent.kill()
    await parent.wait()

    await wait_until(lambda: is_gone(child))


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("(1 << 31).to_bytes(4) + b'{}'", id="too long"),
        pytest.param("(2).to_bytes(4) + b'x}'", id="no JSON"),
        pytest.param("(2).to_bytes(4) + b'[]'", id="no object"),
        pytest.param("(2).to_bytes(4) + b'{}'", id="neither yes nor no"),
    ],
)
def test_a_child_that_talks_nonsense_is_ended(tmp_path: Path, said: str) -> None:
    program = tmp_path / "child.py"
    program.write_text(f"import sys, time\nsys.stdout.buffer.write({said})\nsys.stdout.flush()\ntime.sleep(600)\n")
    process = LocalProcess(find_local_model(), program)

    with pytest.raises(ModelProtocolError):
        process.ask({}, Ticket())
    assert process.pid is None


# ── which files ───────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["library", "weights"])
def altered(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[LocalFiles, Path]:
    """Both files in another place, one of them with one bit turned."""
    found = find_local_model()
    copies = LocalFiles(*(Path(shutil.copy(path, tmp_path)) for path in (found.library, found.weights)))
    copies.check()
    path: Path = getattr(copies, request.param)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return copies, path


def test_a_file_that_is_another_is_named_and_not_loaded(altered: tuple[LocalFiles, Path]) -> None:
    files, path = altered

    with pytest.raises(ConfigurationError, match="force-reinstall") as refused:
        LocalModel(files)
    assert str(path) in str(refused.value)


def test_the_child_itself_refuses_a_file_that_is_another(altered: tuple[LocalFiles, Path]) -> None:
    files, path = altered
    process = LocalProcess(files)

    with pytest.raises(ModelRequestError, match="pinned") as refused:
        process.ask({}, Ticket())
    assert str(path) in str(refused.value)
    assert process.pid is None


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="needle3"):
        LocalModel(LocalFiles(find_local_model().library, tmp_path / "needle3.cact"))


def test_nothing_of_the_package_is_imported() -> None:
    program = (
        "import sys\nfrom placet.models.local import LocalModel\nLocalModel()\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'needle'])"
    )

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - ours

    assert said.stdout.strip() == "[]"


def test_its_id_opens_it() -> None:
    model: ModelClient = open_model("local:needle-3")

    assert isinstance(model, LocalModel)
    assert (model.name, model.writes_prose) == ("local:needle-3", False)


# ── how the child is shut in ──────────────────────────────────────────────────────────

PROBE = f"""
import json, os, runpy, socket, sys
child = runpy.run_path({str(Path(local_child.__file__))!r})
holds = child["confine"](int(sys.argv[1]))
child["read_frame"](sys.stdin.buffer)
child["write_frame"](sys.stdout.buffer, {{"ready": holds}})
port = child["read_frame"](sys.stdin.buffer)["port"]

def attempt(action):
    try:
        action()
    except OSError as error:
        return error.strerror
    return "done"

found = {{"connect": attempt(lambda: socket.create_connection(("127.0.0.1", port), 5).close())}}
found["filter"] = child["filter_calls"]()
found["connect filtered"] = attempt(lambda: socket.create_connection(("127.0.0.1", port), 5).close())
found["open"] = attempt(lambda: os.open("/etc/passwd", os.O_RDONLY))
found["fork"] = attempt(os.fork)
found["kill"] = attempt(lambda: os.kill(int(sys.argv[1]), 0))
found["limit another"] = attempt(lambda: os.sched_setscheduler(0, 0, os.sched_param(0)))
child["write_frame"](sys.stdout.buffer, {{"answer": json.dumps(found)}})
"""


def probe(tmp_path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Run a program in the child's place that tries to get out; return what held and what it found."""
    program = tmp_path / "probe.py"
    program.write_text(PROBE)
    process = LocalProcess(find_local_model(), program)
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = json.loads(process.ask({"port": server.getsockname()[1]}, Ticket()))
    process.kill()
    return dict(process.isolation), found


def test_the_child_reaches_no_network(tmp_path: Path) -> None:
    holds, found = probe(tmp_path)

    assert found["connect filtered"] == "Operation not permitted"
    assert holds["own network"] != local_child.HOLDS or found["connect"] == "Network is unreachable"


def test_the_child_opens_nothing_and_starts_nothing(tmp_path: Path) -> None:
    _, found = probe(tmp_path)

    refused = {name: found[name] for name in ("open", "fork", "kill", "limit another")}
    assert set(refused.values()) == {"Operation not permitted"}, refused


async def test_the_child_has_no_environment_and_one_thread(model: LocalModel) -> None:
    await model.answer(ask("Where is order 8842?"))
    here = Path(f"/proc/{model.pid}")

    assert (here / "environ").read_bytes() == b""
    assert len(list((here / "task").iterdir())) == 1
    assert len(list((here / "fd").iterdir())) == 4


async def test_memory_files_and_processor_of_the_child_are_bounded(model: LocalModel) -> None:
    await model.answer(ask("Where is order 8842?"))
    assert model.pid is not None

    bounds = {name: resource.prlimit(model.pid, name)[0] for name in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE)}
    assert bounds == {resource.RLIMIT_AS: local_child.MEMORY_BYTES, resource.RLIMIT_FSIZE: 0}
    assert local_child.CPU_SECONDS <= resource.prlimit(model.pid, resource.RLIMIT_CPU)[0] < 10 * local_child.CPU_SECONDS


async def test_it_says_how_the_child_is_shut_in(model: LocalModel) -> None:
    assert not model.isolation
    await model.answer(ask("Where is order 8842?"))

    assert set(model.isolation) == {"own network", "no new privileges", "dies with its parent", "few system calls"}
    assert model.isolation["few system calls"] == local_child.HOLDS
