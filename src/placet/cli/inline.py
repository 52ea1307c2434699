"""Inline: what the asker may confirm is asked where they sit, when somebody sits there."""

from rich.text import Text

from placet.cli.door import Door
from placet.cli.layout import GAP
from placet.cli.progress import watch
from placet.cli.requests import argument_lines
from placet.values.approval import ApprovalRequest, Yes
from placet.values.outcome import Outcome, Waiting
from placet.words.escape import escape_for_person
from placet.words.messages import CONFIRM, NOT_CONFIRMED, WAITS_FOR_YOU, is_yes


def confirm_inline(door: Door, outcome: Outcome) -> Outcome:
    """Return what came of an outcome once the asker has answered every question that is theirs to answer.

    Without a terminal nobody is asked, and the outcome stays as it is.
    """
    while isinstance(outcome, Waiting) and door.screen.asks:
        mine = next((pending for pending in outcome.approvals if pending.yes is Yes.CONFIRM), None)
        request = door.wait(door.agent.store.find_approval(id=mine.id)) if mine is not None else None
        if request is None:
            return outcome
        outcome = _confirm(door, request)
    return outcome


def _confirm(door: Door, request: ApprovalRequest) -> Outcome:
    """Show the whole call, take one answer, and return what came of the run."""
    screen = door.screen
    screen.warn(Text.assemble((f"{GAP}⏸ ", "yellow"), door.say(WAITS_FOR_YOU, tool=request.tool)))
    if request.preview is not None and request.preview.text:
        screen.warn(Text(f"{GAP * 2}{escape_for_person(request.preview.text).text}"))
    for line in argument_lines(door, request):
        screen.warn(line)
    if is_yes(prompt(door, door.say(CONFIRM)), door.language):
        return watch(door, lambda emit: door.agent.confirm(request.id, by=door.who, emit=emit))
    screen.note(Text(f"{GAP}{door.say(NOT_CONFIRMED)}", style="dim"))
    return watch(door, lambda emit: door.agent.reject(request.id, by=door.who, emit=emit))


def prompt(door: Door, question: str) -> str:
    """Return what the person types; the end of the input is silence, and silence is a no."""
    door.screen.err.print(Text(f"{GAP}{question} "), end="", soft_wrap=True)
    try:
        return input()
    except EOFError:
        return ""
