"""next_action: what a run does next. A pure function of the run so far."""

from typing import Final

from placet.values.message import AssistantMessage
from placet.values.run import Action, AskModel, InvokeTools, Run, RunStatus, Stop, StopReason, Wait

_ASK: Final = AskModel()


def next_action(run: Run) -> Action:
    """Return what comes next for a run.

    The in-process driver, a durable engine and the tests drive this same function. It
    looks at the run alone: asked twice, it answers the same.
    """
    if run.status in (RunStatus.DONE, RunStatus.STOPPED):
        return Stop(run.stop)
    if run.planned:
        open_calls = [planned for planned in run.planned if planned.result is None]
        ready = [planned for planned in open_calls if not planned.waits_for]
        if ready:
            return InvokeTools(tuple(ready))
        return Wait(tuple(approval_id for planned in open_calls for approval_id in planned.waits_for))
    last = run.transcript[-1] if len(run.transcript) else None
    if isinstance(last, AssistantMessage) and not last.paused:
        return Stop(None)
    spent = spent_budget(run)
    if spent is not None:
        return Stop(spent)
    return _ASK


def spent_budget(run: Run) -> StopReason | None:
    """Return which bound of the budget forbids to ask the model again, or None.

    A bound on what cannot be known is spent: answers that nobody has counted or priced would
    otherwise be free.
    """
    budget, usage = run.budget, run.usage
    if run.turn + run.nested_turns >= budget.turns:
        return StopReason.TURNS
    if run.calls + run.nested_calls >= budget.calls:
        return StopReason.CALLS
    if run.seconds >= budget.seconds:
        return StopReason.SECONDS
    if budget.tokens is not None and (usage.uncounted or usage.input_tokens + usage.output_tokens >= budget.tokens):
        return StopReason.TOKENS
    if budget.cost is not None and (usage.unpriced or usage.cost >= budget.cost):
        return StopReason.COST
    return None
