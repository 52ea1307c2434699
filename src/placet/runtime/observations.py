"""What the model is told when a call does not run: English, stable, and what to do next."""

from collections.abc import Sequence
from typing import Final

from placet.values.decision import Reason
from placet.values.effect import EffectState

_TEXTS: Final = {
    Reason.EFFECT_RUNNING: "an identical call is still running; it was not started again. Wait, and do not repeat it",
    Reason.EFFECT_UNKNOWN: (
        "the outcome of this call is unknown: it was begun and may have happened. It was not run again, and must not be"
        " repeated; tell the person that somebody has to check"
    ),
    Reason.KEY_CONFLICT: "this idempotency key was used before for another call; use a new key",
    Reason.KEY_REQUIRED: "a call that changes something needs an idempotency key from its client",
    Reason.APPROVAL_USED: "the approval is already resolved; the call did not run a second time",
    Reason.EXPIRED: "nobody approved the call in time, so it did not run. Silence is a refusal",
    Reason.APPROVAL_VOID: "the approval does not count for this call any more, so it did not run",
    Reason.LEASE_LOST: "another worker has taken this conversation over, so the call did not run here",
    Reason.UNRECORDED: "the call could not be recorded, so it did not run; tell the person to try later",
}


def refusal_text(reason: Reason) -> str:
    """Return what the model is told for a refusal that no check has worded itself."""
    return _TEXTS.get(reason, f"the call was refused ({reason.value})")


def rejection_text(note: str | None) -> str:
    """Return what the model is told after a person's no, with the reason if the model may read it."""
    because = f" Their reason: {note}" if note else ""
    return f"a person has rejected this call; it did not run.{because} Do not propose it again"


def purged_text(state: EffectState) -> str:
    """Return what the model is told of a call that was made before and whose recorded result is gone."""
    if state is EffectState.DONE:
        return "this call was done before and was not done again; what it gave back has been purged"
    return "this call failed before, and nothing was done; what it said has been purged"


def unknown_tool_text(name: str, visible: Sequence[str]) -> str:
    """Return what the model is told for a name that this principal cannot call.

    Hints speak only of tools that this principal may see, and the words are the same
    whether such a tool exists or not.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is misspelt

    shown = name[:64]
    near = get_close_matches(shown, visible, n=1)
    nearest = f" Did you mean {near[0]!r}?" if near else ""
    names = ", ".join(sorted(visible)) or "none"
    return f"there is no tool {shown!r}.{nearest} Tools that can be called: {names}"
