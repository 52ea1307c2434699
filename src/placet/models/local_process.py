"""The child process that holds the embedded engine, as its parent sees it. Blocking: it runs on a thread of its own.

The child has no environment and no file but its two pipes. Whatever goes wrong with it, it is
killed, and the next question starts a fresh one.
"""

import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, cast

from placet.errors import ModelProtocolError, ModelRequestError, ModelUnavailableError
from placet.models.local_files import LIBRARY_SHA256, WEIGHTS_SHA256, LocalFiles

PROGRAM: Final = Path(__file__).with_name("local_child.py")
HEADER: Final = struct.Struct(">I")
FRAME_BYTES: Final = 1 << 20
"""As in `local_child`, which is never imported: it is for Linux alone."""
_PATIENCE: Final = 10.0
"""Seconds until a killed child must be gone."""


class Ticket:
    """One question on its way; it can be given up from another thread."""

    __slots__ = ("given_up",)

    def __init__(self) -> None:
        self.given_up = False


class LocalProcess:
    """At most one child, started when it is first asked.

    `ask` is called by one thread at a time, and always by the same one: the kernel kills the
    child when the thread that has started it ends. The other methods may be called by any.

    Args:
        files: What the child loads.
        program: What the child runs.
    """

    def __init__(self, files: LocalFiles, program: Path = PROGRAM) -> None:
        self._files = files
        self._program = program
        self._mutex = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._asking: Ticket | None = None
        self.isolation: Mapping[str, str] = {}
        """How well the child is shut in: for each measure `"holds"`, or why it does not. Empty before the first."""

    @property
    def pid(self) -> int | None:
        """The id of the child, or None."""
        child = self._child
        return child.pid if child else None

    def ask(self, question: Mapping[str, Any], ticket: Ticket) -> str:
        """Return what the engine says.

        Args:
            question: A frame, as `local_child` reads it.
            ticket: With which the question can be given up.

        Raises:
            ModelUnavailableError: The child could not be started, has died, or the question was given up.
            ModelRequestError: The child refuses its files, or the engine the question.
            ModelProtocolError: The child says what cannot be understood.
        """
        with self._mutex:
            if ticket.given_up:
                raise ModelUnavailableError("the question was given up before the embedded model saw it")
            self._asking, child = ticket, self._child
            if child is not None and child.poll() is not None:  # it has died since the last question
                _end(child)
                self._child = child = None
        kept = False
        try:
            if child is None:
                child = self._spawn()
                self._load(child, ticket)
            said = _exchange(child, question)
            answer = _text(said["answer"]) if "answer" in said else None
            refused = _text(said["refused"]) if answer is None else ""
            kept = True
        except KeyError as error:
            raise ModelProtocolError("the process of the embedded model says neither yes nor no") from error
        finally:
            self._settle(child, kept=kept)
        if answer is None:
            raise ModelRequestError(f"the embedded model refuses the question: {refused}")
        return answer

    def give_up(self, ticket: Ticket) -> None:
        """Stop waiting for a question: the child is killed if it works on this one, and left alone if not."""
        with self._mutex:
            ticket.given_up = True
            if self._asking is ticket and self._child is not None:
                self._child.kill()  # whoever asks reads the end of it, and settles the rest
                self._child = None

    def kill(self) -> None:
        """End the child, if there is one."""
        with self._mutex:
            child, self._child = self._child, None
            if child is not None and self._asking is not None:
                child.kill()
                return
        if child is not None:
            _end(child)

    def _settle(self, child: "subprocess.Popen[bytes] | None", *, kept: bool) -> None:
        """Let go of a question. A child that failed or was killed meanwhile is ended here, where it was read from."""
        with self._mutex:
            self._asking = None
            if child is None or (kept and self._child is child):
                return
            if self._child is child:
                self._child = None
        _end(child)

    def _spawn(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-I", "-S", "-B", str(self._program), str(os.getpid())]
        try:
            child = subprocess.Popen(  # noqa: S603 - our own program, by this interpreter
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError as error:
            raise ModelUnavailableError(f"the process of the embedded model cannot be started: {error}") from error
        with self._mutex:
            self._child = child
        return child

    def _load(self, child: "subprocess.Popen[bytes]", ticket: Ticket) -> None:
        if ticket.given_up:
            raise ModelUnavailableError("the question was given up while the embedded model started")
        said = _exchange(
            child,
            {
                "library": str(self._files.library),
                "library_sha256": LIBRARY_SHA256,
                "weights": str(self._files.weights),
                "weights_sha256": WEIGHTS_SHA256,
            },
        )
        if "refused" in said:
            raise ModelRequestError(f"the embedded model cannot be loaded: {_text(said['refused'])}")
        self.isolation = {str(measure): str(state) for measure, state in dict(said["ready"]).items()}


def _exchange(child: "subprocess.Popen[bytes]", frame: Mapping[str, Any]) -> dict[str, Any]:
    content = json.dumps(frame).encode()
    if len(content) > FRAME_BYTES:
        raise ModelRequestError(f"the question is too long for the embedded model: {len(content)} bytes")
    assert child.stdin is not None  # noqa: S101 - both are pipes, see `_spawn`
    assert child.stdout is not None  # noqa: S101
    try:
        _write(child.stdin, HEADER.pack(len(content)) + content)
        (size,) = HEADER.unpack(_read(child.stdout, HEADER.size))
        if size > FRAME_BYTES:
            raise ModelProtocolError(f"the process of the embedded model announces {size} bytes")
        said: object = json.loads(_read(child.stdout, size))
    except (OSError, EOFError) as error:
        raise ModelUnavailableError(
            "the process of the embedded model has died; the next question starts another"
        ) from error
    except ValueError as error:
        raise ModelProtocolError("the process of the embedded model says what is no JSON") from error
    if not isinstance(said, dict):
        raise ModelProtocolError("the process of the embedded model says what is no object")
    return cast("dict[str, Any]", said)


def _write(stream: IO[bytes], content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) :]


def _read(stream: IO[bytes], size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        piece = stream.read(size - len(content))
        if not piece:
            raise EOFError
        content += piece
    return bytes(content)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ModelProtocolError("the process of the embedded model says what is no text")
    return value


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    with suppress(subprocess.TimeoutExpired):  # it is in the kernel's hands then
        child.wait(_PATIENCE)
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            stream.close()
