"""Screen: where a command writes to. Data goes to standard output, everything else to standard error.

Nothing that came from outside is printed with a character that cannot be seen: a door is
the last place where a terminal escape in an order's note can be stopped.
"""

import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TextIO

from rich.console import Console
from rich.text import Text

from placet.cli.exits import Failure
from placet.values.json import Json
from placet.words.escape import escape_for_person

_UNSEEN: Final = re.compile(r"[^\x20-\x7e]")
INDENT: Final = "  "


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """Standard output and standard error, as this command is to use them.

    Attributes:
        out: Standard output.
        err: Standard error.
        as_json: Whether standard output is for programs: JSON and nothing else.
        quiet: Whether progress is left out.
    """

    out: Console
    err: Console
    as_json: bool
    quiet: bool

    @property
    def width(self) -> int | None:
        """How many cells a line of standard output has; None where nobody looks at it."""
        return self.out.width if self.out.is_terminal else None

    @property
    def indent(self) -> str:
        """What stands before a line of standard output: nothing where nobody looks at it."""
        return INDENT if self.out.is_terminal else ""

    @property
    def asks(self) -> bool:
        """Whether somebody is there who can be asked: never without a terminal."""
        return not self.as_json and self.err.is_terminal and sys.stdin.isatty()

    def say(self, text: str) -> None:
        """Print what was asked for: lines that may hold anything, made visible."""
        for line in escape_for_person(text, lines=True).text.split("\n"):
            self.prose(Text(f"{self.indent}{line}" if line else ""), len(self.indent))

    def line(self, text: Text) -> None:
        """Print a line of standard output, already safe to look at."""
        self.out.print(text, soft_wrap=True)

    def prose(self, text: Text, hang: int) -> None:
        """Print a line of standard output; on a terminal it is wrapped between words.

        Not for arguments that somebody decides about: wrapping swallows blanks.

        Args:
            text: Already safe to look at.
            hang: By how many cells the lines after the first are indented.
        """
        for line in _wrapped(self.out, text, hang):
            self.line(line)

    def lines(self, texts: Iterable[Text]) -> None:
        """Print lines of standard output, already safe to look at."""
        for text in texts:
            self.line(text)

    def note(self, text: Text) -> None:
        """Print a line of standard error, already safe to look at. With `quiet`, nothing."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: Text) -> None:
        """Print a line of standard error, whether or not progress is wanted."""
        self.err.print(text, soft_wrap=True)

    def alarm(self, text: str, style: str, mark: str = "") -> None:
        """Print lines of standard error that may hold anything, made visible, whether or not progress is wanted."""
        for line in escape_for_person(text, lines=True).text.split("\n"):
            for part in _wrapped(self.err, Text(f"{INDENT}{mark}{line}", style=style), len(INDENT + mark)):
                self.warn(part)

    def tell(self, line: str) -> None:
        """Print a line in which the application tells the person something."""
        for part in _wrapped(self.err, Text(f"{INDENT}{escape_for_person(line).text}", style="dim"), len(INDENT)):
            self.note(part)

    def data(self, value: Json) -> None:
        """Print a JSON value on one line of standard output."""
        self.out.file.write(json_line(value) + "\n")
        self.out.file.flush()

    def fail(self, failure: Failure) -> None:
        """Print why the command did not do what was asked."""
        if self.as_json:
            self.data({"error": {"code": failure.code, "message": failure.message, "fix": failure.fix}})
            return
        message, fix = escape_for_person(failure.message).text, escape_for_person(failure.fix).text
        told = [Text(f"{INDENT}✗ {message}", style="red"), *([Text(f"{INDENT}  {fix}", style="dim")] if fix else [])]
        for line in (line for text in told for line in _wrapped(self.err, text, 2 * len(INDENT))):
            self.warn(line)


def open_screen(*, as_json: bool, quiet: bool) -> Screen:
    """Return the screen of this process.

    `NO_COLOR` takes colour and every other style away (no-color.org).
    """
    for stream in (sys.stdout, sys.stderr):
        _never_fail(stream)
    return Screen(_console(sys.stdout), _console(sys.stderr), as_json, quiet)


def _console(stream: TextIO) -> Console:
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Console(
        file=stream, markup=False, highlight=False, emoji=False, color_system=None if plain else "auto", no_color=plain
    )


def _wrapped(console: Console, text: Text, hang: int) -> list[Text]:
    """Return the lines of a text, wrapped between words where somebody looks at it."""
    if not console.is_terminal or text.cell_len <= console.width:
        return [text]
    first, *more = text.wrap(console, console.width - hang)
    return [first, *(Text(" " * hang).append_text(line) for line in more)]


def _never_fail(stream: TextIO) -> None:
    """Make a stream write what its encoding does not have as an escape, instead of breaking the command."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def json_line(value: Any) -> str:
    """Return a value as JSON on one line, with letters as they are and everything invisible as an escape."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() and escape_for_person(character).text == character:
        return character
    return json.dumps(character)[1:-1]
