"""Tools that run in a process of their own, and what may go wrong there."""

import os
import re
import signal
import subprocess
import time
from datetime import date
from pathlib import Path

from placet.errors import FatalToolError, ToolError
from placet.tools.context import Context
from placet.tools.output import ToolOutput
from placet.tools.tool import tool
from placet.values.principal import EVERYONE

CALLS: list[str] = []
"""What this process has been called for: never more than one call, if each has a process of its own."""


@tool(effect="read", roles={EVERYONE}, isolation="process", timeout=10)
def describe(day: date, names: list[str]) -> dict[str, str]:
    """Say what came, and from where."""
    print("what a tool prints is no answer")  # noqa: T201 - it must not disturb the answer
    CALLS.append("describe")
    return {"day": f"{day:%d.%m.%Y}", "names": ",".join(names), "pid": str(os.getpid()), "calls": str(len(CALLS))}


@tool(effect="read", roles={EVERYONE}, isolation="process", timeout=10)
async def whoami(context: Context[object]) -> str:
    """Say on whose behalf this is."""
    return f"{context.principal.id} {sorted(context.principal.roles)} {context.call_key}"


@tool(effect="read", roles={EVERYONE}, isolation="process", timeout=10)
def use_dependencies(context: Context[object]) -> str:
    """Use what stays in the parent."""
    return str(context.deps.database)  # type: ignore[attr-defined]  # what it is about


@tool(effect="read", roles={EVERYONE}, isolation="process", timeout=1.5)
def hang(how: str, note: str) -> str:
    """Hang, and note who hangs."""
    child = subprocess.Popen(["sleep", "60"])  # noqa: S607 - wherever it stands
    Path(note).write_text(f"{os.getpid()} {child.pid}")
    match how:
        case "sleep":
            time.sleep(60)
        case "spin":
            while True:
                pass
        case "regex":  # holds the interpreter's lock, in C
            re.match(r"(a+)+$", "a" * 60 + "b")
        case "deaf":
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(60)
    return "it did not hang"


@tool(effect="write", roles={EVERYONE}, waiver="a test", isolation="process", timeout=1.5)
def write_and_hang(note: str) -> str:
    """Write, and hang."""
    Path(note).write_text(str(os.getpid()))
    time.sleep(60)
    return "it did not hang"


@tool(effect="write", roles={EVERYONE}, waiver="a test", isolation="process", timeout=10)
def write_slowly(note: str) -> str:
    """Write a note, and take a while over it."""
    time.sleep(0.3)
    Path(note).write_text("written")
    return "written"


@tool(effect="read", roles={EVERYONE}, isolation="process", timeout=10, max_memory_bytes=64 * 1024 * 1024)
def take_memory(megabytes: int) -> str:
    """Take memory."""
    return f"{len(bytearray(megabytes * 1024 * 1024))} bytes"


@tool(effect="write", roles={EVERYONE}, waiver="a test", isolation="process", timeout=10)
def fail(how: str) -> str:
    """Fail in some way."""
    match how:
        case "knowing":
            raise ToolError("city not found: 'Oslp'", hint="use the English name", detail="the map is of 1990")
        case "fatal":
            raise FatalToolError("the vault is open")
        case "surprise":
            raise ValueError("db password=hunter2")
        case "exit":
            os._exit(3)
        case "signal":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "system exit":
            raise SystemExit(0)
    return "it did not fail"


@tool(effect="read", roles={EVERYONE}, isolation="process", timeout=10)
def give_both() -> ToolOutput:
    """Give words to the model, data to the hooks, and a detail to the audit log."""
    return ToolOutput("words", is_error=True, data={"rows": 3}, detail="a line of the log, token=hunter2")


@tool(effect="read", roles={EVERYONE}, isolation="process", timeout=10, max_result_bytes=1000)
def give_much() -> str:
    """Give too much."""
    return "x" * 100_000


ISOLATED = (
    describe, whoami, use_dependencies, hang, write_and_hang, write_slowly, take_memory, fail, give_both, give_much,
)  # fmt: skip
