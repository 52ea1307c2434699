"""How a run goes on: each function returns the run after one thing has happened.

Together with `next_action` this is the whole loop; a driver only carries out what they say.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from placet.values.call import ToolResult
from placet.values.construction import maker
from placet.values.decision import Reason
from placet.values.json import Json
from placet.values.message import AssistantMessage, ToolMessage, UserMessage
from placet.values.run import PlannedCall, Run, RunStatus, StopReason, Usage

_new_call: Final = maker(PlannedCall)


def answered(run: Run, message: AssistantMessage, usage: Usage, seconds: float | None = None) -> Run:
    """Return the run after the model has answered.

    Calls past the run's budget are refused here, in call order, before any of the batch
    runs: which of twenty calls are the three that run must not depend on which is fastest.

    Args:
        run: The run before.
        message: What the model said.
        usage: What it has cost.
        seconds: How long the segment has worked by now, when that is known.
    """
    left = run.budget.calls - run.calls - run.nested_calls
    planned = [
        _new_call(index, call, None if index < left else _over_budget(run, call.id))
        for index, call in enumerate(message.calls)
    ]
    after = run.changed(
        transcript=run.transcript.append(message),
        turn=run.turn + 1,
        calls=run.calls + len(planned),
        planned=tuple(planned),
        children={},  # those of the turn before have been answered
        usage=run.usage + usage,
        seconds=run.seconds if seconds is None else seconds,
    )
    return _completed(after, after.planned) if planned and left <= 0 else after


def _over_budget(run: Run, call_id: str) -> ToolResult:
    return ToolResult(
        call_id,
        f"limit reached: {run.budget.calls} tool calls in one conversation turn of the person; this one did not run",
        is_error=True,
        code=Reason.BUDGET_SPENT,
    )


def invoked(run: Run, results: Mapping[int, ToolResult]) -> Run:
    """Return the run after some calls of the turn have got their results, by index.

    Once every call has one, the results become one message, in call order.
    """
    planned = [
        _new_call(call.index, call.call, results[call.index]) if call.index in results else call for call in run.planned
    ]
    return _completed(run, tuple(planned))


def awaiting(run: Run, approvals: Mapping[int, str]) -> Run:
    """Return the run after some calls of the turn have come to wait for a person, by index."""
    planned = tuple(
        replace(call, approval_id=approvals[call.index]) if call.index in approvals else call for call in run.planned
    )
    return run.changed(planned=planned)


def left_inside(run: Run, waiting: Mapping[int, tuple[str, ...]]) -> Run:
    """Return the run after the tools of some calls were left because nested runs wait, by index."""
    planned = tuple(
        replace(call, inside=waiting[call.index], entered=True) if call.index in waiting else call
        for call in run.planned
    )
    return run.changed(planned=planned)


def resumed(run: Run, indices: Iterable[int]) -> Run:
    """Return the run after the calls of these indices wait for nobody any more."""
    free = frozenset(indices)
    planned = tuple(replace(call, approval_id=None, inside=()) if call.index in free else call for call in run.planned)
    return run.changed(planned=planned)


def nested(run: Run, child: Run) -> Run:
    """Return the outermost run with a nested run as it is now."""
    return run.changed(children={**run.children, child.id: child})


def nested_spent(run: Run, turns: int, calls: int, usage: Usage) -> Run:
    """Return the outermost run after nested runs have used up so much more of its budget."""
    return run.changed(
        nested_turns=run.nested_turns + turns, nested_calls=run.nested_calls + calls, usage=run.usage + usage
    )


def rejected(run: Run, *digests: str) -> Run:
    """Return the run after a person has rejected the calls of these keyed digests."""
    return run.changed(rejected=run.rejected.union(digests))


def reasked(run: Run, complaint: str) -> Run:
    """Return the run after an answer that does not fit the output was turned back."""
    return run.changed(transcript=run.transcript.append(UserMessage(complaint, by_person=False)), reasks=run.reasks + 1)


def finished(run: Run, text: str, seconds: float, output: Json = None) -> Run:
    """Return the run after the model's last word, its segment having worked for so long."""
    return run.changed(status=RunStatus.DONE, text=text, seconds=seconds, output=output)


def stopped(run: Run, reason: StopReason, text: str, seconds: float) -> Run:
    """Return the run after it was stopped short, its history closed so that it stays valid.

    Calls of the turn at hand without a result get one that says they did not run: a
    dangling call would make the history unusable for every provider.
    """
    if run.planned:
        results = {
            call.index: ToolResult(
                call.call.id, "the conversation was stopped before this call ran", is_error=True, code=Reason.CANCELLED
            )
            for call in run.planned
            if call.result is None
        }
        run = invoked(run, results)
    return run.changed(status=RunStatus.STOPPED, stop=reason, text=text, seconds=seconds)


def _completed(run: Run, planned: tuple[PlannedCall, ...]) -> Run:
    """Return the run with these calls, or with the message of their results once each has one."""
    known = [call.result for call in planned if call.result is not None]
    if not known or len(known) < len(planned):
        return run.changed(planned=planned)
    message = ToolMessage(_within(tuple(known), run.budget.output_bytes))
    return run.changed(transcript=run.transcript.append(message), planned=())


def _within(results: tuple[ToolResult, ...], cap: int) -> tuple[ToolResult, ...]:
    """Return the results cut so that together they hold at most `cap` bytes of UTF-8.

    Small results stay whole; large ones share what is left in equal parts.
    """
    if sum([len(result.content) for result in results]) * 4 <= cap:
        return results
    sizes = [len(result.content.encode("utf-8", "replace")) for result in results]
    if sum(sizes) <= cap:
        return results
    share, left = 0, cap
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            break
        left -= size
    return tuple(
        result if size <= share else _cut(result, size, share) for result, size in zip(results, sizes, strict=True)
    )


def _cut(result: ToolResult, size: int, room: int) -> ToolResult:
    note = f"\n[… cut: {size} bytes in all, the results of this turn were too long together]"
    head = result.content.encode("utf-8", "replace")[: max(0, room - len(note.encode()))].decode("utf-8", "ignore")
    return replace(result, content=head + note, cut_from=result.cut_from or size)
