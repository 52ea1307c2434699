"""Whatever a tool gives back or raises, the run goes on, is recorded, reported and can be stored."""

import dataclasses
import datetime as dt
import decimal
import enum
import json
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from placet.agent.snapshot import dump_run, load_run
from placet.errors import ToolError
from placet.models.scripted import ScriptedModel
from placet.runtime.hooks import Hooks
from placet.runtime.sinks import ListSink
from placet.tools.output import ToolOutput
from placet.tools.parameters import Loaded
from placet.tools.tool import tool
from placet.values.call import ToolResult
from placet.values.limits import RESULT_BYTES
from placet.values.message import ToolMessage
from placet.values.outcome import Answer
from placet.values.principal import EVERYONE
from placet.wiring import Agent
from tests.runtime.conftest import CLERK, MakeAgent
from tests.tools.cases import CASES, ids_of


class Colour(enum.Enum):
    RED = "red"


def nested(deep: int) -> Any:
    value: Any = "bottom"
    for _ in range(deep):
        value = [value]
    return value


def raising(error: BaseException) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


class UnspeakableError(ValueError):
    """Breaks when it is looked at."""

    def __str__(self) -> str:
        raise RuntimeError("never")

    __repr__ = __str__


class UnspeakableToolError(ToolError):
    """Breaks when its words are looked at."""

    def __init__(self) -> None:
        super().__init__("x")
        self.message = UnspeakableError()  # type: ignore[assignment]  # odd on purpose


def of_case(case_id: str) -> Callable[[], Any]:
    names = {"datetime": dt, "uuid": uuid, "Path": Path, "dataclasses": dataclasses}
    return lambda: eval(CASES[case_id]["input"]["py_expr"], names)  # noqa: S307 - the cases are ours


ODD = "half \ud800, NUL \x00, bell \x07, escape \x1b[2J, bidi \u202e, line \u2028"

CASE_IDS = [*ids_of("tool-output", "return_value"), *ids_of("value-encoding", "return_value")]
ENDINGS: dict[str, Callable[[], Any]] = {
    **{case_id: of_case(case_id) for case_id in CASE_IDS},
    "an odd text": lambda: ODD,
    "odd texts inside": lambda: {ODD: [ODD, {ODD}]},
    "bytes": lambda: b"\x00\xff",
    "a decimal that is none": lambda: decimal.Decimal("sNaN"),
    "an endless number": lambda: 10**5000,
    "a complex number": lambda: 1j,
    "an enum as a key": lambda: {Colour.RED: Colour.RED},
    "a naive time": lambda: dt.datetime(2031, 5, 6),  # noqa: DTZ001 - odd on purpose
    "a pit": lambda: nested(5_000),
    "an exception as a value": lambda: ValueError("db password=hunter2"),
    "a class": lambda: Colour,
    "a function": lambda: raising,
    "an odd output": lambda: ToolOutput({ODD: b"\xff"}, data=object()),
    "an error of anything": lambda: ToolOutput([1, {2}], is_error=True, data={"secret": ODD}),
    "an output in an output": lambda: ToolOutput(ToolOutput("inner")),
    "an odd complaint": raising(ToolError(ODD, hint=ODD)),
    "a huge complaint": raising(ToolError("é" * 1_000_000, hint="h" * 1_000_000)),
    "an empty complaint": raising(ToolError("")),
    "an odd exception": raising(ValueError(ODD)),
    "a huge exception": raising(ValueError("x" * 1_000_000)),
    "an exception without words": raising(RuntimeError()),
    "the end of an iteration": raising(StopIteration(3)),
    "the end of an async iteration": raising(StopAsyncIteration()),
    "an end of the process": raising(SystemExit(3)),
    "an exception that cannot be looked at": raising(UnspeakableError()),
    "a complaint that cannot be looked at": raising(UnspeakableToolError()),
    "a complaint that is no text": raising(ToolError(404, hint={"try": ODD})),  # type: ignore[arg-type]  # odd on purpose
    "a group": raising(ExceptionGroup("several", [ValueError(ODD), OSError("y")])),
}


@pytest.fixture(params=["memory", "a file"])
async def make(request: pytest.FixtureRequest, make_agent: MakeAgent, tmp_path: Path) -> AsyncIterator[MakeAgent]:
    made: list[Agent] = []

    def build(*arguments: Any, **options: Any) -> Agent:
        if request.param == "a file":
            options["store"] = f"sqlite:///{tmp_path / 'placet.db'}"
        made.append(make_agent(*arguments, **options))
        return made[-1]

    yield build
    for agent in made:
        await agent.close()


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
@pytest.mark.parametrize("how", ENDINGS)
async def test_a_run_goes_on_whatever_a_tool_gives_back_or_raises(make: MakeAgent, how: str, is_async: bool) -> None:
    def end() -> Any:
        return ENDINGS[how]()

    async def end_later() -> Any:
        return ENDINGS[how]()

    made = tool(effect="read", roles={EVERYONE}, name="end", description="End.")(end_later if is_async else end)
    seen: list[Any] = []
    hooks = Hooks(after_tool=lambda _use, result, data: seen.append((result, data)))
    agent = make(ScriptedModel().calls("end").says("went on"), tools=[made], hooks=[hooks])

    outcome = await agent.ask("Go", principal=CLERK)

    assert isinstance(outcome, Answer), outcome
    assert outcome.text == "went on"
    (result,) = next(said for said in outcome.history if isinstance(said, ToolMessage)).results
    check_told(result)
    assert len(seen) == 1
    report = await agent.report(outcome.run_id)
    for written in (json.dumps(report), result.content, *[repr(line) for line in (result, report)]):
        assert "hunter2" not in written
        written.encode()
    stored = await agent.store.load_run(outcome.run_id)
    assert stored is not None
    run = load_run(stored.snapshot, stored.journal)
    assert load_run(dump_run(run), ()) == run
    assert (await agent.store.verify()).fault is None


def check_told(result: ToolResult) -> None:
    told = result.content
    assert told
    assert not told.isspace()
    assert len(told.encode()) <= RESULT_BYTES
    assert not [sign for sign in ("\x00", "\x1b", "\x07", "\ud800") if sign in told]


async def test_a_huge_exception_is_kept_short_in_the_audit_log(make: MakeAgent, heard: ListSink) -> None:
    made = tool(effect="read", roles={EVERYONE}, name="fail", description="Fail.")(ENDINGS["a huge exception"])

    await make(ScriptedModel(), tools=[made]).call("fail", {}, principal=CLERK)

    assert max(len(entry.body) for entry in heard.entries) < 10_000


async def test_a_huge_complaint_keeps_its_beginning_and_says_how_much_it_was(make: MakeAgent) -> None:
    def fail() -> str:
        raise ToolError("the city is not known: " + "é" * 1_000_000, hint="try another")

    made = tool(effect="read", roles={EVERYONE}, description="Fail.")(fail)

    result = await make(ScriptedModel(), tools=[made]).call("fail", {}, principal=CLERK)

    assert isinstance(result, ToolResult)
    assert result.content.startswith("the city is not known: é")
    assert result.content.endswith("(try another)")
    assert "2000023 bytes" in result.content
    assert result.cut_from == 2_000_023


async def test_what_a_loader_complains_of_is_safe_and_short(make: MakeAgent) -> None:
    def load(_arguments: Any, _context: Any) -> None:
        raise ToolError(ODD + "é" * 1_000_000, hint="h" * 1_000_000)

    @tool(effect="read", roles={EVERYONE}, resource=load, authorise=lambda *_: True)
    def find(order: Loaded[str]) -> str:
        """Find."""
        return order

    result = await make(ScriptedModel(), tools=[find]).call("find", {}, principal=CLERK)

    assert isinstance(result, ToolResult)
    check_told(result)
    assert len(result.content.encode()) < 5_000


async def test_an_async_write_that_exits_is_unknown_and_takes_nobody_along(make: MakeAgent) -> None:
    @tool(effect="write", roles={EVERYONE}, waiver="a test")
    async def leave() -> str:
        """Leave."""
        raise SystemExit(3)

    outcome = await make(ScriptedModel().calls("leave").says("went on"), tools=[leave]).ask("Go", principal=CLERK)

    assert isinstance(outcome, Answer)
    (result,) = next(said for said in outcome.history if isinstance(said, ToolMessage)).results
    assert result.code == "internal_error"
    assert "not known whether it had an effect" in result.content
