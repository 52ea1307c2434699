"""The child process that holds the embedded engine. It is started by its path and imports nothing of placet.

Frames go both ways over stdin and stdout: four bytes of length, then JSON. The first one in
says which files to load and their hashes; the first one out says that they are loaded and
how well the child is shut in. After that, each question is answered by the engine's own
words, unread: what they mean is decided by whoever asked.

The engine is native code of a third party. So the bytes that are loaded are the bytes that
were hashed; and before any of its functions is called, the process is left with no network,
no file, no further process, and bounded memory, as far as the system lets it.
"""

import ctypes
import errno
import hashlib
import json
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Iterable
from typing import Any, BinaryIO, Final, NoReturn

HEADER: Final = struct.Struct(">I")
FRAME_BYTES: Final = 1 << 20
"""How long a frame may be, both ways."""

MEMORY_BYTES: Final = 1 << 29
"""Address space. The weights, the engine and the interpreter use about a quarter of it."""
CPU_SECONDS: Final = 30
"""Of the processor for one question, which takes less than one. The time-out of the asker comes
first; this one holds when the asker is stopped."""
NEW_TOKENS: Final = 512
ANSWER_BYTES: Final = 1 << 16

HOLDS: Final = "holds"
"""What an isolation says that is in force; any other text is why it is not."""

_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2
_MFD_CLOEXEC: Final = 1
_MFD_EXEC: Final = 0x10

_CALLS: Final = (
    0, 1, 3, 5, 7, 8, 9, 10, 11, 12,  # read write close fstat poll lseek mmap mprotect munmap brk
    13, 14, 15, 24, 25, 28, 35,  # rt_sigaction rt_sigprocmask rt_sigreturn sched_yield mremap madvise nanosleep
    39, 60, 98, 131, 186, 202,  # getpid exit getrusage sigaltstack gettid futex
    203, 204,  # sched_setaffinity sched_getaffinity
    228, 230, 231, 309, 318, 334,  # clock_gettime clock_nanosleep exit_group getcpu getrandom rseq
)  # fmt: skip
"""System calls (Linux, x86-64) that computing, memory and the two open pipes need. Any other is
answered with EPERM: no socket, no open, no exec, no clone, no kill."""
_PRLIMIT: Final = 302
"""Allowed for this process alone (first argument 0): each question sets its own limit of the processor."""


# ── shutting the process in ───────────────────────────────────────────────────────────


def confine(parent: int) -> dict[str, str]:
    """Shut this process in, as far as it can be before files are read; return what holds.

    Args:
        parent: The process that it must not outlive.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    holds = {
        "own network": _leave_network(libc),
        "no new privileges": _said(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)),
        # after the namespace: a change of credentials clears it (prctl(2))
        "dies with its parent": _said(libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)),
    }
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)
    return holds


def _leave_network(libc: ctypes.CDLL) -> str:
    """Move to a network namespace of its own, which has no interface that is up."""
    said = _said(libc.unshare(_CLONE_NEWNET))
    return said if said == HOLDS else _said(libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET))


def _said(result: int) -> str:
    return HOLDS if result == 0 else os.strerror(ctypes.get_errno())


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction)))


def filter_calls() -> str:
    """Leave this process only the system calls of `_CALLS`; return `HOLDS`, or why not.

    The filter is classic BPF over `struct seccomp_data` (seccomp(2)).
    """
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    refused, allowed, killed = 0x00050000 | errno.EPERM, 0x7FFF0000, 0x80000000
    program = [
        (load, 0, 0, 4),  # the architecture
        (equal, 1, 0, 0xC000003E),  # x86-64
        (give, 0, 0, killed),
        (load, 0, 0, 0),  # the number of the call
        (at_least, 0, 1, 0x40000000),  # the x32 numbers
        (give, 0, 0, refused),
        (equal, 0, 4, _PRLIMIT),
        (load, 0, 0, 16),  # its first argument
        (equal, 0, 1, 0),
        (give, 0, 0, allowed),
        (give, 0, 0, refused),
        *((equal, len(_CALLS) - place, 0, number) for place, number in enumerate(_CALLS)),
        (give, 0, 0, refused),
        (give, 0, 0, allowed),
    ]
    instructions = (_Instruction * len(program))(*(_Instruction(*line) for line in program))
    libc = ctypes.CDLL(None, use_errno=True)
    return _said(
        libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(_Program(len(program), instructions)), 0, 0)
    )


# ── the engine ────────────────────────────────────────────────────────────────────────


class Engine:
    """The native engine. It keeps one conversation for the whole process, which is reset for every question.

    Args:
        library: The open shared library.
        weights: What it computes with; kept, because the engine reads it in place.
    """

    def __init__(self, library: ctypes.CDLL, weights: bytes) -> None:
        library.needle_load.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
        library.needle_init.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p]
        library.needle_complete.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
        library.needle_reset.restype = None
        library.needle_last_error.restype = ctypes.c_char_p
        self._library = library
        self._weights = weights
        self._answer = ctypes.create_string_buffer(ANSWER_BYTES)
        self._told: tuple[str, str] | None = None

    def load(self) -> bool:
        """Load the weights with one thread.

        The engine starts as many threads as it sees processors, and they wait for one another
        by spinning: beside other work, two of them take ten times the processor time of one.
        It counts by the affinity, as nothing else can be read any more.
        """
        everywhere = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(everywhere)})
        try:
            return bool(self._library.needle_load(self._weights, len(self._weights)) >= 0)
        finally:
            os.sched_setaffinity(0, everywhere)

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return what the engine says to a question, or why it says nothing."""
        told = (question["system"], question["tools"])
        if told != self._told:
            self._told = None
            if self._library.needle_init(_c_text(told[0]), _c_text(told[1]), None) < 0:
                return {"refused": self._last_error() or "the engine does not take these tools"}
            self._told = told
        self._library.needle_reset()
        if self._library.needle_complete(_c_text(question["text"]), NEW_TOKENS, self._answer, ANSWER_BYTES) < 0:
            return {"refused": self._last_error() or self._answer.value.decode("utf-8", "replace")[:500]}
        return {"answer": self._answer.value.decode("utf-8", "replace")}

    def _last_error(self) -> str:
        said: bytes = self._library.needle_last_error() or b""
        return said.decode("utf-8", "replace")[:500]


def _c_text(text: str) -> bytes:
    """Return a text that C reads to its end."""
    return text.replace("\0", " ").encode("utf-8", "replace")


def read_checked(path: str, digest: str) -> bytes:
    """Return what a file holds.

    Raises:
        ValueError: It holds something else than what was tried and pinned.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - one import less in a process that should be small
        content = file.read()
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"{path!r} is not the file that was pinned by its SHA-256")
    return content


def open_library(content: bytes) -> ctypes.CDLL:
    """Return a shared library made of these very bytes, whatever has become of the file since."""
    try:
        descriptor = os.memfd_create("engine", _MFD_CLOEXEC | _MFD_EXEC)
    except OSError:  # a kernel before 6.3 does not know the second flag, and needs none
        descriptor = os.memfd_create("engine", _MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    try:
        return ctypes.CDLL(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


# ── the conversation with the parent ──────────────────────────────────────────────────


def read_frame(stream: BinaryIO) -> dict[str, Any] | None:
    """Return the next frame, or None at the end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (size,) = HEADER.unpack(header)
    content = stream.read(size) if size <= FRAME_BYTES else b""
    if len(content) < size:
        return None
    frame: dict[str, Any] = json.loads(content)
    return frame


def write_frame(stream: BinaryIO, frame: dict[str, Any]) -> None:
    """Write a frame and send it off."""
    content = json.dumps(frame).encode()
    stream.write(HEADER.pack(len(content)) + content)
    stream.flush()


def _serve(questions: BinaryIO, answers: BinaryIO, holds: dict[str, str]) -> None:
    start = read_frame(questions)
    if start is None:
        return None
    try:
        library = open_library(read_checked(start["library"], start["library_sha256"]))
        engine = Engine(library, read_checked(start["weights"], start["weights_sha256"]))
    except (OSError, ValueError) as error:
        return write_frame(answers, {"refused": str(error)})
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    holds["few system calls"] = filter_calls()
    if not engine.load():
        return write_frame(answers, {"refused": "the engine does not take its weights"})
    write_frame(answers, {"ready": holds})
    while (question := read_frame(questions)) is not None:
        used = int(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used + CPU_SECONDS, resource.RLIM_INFINITY))
        write_frame(answers, engine.answer(question))
    return None


def main(arguments: Iterable[str]) -> NoReturn:
    """Serve until the parent closes its end.

    Args:
        arguments: The id of the parent's process.
    """
    (parent,) = arguments
    questions, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the engine may print does not get between two frames
    _serve(questions, answers, confine(int(parent)))
    os._exit(0)  # no destructor of the engine runs


if __name__ == "__main__":
    main(sys.argv[1:])
