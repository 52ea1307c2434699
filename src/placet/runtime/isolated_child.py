"""The child process of one isolated call: it finds the tool, bounds itself, runs the call, and says how it ended.

Started by `placet.runtime.isolated` with the number of a socket. It is told first which tool it
is for; the call comes later, and is its only one. When the socket closes, the parent is gone
or has given the call up, and the child ends itself and everything that it has started.
"""

import asyncio
import json
import os
import resource
import signal
import sys
import threading
from datetime import datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from placet.errors import FatalToolError, ToolDefinitionError, ToolError
from placet.runtime.isolated import written_down
from placet.tools.context import Context
from placet.tools.home import at_home
from placet.tools.tool import Tool
from placet.values.decision import Deny
from placet.values.principal import Principal

_CPU_MARGIN = 5
"""Seconds of every processor beyond the timeout, after which the kernel ends a child whose parent is stopped."""


class NoDependencies:
    """Stands for `context.deps`, which stay in the parent."""

    def __getattr__(self, name: str) -> NoReturn:
        raise ToolDefinitionError(
            f"context.deps.{name} stays in the parent process: a tool with isolation='process' "
            "opens what it needs itself, or runs as isolation='thread'"
        )


def bound(memory_bytes: int, seconds: int) -> None:
    """Bound what the process may take from now on: address space beyond what it has, processor time, no core file."""
    used = _address_space()
    _lower(resource.RLIMIT_AS, used + memory_bytes)
    _lower(resource.RLIMIT_CPU, (seconds + _CPU_MARGIN) * (os.cpu_count() or 1))
    _lower(resource.RLIMIT_CORE, 0)


def _lower(what: int, limit: int) -> None:
    _, hard = resource.getrlimit(what)
    least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(what, (least, least))


def _address_space() -> int:
    statm = Path("/proc/self/statm")
    if not statm.exists():  # not on Linux: the bound then counts what the interpreter has as well
        return 0
    return int(statm.read_text().split()[0]) * resource.getpagesize()


def run(tool: Tool, call: dict[str, Any]) -> dict[str, Any]:
    """Return how one call ends, as JSON can hold it."""
    try:
        arguments = tool.reader.read(call["arguments"])
        if isinstance(arguments, Deny):  # the same text was valid in the parent
            return {"raised": f"the arguments are not valid in the tool's process: {arguments.message}"}
        ended = tool.execute(arguments.value, None, _context(call["context"]))
        return {"returned": written_down(tool.output.shape(asyncio.run(_wait(ended)) if tool.is_async else ended))}
    except ToolError as error:
        return {"tool_error": error.message, "hint": error.hint, "detail": error.detail}
    except FatalToolError as error:
        return {"fatal": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever the tool raises is its ending
        return {"raised": f"{type(error).__name__}: {error}"}


async def _wait(awaitable: Any) -> Any:
    return await awaitable


def _context(known: dict[str, Any]) -> Context[Any]:
    principal = Principal(**known.pop("principal"))
    now = datetime.fromisoformat(known.pop("now"))
    return Context(deps=NoDependencies(), principal=principal, now=now, **known)


def _end_with_the_parent(connection: Connection) -> None:
    try:
        connection.recv_bytes(1)
    except (OSError, EOFError):
        os.killpg(0, signal.SIGKILL)


def main(handle: int) -> None:
    """Serve one call."""
    os.set_inheritable(handle, False)
    connection = Connection(handle)
    try:
        told = json.loads(connection.recv_bytes())
        tool = at_home(told["home"])
        if not isinstance(tool, Tool):
            sys.exit(f"there is no tool at {told['home']}")
        bound(told["memory_bytes"], told["seconds"])
        call = json.loads(connection.recv_bytes())
    except EOFError:  # nobody needed it
        return
    threading.Thread(target=_end_with_the_parent, args=(connection,), daemon=True).start()
    said = run(tool, call)
    sys.stdout.flush()
    sys.stderr.flush()
    connection.send_bytes(json.dumps(said).encode())
    signal.pause()  # the parent ends it, with whatever it has started


if __name__ == "__main__":
    main(int(sys.argv[1]))
