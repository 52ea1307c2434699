"""Isolated: a tool's code in a child process of its own, which is killed for real and has bounded memory.

Each call has a child to itself and ends it, so that nothing of one call is left for the next;
another one waits, its modules imported, for the next call of the same tool. What goes over the
socket is JSON: the child's code may be anything, and none of it comes back as code.
"""

import asyncio
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, field
from typing import Any, Final

from placet.errors import ConfigurationError, FatalToolError, ToolError
from placet.runtime.execute import Ending, Raised, Returned, TimedOut, run_sync
from placet.runtime.pool import ToolThreads
from placet.tools.arguments import Arguments
from placet.tools.context import Context
from placet.tools.home import at_home
from placet.tools.output import Shaped
from placet.tools.tool import Tool
from placet.values.construction import dataclass
from placet.values.json import is_object

PROGRAM: Final = "placet.runtime.isolated_child"
_MARGIN: Final = 2.0
"""Seconds by which a thread may outlast its child: to see that it is dead, and to say so."""
_FRAME_BYTES: Final = 1 << 24
"""The longest answer that is read; a tool's own cap is far below it."""


class ProcessDied(Exception):  # noqa: N818 - the name says what has happened
    """The child has ended without an answer: killed for its memory, crashed, or left by its own code."""


def check_isolated(tool: Tool) -> None:
    """See that another process would find the tool.

    Raises:
        ConfigurationError: It would not, or this system cannot bound a process.
    """
    if os.name != "posix":
        raise ConfigurationError(f"tool {tool.name!r} has isolation='process', which needs Linux or another Unix")
    found = at_home(tool.home)
    if not isinstance(found, Tool) or found.home != tool.home:
        raise ConfigurationError(
            f"tool {tool.name!r} has isolation='process', but {tool.home} is another thing for whoever imports it: "
            "write the tool with @tool, as a function at the top level of its module, under its own name"
        )


@dataclass(frozen=True, slots=True)
class IsolatedCall:
    """One call for a child.

    Attributes:
        tool: Which tool; it has a home.
        arguments: What it gets.
        context: What it may know: all but dependencies, state and nested runs.
    """

    tool: Tool
    arguments: Arguments
    context: Context[Any]

    def frame(self) -> bytes:
        """Return what the child is told."""
        context, principal = self.context, self.context.principal
        known = {
            "principal": {"id": principal.id, "roles": sorted(principal.roles), "attributes": principal.attributes},
            "language": context.language,
            "run_id": context.run_id,
            "call_key": context.call_key,
            "idempotency_key": context.idempotency_key,
            "deadline": context.deadline,
            "version": context.version,
            "now": context.now.isoformat(),
        }
        return json.dumps({"arguments": self.arguments.text, "context": known}, default=dict).encode()


class Child:
    """A process that has been told which tool it is for, and waits for its one call.

    Args:
        tool: The tool; it has a home.
    """

    __slots__ = ("_connection", "_mutex", "_process", "_socket", "killed")

    def __init__(self, tool: Tool) -> None:
        from multiprocessing.connection import Connection  # noqa: PLC0415 - heavy, and few tools are isolated

        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", PROGRAM, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own program, by this interpreter
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            )  # fmt: skip
        self._socket = ours
        self._connection = Connection(os.dup(ours.fileno()))
        self._mutex = threading.Lock()
        self.killed = False
        spec = tool.spec
        seconds = math.ceil(spec.timeout.total_seconds())
        with suppress(OSError):  # a child that is dead already is found to be when it is asked
            self._send({"home": tool.home, "memory_bytes": spec.max_memory_bytes, "seconds": seconds})

    @property
    def pid(self) -> int:
        """Its id, which is that of its process group too."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it still waits."""
        return self._process.poll() is None

    def ask(self, frame: bytes) -> dict[str, Any]:
        """Return what it says, once.

        Raises:
            ProcessDied: It has ended, or was killed, without an answer.
        """
        try:
            self._connection.send_bytes(frame)
            said: object = json.loads(self._connection.recv_bytes(_FRAME_BYTES))
        except (OSError, EOFError, ValueError) as error:
            self.kill()
            raise ProcessDied(f"the tool's process ended with {self._process.returncode} and no answer") from error
        if not is_object(said):
            raise ProcessDied("the tool's process has said what is no object")
        return said

    def kill(self) -> None:
        """End it and everything it has started, and see that it is gone. May be called from any thread, and again."""
        with self._mutex:
            if self.killed:
                return
            self.killed = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # whoever reads from it is woken
            self._process.wait()
            self._socket.close()

    def close(self) -> None:
        """End it, and give back what it has held here. Called by the one that has asked it, or by nobody's owner."""
        self.kill()
        self._connection.close()

    def _send(self, said: Mapping[str, Any]) -> None:
        self._connection.send_bytes(json.dumps(said).encode())


@dataclass(slots=True, eq=False, weakref_slot=True)
class ToolProcesses:
    """Children for isolated tools: one for each call, and one that waits for the next call of the same tool.

    Attributes:
        waiting: The children that wait, by their tool's home and bounds.
    """

    waiting: dict[tuple[str, int, float], Child] = field(default_factory=dict[tuple[str, int, float], Child])
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        weakref.finalize(self, _end_all, self.waiting)

    async def run(self, call: IsolatedCall, threads: ToolThreads, *, finish: bool) -> Ending:
        """Return how the call ends. At its timeout the child is killed, and with it all that it has started.

        Args:
            call: The call.
            threads: Where it is waited for.
            finish: Whether its end is awaited also when the caller is cancelled.

        Raises:
            asyncio.CancelledError: The caller was cancelled, and `finish` is off; the child is dead.
        """
        seconds = call.tool.spec.timeout.total_seconds()
        attempt = _Attempt(self, call, time.monotonic() + seconds)
        try:
            ending = await run_sync(attempt.work, seconds + _MARGIN, threads, finish=finish)
        except asyncio.CancelledError:
            attempt.give_up()
            raise
        if isinstance(ending, Returned):
            told: Ending = ending.value
            return told
        attempt.give_up()
        return TimedOut(started=ending.started) if isinstance(ending, TimedOut) else ending

    def take(self, tool: Tool) -> Child:
        """Return a child for one call, and have another one wait."""
        key = (tool.home, tool.spec.max_memory_bytes, tool.spec.timeout.total_seconds())
        fresh = Child(tool)
        with self._mutex:
            ready = self.waiting.get(key)
            self.waiting[key] = fresh
        if ready is not None and ready.is_alive:
            return ready
        if ready is not None:
            ready.close()
        return Child(tool)

    def close(self) -> None:
        """End the children that wait."""
        with self._mutex:
            _end_all(self.waiting)


def _end_all(waiting: dict[tuple[str, int, float], Child]) -> None:
    while waiting:
        _, child = waiting.popitem()
        child.close()


class _Attempt:
    """One call on a thread, with the child that it has."""

    def __init__(self, processes: ToolProcesses, call: IsolatedCall, until: float) -> None:
        self._processes, self._call, self._until = processes, call, until
        self._mutex = threading.Lock()
        self._child: Child | None = None
        self._given_up = False
        self._timed_out = False

    def work(self) -> Ending:
        """Return how the call has ended; runs on a thread, and ends at the timeout."""
        left = self._until - time.monotonic()
        if left <= 0:
            return TimedOut(started=False)
        with self._mutex:
            if self._given_up:
                return TimedOut(started=False)
            child = self._child = self._processes.take(self._call.tool)
        timer = threading.Timer(left, self._time_out)
        timer.daemon = True
        timer.start()
        try:
            return _read(child.ask(self._call.frame()))
        except ProcessDied as error:
            return TimedOut() if self._timed_out else Raised(error)
        finally:
            timer.cancel()
            child.close()

    def give_up(self) -> None:
        """Kill the child, if there is one, and let none begin."""
        with self._mutex:
            self._given_up = True
            child = self._child
        if child is not None:
            child.kill()

    def _time_out(self) -> None:
        self._timed_out = True
        self.give_up()


def _read(said: Mapping[str, Any]) -> Ending:
    """Return the ending of which a child tells."""
    match dict(said):
        case {"returned": shaped} if is_object(shaped):
            written = shaped.pop("written")
            return Returned(Shaped(**shaped, written=None if written is None else str(written).encode()))
        case {"tool_error": str(message), "hint": hint, "detail": detail}:
            return Raised(ToolError(message, hint=hint, detail=detail))
        case {"fatal": str(message)}:
            return Raised(FatalToolError(message))
        case {"raised": str(message)}:
            return Raised(RuntimeError(message))
        case _:
            return Raised(ProcessDied("the tool's process has said what cannot be understood"))


def written_down(shaped: Shaped) -> dict[str, Any]:
    """Return a shaped result as JSON can hold it: what hooks are given goes along where it is JSON itself."""
    fields = asdict(shaped)
    fields["written"] = None if shaped.written is None else shaped.written.decode()
    try:
        json.dumps(shaped.data, allow_nan=False)
    except (TypeError, ValueError):
        fields["data"] = repr(shaped.data)
    return fields
