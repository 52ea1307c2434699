"""A terminal of 100 columns in which the command runs, as before a person."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 30.0
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Terminal:
    """A process with a terminal of its own.

    Attributes:
        pid: The process.
        master: The other end of its terminal.
        seen: All that it has printed so far.
        looked: How much of it, without colours, was waited for.
    """

    pid: int
    master: int
    seen: str = ""
    looked: int = 0

    @staticmethod
    def open(arguments: list[str], folder: Path, environment: Mapping[str, str]) -> "Terminal":
        """Start `placet` in a terminal."""
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(folder)
            command = [sys.executable, "-m", "placet", *arguments]
            os.execve(sys.executable, command, {**environment, "TERM": "xterm-256color"})  # noqa: S606 - our own command
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        return Terminal(pid, master)

    def wait_for(self, text: str) -> str:
        """Return what was printed since the text waited for before, until this one, without colours."""
        end = time.monotonic() + PATIENCE
        while (place := self.plain.find(text, self.looked)) < 0:
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"{text!r} did not come; there was {self.seen[-2000:]!r}")
        start, self.looked = self.looked, place + len(text)
        return self.plain[start : self.looked]

    def type(self, line: str) -> None:
        """Type a line and press return."""
        os.write(self.master, f"{line}\n".encode())

    def press(self, key: bytes) -> None:
        """Press a key, as `b"\\x03"` for Ctrl-C."""
        os.write(self.master, key)

    def end(self) -> int:
        """Return the exit code, once it has ended."""
        end = time.monotonic() + PATIENCE
        while self._read(end - time.monotonic()):
            pass
        os.close(self.master)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    @property
    def plain(self) -> str:
        """All that was printed, without colours."""
        return _CONTROL.sub("", self.seen)

    def _read(self, seconds: float) -> bool:
        if seconds <= 0 or not select.select([self.master], [], [], seconds)[0]:
            raise AssertionError(f"nothing more came; there was {self.seen[-2000:]!r}")
        try:
            data = os.read(self.master, 65536)
        except OSError:  # Linux says so when the other end is closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)
