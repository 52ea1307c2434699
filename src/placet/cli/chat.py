"""`placet chat`: a conversation, with what the asker may confirm asked inline."""

import contextlib
import importlib
import sys
from collections.abc import Sequence
from typing import Final

import typer
from rich.text import Text

from placet.agent.snapshot import load_run
from placet.cli.command import Ended, Identity, command
from placet.cli.door import Door
from placet.cli.exits import Exit, Failure
from placet.cli.inline import confirm_inline
from placet.cli.layout import GAP
from placet.cli.present import present
from placet.cli.progress import watch
from placet.values.message import AssistantMessage, Message, UserMessage
from placet.values.outcome import Answer, Outcome, Stopped, Waiting
from placet.values.run import RunStatus, StopReason
from placet.words.escape import escape_for_person
from placet.words.messages import CHAT_OPENS, GOODBYE, LAST_WORDS, WHO_ANSWERED, WHO_ASKED

PROMPT: Final = "> "
QUIT: Final = ("/quit", "/exit")
HISTORY: Final = "/history"


def add_chat(app: typer.Typer) -> None:
    """Add the command to the application."""

    @command(app, "chat", identity=Identity.REQUIRED, asks_model=True)
    def chat(door: Door) -> Ended:
        """Talk with the agent. It remembers the conversation, and asks inline what you may confirm.

        `/history` shows the conversation, `/quit` or Ctrl-D ends it. Without a terminal, each line of
        standard input is a question, and nobody is asked to confirm.
        """
        return Conversation(door).hold()


class Conversation:
    """Questions and answers of one person, one after another.

    Args:
        door: Where they are asked.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._history: Sequence[Message] = ()
        self._waiting: list[str] = []
        self._ended: Ended = Exit.OK

    def hold(self) -> Ended:
        """Ask and answer until the person ends it; return how the last question ended."""
        door = self._door
        if door.screen.asks:
            with contextlib.suppress(ImportError):
                # Line editing and recall, where Python was built with it; Windows has its own.
                importlib.import_module("readline")
            door.screen.note(Text(f"{GAP}{door.say(CHAT_OPENS)}", style="dim"))
        while (line := self._read()) is not None:
            said = line.strip()
            if said in QUIT:
                break
            self._look_for_decisions()
            if said == HISTORY:
                self._show_history()
            elif said:
                self._ended = self._ask(said)
        if door.screen.asks:
            door.screen.note(Text(f"{GAP}{door.say(GOODBYE)}", style="dim"))
        return Exit.OK if door.screen.asks else self._ended

    def _read(self) -> str | None:
        """Return the next line, or None at the end of the input."""
        if not self._door.screen.asks:
            return sys.stdin.readline() or None
        try:
            return input(PROMPT)
        except EOFError:
            sys.stderr.write("\n")
            return None

    def _ask(self, question: str) -> Ended:
        door = self._door
        door.listen(question)
        spoken = Spoken(door)
        try:
            outcome = watch(
                door,
                lambda emit: door.agent.ask(
                    question, principal=door.who, history=self._history, language=door.language, emit=emit
                ),
                spoken,
            )
            outcome = confirm_inline(door, outcome)
        except KeyboardInterrupt:
            spoken.end()
            door.screen.warn(Text(f"{GAP}{door.say(LAST_WORDS[StopReason.CANCELLED])}", style="yellow"))
            return Exit.INTERRUPTED
        spoken.end()
        self._remember(outcome)
        ended = present(door, outcome, told=isinstance(outcome, Answer) and spoken.has_said(outcome.text))
        if isinstance(ended, Failure) and not door.screen.as_json:
            door.screen.fail(ended)
            return ended.exit
        return ended

    def _remember(self, outcome: Outcome) -> None:
        """Take up the conversation; while a call waits for somebody else, it goes on from before."""
        match outcome:
            case Answer(history=history) | Stopped(history=history):
                self._history = history
            case Waiting(run_id=run_id):
                self._waiting.append(run_id)
            case _:
                pass

    def _look_for_decisions(self) -> None:
        """Print what has come of calls that waited for somebody else, decided in another process."""
        door = self._door
        for run_id in list(self._waiting):
            stored = door.wait(door.agent.store.load_run(run_id))
            if stored is None or stored.status not in (RunStatus.DONE, RunStatus.STOPPED):
                continue
            self._waiting.remove(run_id)
            run = load_run(stored.snapshot, stored.journal)
            if door.screen.as_json:
                door.screen.data({"outcome": "answer", "run_id": run_id, "text": run.text})
            else:
                door.screen.say(run.text)
            self._history = (*self._history, *run.transcript[len(self._history) :])

    def _show_history(self) -> None:
        door = self._door
        for message in self._history:
            match message:
                case UserMessage(text=text):
                    who, style = door.say(WHO_ASKED), "bold"
                case AssistantMessage(text=text) if text:
                    who, style = door.say(WHO_ANSWERED), ""
                case _:
                    continue
            for line in escape_for_person(text, lines=True).text.split("\n"):
                door.screen.line(Text.assemble((f"{door.screen.indent}{who}: ", "dim"), (line, style)))


class Spoken:
    """Prints an answer piece by piece, and knows what was said.

    Args:
        door: Where to print.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._text = ""
        self._is_open = False

    def __call__(self, piece: str) -> None:
        """Print a piece of the answer."""
        if self._door.screen.as_json or not self._door.screen.out.is_terminal:
            return
        text = piece if self._is_open else piece.lstrip()
        if not text:
            return
        out = self._door.screen.out
        if not self._is_open:
            out.print(Text(GAP), end="", soft_wrap=True)
            self._is_open = True
        visible = escape_for_person(text, lines=True).text.replace("\n", f"\n{GAP}")
        out.print(Text(visible), end="", soft_wrap=True)
        self._text += text

    def end(self) -> None:
        """End the line."""
        if self._is_open:
            self._is_open = False
            self._door.screen.line(Text(""))

    def has_said(self, text: str) -> bool:
        """Return whether this text was said last, so that it need not be said again."""
        return bool(text.strip()) and self._text.rstrip().endswith(text.strip())
