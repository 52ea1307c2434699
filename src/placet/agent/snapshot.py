"""The JSON form of a run: written when a segment ends, read by any process, a release later.

A snapshot holds everything; a journal entry holds one turn. A run is its last snapshot
with the journal since then played on top.
"""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from pydantic_core import to_json

from placet.agent.transitions import answered, invoked, nested, nested_spent, reasked
from placet.errors import StoreError, StoreVersionError
from placet.values.call import ToolCall, ToolResult, Wire
from placet.values.limits import Budget
from placet.values.message import AssistantMessage, Message, ToolMessage, Transcript, UserMessage
from placet.values.run import SNAPSHOT_VERSION, PlannedCall, Run, RunStatus, StopReason, Usage

Form = dict[str, Any]

MIGRATIONS: Final[dict[int, Callable[[Form], Form]]] = {}
"""From the version that is its key to the next one. Each is code with a test."""

_RESULTS: Final = '{"results":'
"""With which a message of results begins, and no other."""

_encode_any = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def _encode(form: Form | list[str] | str) -> str:
    try:
        return to_json(form).decode()
    except ValueError:  # a lone surrogate, which only an escape can carry
        return _encode_any(form)


def dump_run(run: Run) -> str:
    """Return the snapshot of a run as JSON text."""
    said = ",".join(run.transcript.texts(_write_message))
    children = ",".join([dump_run(child) for child in run.children.values()])
    return f'{_encode(_run_form(run))[:-1]},"transcript":[{said}],"children":[{children}]}}'


def _run_form(run: Run) -> Form:
    """Return the form of a run without its conversation and the runs nested in it."""
    return {
        "version": SNAPSHOT_VERSION,
        "id": run.id,
        "agent": run.agent,
        "principal_id": run.principal_id,
        "language": run.language,
        "budget": _budget_form(run.budget),
        "started_at": run.started_at.isoformat(),
        "turn": run.turn,
        "calls": run.calls,
        "planned": [
            {
                "index": planned.index,
                "call": _call_form(planned.call),
                "result": _result_form(planned.result) if planned.result else None,
                "approval_id": planned.approval_id,
                "inside": planned.inside,
                "entered": planned.entered,
            }
            for planned in run.planned
        ],
        "rejected": sorted(run.rejected),
        "usage": _usage_form(run.usage),
        "seconds": run.seconds,
        "status": str(run.status),
        "text": run.text,
        "output": run.output,
        "output_schema": run.output_schema,
        "reasks": run.reasks,
        "stop": None if run.stop is None else str(run.stop),
        "parent": run.parent,
        "nested_turns": run.nested_turns,
        "nested_calls": run.nested_calls,
    }


def load_run(text: str, journal: Iterable[str] = ()) -> Run:
    """Return the run of a snapshot, with the journal since then played on top.

    Raises:
        StoreVersionError: A newer placet wrote it.
        StoreError: It is no snapshot.
    """
    try:
        run = _run(migrate(json.loads(text)))
        for entry in journal:
            run = _play(run, json.loads(entry))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"a stored run cannot be read ({error!r}); the store may be damaged") from error
    return run


def _run(form: Form) -> Run:
    return Run(
        id=form["id"],
        agent=form["agent"],
        principal_id=form["principal_id"],
        language=form["language"],
        budget=Budget(**form["budget"]),
        transcript=Transcript(_message(said) for said in form["transcript"]),
        started_at=datetime.fromisoformat(form["started_at"]),
        turn=form["turn"],
        calls=form["calls"],
        planned=tuple(
            PlannedCall(
                planned["index"],
                _call(planned["call"]),
                _result(planned["result"]) if planned["result"] else None,
                planned["approval_id"],
                tuple(planned["inside"]),
                planned["entered"],
            )
            for planned in form["planned"]
        ),
        rejected=frozenset(form["rejected"]),
        usage=Usage(**form["usage"]),
        seconds=form["seconds"],
        status=RunStatus(form["status"]),
        text=form["text"],
        output=form["output"],
        output_schema=form["output_schema"],
        reasks=form["reasks"],
        stop=StopReason(form["stop"]) if form["stop"] else None,
        parent=form["parent"],
        children={child["id"]: _run(child) for child in form["children"]},
        nested_turns=form["nested_turns"],
        nested_calls=form["nested_calls"],
    )


def migrate(form: Form) -> Form:
    """Return the form in today's version.

    Raises:
        StoreVersionError: It is newer than this code.
        StoreError: It has no version, or one that nobody migrates from.
    """
    version = form.get("version")
    if not isinstance(version, int):
        raise StoreError("a stored run has no version; the store may be damaged")
    if version > SNAPSHOT_VERSION:
        raise StoreVersionError(
            f"a stored run has version {version}, this placet reads up to {SNAPSHOT_VERSION}: upgrade placet"
        )
    while version < SNAPSHOT_VERSION:
        if version not in MIGRATIONS:
            raise StoreError(f"a stored run has version {version}, from which no migration leads to today's")
        form = MIGRATIONS[version](form)
        version += 1
    return {**form, "version": SNAPSHOT_VERSION}


def journal_turn(transcript: Transcript, usage: Usage, child: str = "", rejected: Collection[str] = ()) -> str:
    """Return the journal entry of one turn: the results before it, if there are any, and the model's answer.

    Args:
        transcript: The conversation. The answer is its last message, or the one before it where
            every call has a result already, as those past the budget have; playing the answer
            gives them again.
        usage: What the answer has cost.
        child: The nested run whose turn it is, or empty for the outermost run's own.
        rejected: Keyed digests of the calls that persons have rejected in the run so far.
    """
    said = transcript.texts(_write_message, last=3)
    if said[-1].startswith(_RESULTS):
        said.pop()
    before, answer = said[-2:]
    results = before[len(_RESULTS) : -1] if before.startswith(_RESULTS) else "null"
    more = f',"child":{_encode(child)}' if child else ""
    if rejected:
        more = f'{more},"rejected":{_encode(sorted(rejected))}'
    return f'{{"results":{results},"answer":{answer},"usage":{_encode(_usage_form(usage))}{more}}}'


def journal_reask(complaint: str, child: str = "") -> str:
    """Return the journal entry of an answer that was turned back."""
    return _encode({"child": child, "reask": complaint} if child else {"reask": complaint})


def journal_child(run: Run) -> str:
    """Return the journal entry for a nested run as it is when it begins or ends."""
    return f'{{"run":{dump_run(run)}}}'


def _play(run: Run, entry: Form) -> Run:
    if "run" in entry:
        return nested(run, _run(entry["run"]))
    if "reask" in entry:
        child = run.children[entry["child"]] if "child" in entry else run
        again = reasked(child, entry["reask"])
        return nested(run, again) if "child" in entry else again
    if "child" in entry:
        usage = Usage(**entry["usage"])
        child = _play(run.children[entry.pop("child")], entry)
        return nested_spent(nested(run, child), 1, len(child.planned), usage)
    if entry["results"] is not None:
        run = invoked(run, dict(enumerate(_result(result) for result in entry["results"])))
    message = _message(entry["answer"])
    if not isinstance(message, AssistantMessage):
        raise TypeError("a journal entry holds no answer")
    run = run.changed(rejected=run.rejected.union(entry.get("rejected", ())))
    return answered(run, message, Usage(**entry["usage"]))


def _write_message(message: Message) -> str:
    return _encode(_message_form(message))


def _message_form(message: Message) -> Form:
    match message:
        case UserMessage():
            return {"user": message.text} if message.by_person else {"user": message.text, "by_person": False}
        case ToolMessage():
            return {"results": [_result_form(result) for result in message.results]}
        case AssistantMessage():
            form: Form = {"assistant": message.text, "calls": [_call_form(call) for call in message.calls]}
            if message.provider:
                form |= {"provider": message.provider, "state": message.provider_state}
            if message.paused:
                form["paused"] = True
            if message.cut:
                form["cut"] = True
            return form


def _message(form: Form) -> Message:
    if "user" in form:
        return UserMessage(form["user"], form.get("by_person", True))
    if "results" in form:
        return ToolMessage(tuple(_result(result) for result in form["results"]))
    if "assistant" in form:
        return AssistantMessage(
            form["assistant"],
            tuple(_call(call) for call in form["calls"]),
            form.get("provider", ""),
            form.get("state"),
            form.get("paused", False),
            form.get("cut", False),
        )
    raise ValueError(f"a message of an unknown kind: {sorted(form)}")


def _call_form(call: ToolCall) -> Form:
    form: Form = {"id": call.id, "name": call.name, "arguments": call.arguments, "wire": str(call.wire)}
    if call.fault is not None:
        form["fault"] = call.fault
    if call.provider_state is not None:
        form["provider_state"] = call.provider_state
    if call.note is not None:
        form["note"] = call.note
    return form


def _call(form: Form) -> ToolCall:
    return replace(
        ToolCall(form["id"], form["name"], form["arguments"], wire=Wire(form["wire"])),
        fault=form.get("fault"),
        provider_state=form.get("provider_state"),
        note=form.get("note"),
    )


def _result_form(result: ToolResult) -> Form:
    form: Form = {"id": result.call_id, "content": result.content, "code": str(result.code)}
    if result.is_error:
        form["is_error"] = True
    if result.fence:
        form["fence"] = result.fence
    if result.cut_from is not None:
        form["cut_from"] = result.cut_from
    if result.answer:
        form["answer"] = result.answer
    return form


def _result(form: Form) -> ToolResult:
    return ToolResult(
        form["id"],
        form["content"],
        form.get("is_error", False),
        form["code"],
        form.get("fence", ""),
        form.get("cut_from"),
        form.get("answer", ""),
    )


def dump_result(result: ToolResult) -> str:
    """Return a result as JSON text, as the ledger of effects records it."""
    return _encode(_result_form(result))


def load_result(text: str) -> ToolResult:
    """Return the result of a JSON text from the ledger.

    Raises:
        StoreError: It is none.
    """
    try:
        return _result(json.loads(text))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"a recorded result cannot be read ({error!r})") from error


def _usage_form(usage: Usage) -> Form:
    """Return what was used up, without what is zero."""
    form = {name: count for name in Usage.__slots__ if (count := getattr(usage, name))}
    return {**form, "cost": str(usage.cost)} if usage.cost else form


def _budget_form(budget: Budget) -> Form:
    form = {name: getattr(budget, name) for name in Budget.__slots__}
    return form if budget.cost is None else {**form, "cost": str(budget.cost)}
