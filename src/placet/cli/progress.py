"""Progress: what happens in a run, as sentences that a person reads while it happens."""

from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from rich.cells import cell_len
from rich.status import Status
from rich.text import Text

from placet.cli.door import Door
from placet.cli.layout import GAP, call, call_of_text, fit
from placet.cli.screen import Screen
from placet.runtime.site import Emit
from placet.values.call import OK
from placet.values.decision import REASONS, Reason
from placet.values.event import CallFinished, CallProposed, CallStarted, Event, RunEnded, TextDelta
from placet.words.catalog import say
from placet.words.escape import escape_for_person
from placet.words.messages import DECISIONS, FAILURES, REFUSALS, RUNNING_TOOL, THINKING

_SENTENCE_CELLS: Final = 48
"""The column in which the details of a call begin, where a line has room for all of it."""
_RUNNING_CELLS: Final = 70

T = TypeVar("T")


class Progress:
    """Tells a person what happens, on standard error: a line for each call, and a spinner meanwhile.

    Args:
        screen: Where to print.
        language: Of the person.
        on_text: Told each piece of the answer as it comes; None leaves them alone.
    """

    def __init__(self, screen: Screen, language: str, on_text: Callable[[str], None] | None = None) -> None:
        self._screen = screen
        self._language = language
        self._on_text = on_text
        self._running: dict[str, CallStarted] = {}
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if self._screen.err.is_terminal and not self._screen.quiet:
            self._status = self._screen.err.status(self._doing(), spinner="dots")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def __call__(self, event: Event) -> None:
        """Take in what has happened."""
        match event:
            case TextDelta(text=text) if self._on_text is not None:
                self._stop()
                self._on_text(text)
            case CallProposed():
                self._update()
            case CallStarted():
                self._running[event.key] = event
                self._update()
            case CallFinished():
                self._finished(event)
            case RunEnded():
                self._stop()
            case _:
                pass

    def _finished(self, event: CallFinished) -> None:
        started = self._running.pop(event.key, None)
        width = self._screen.err.width if self._screen.err.is_terminal else None
        for line in call_lines(started, event, self._language, width):
            self._screen.note(line)
        self._update()

    def _update(self) -> None:
        if self._status is not None:
            self._status.update(self._doing())

    def _stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _doing(self) -> Text:
        said = [_sentence(started, self._language) for started in self._running.values()]
        return Text(
            fit(GAP.join(said), _RUNNING_CELLS).rstrip() if said else say(THINKING, self._language), style="dim"
        )


def call_lines(started: CallStarted | None, finished: CallFinished, language: str, width: int | None) -> list[Text]:
    """Return what is said of a call that has ended, on one line if it has room there.

    Of a call that was refused it says no more than its requester may know: not by which rule.

    Args:
        started: How it began; None when it was refused.
        finished: How it ended.
        language: Of the person.
        width: Cells of a line, or None for lines of any length.
    """
    took = _duration(finished.milliseconds)
    if started is None:
        head, details = call(finished.tool, {}).removesuffix("()"), [_failure(finished.code, language), took]
    else:
        made = call_of_text(started.tool, started.arguments)
        head = escape_for_person(started.sentence).text or made
        word = (
            say(DECISIONS["allow"], language, rule=started.rule)
            if finished.code == OK
            else _failure(finished.code, language)
        )
        details = [word, took] if head == made else [made, word, took]
    good = finished.code == OK
    mark, style = ("▸", "cyan") if good else ("✗", "red")
    first = Text.assemble((f"{GAP}{mark} ", style), head)
    rest = f"{GAP} ".join(details)
    room = _SENTENCE_CELLS if width is None else min(_SENTENCE_CELLS, width - 4 - 3 - cell_len(rest))
    if width is None or cell_len(head) <= room:
        first.append(" " * (3 + max(0, room - cell_len(head))))
        first.append(rest, style="dim")
        return [first]
    return [first, Text(f"{GAP * 3}{rest}", style="dim")]


def _sentence(started: CallStarted, language: str) -> str:
    sentence = escape_for_person(started.sentence).text
    return sentence or say(RUNNING_TOOL, language, tool=started.tool)


def _failure(code: str, language: str) -> str:
    """Return what a person is told of a code that is not `ok`, with the code itself."""
    sentence = FAILURES.get(code) or (REFUSALS[Reason(code)] if code in REASONS else FAILURES["internal_error"])
    return f"{say(sentence, language)} ({code})"


def _duration(milliseconds: float) -> str:
    if milliseconds < 1:
        return "<1 ms"
    return f"{milliseconds:.0f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:.0f} s"


def watch(
    door: Door, begin: Callable[[Emit], Coroutine[Any, Any, T]], on_text: Callable[[str], None] | None = None
) -> T:
    """Return what comes of some work of the agent, and tell the person what happens meanwhile.

    Args:
        door: Where the work is done.
        begin: Makes the work, given who watches it.
        on_text: Told each piece of the answer as it comes.
    """
    with Progress(door.screen, door.language, on_text) as progress:
        return door.wait(begin(progress))
