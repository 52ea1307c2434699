"""Stories: what happens before a process dies, which process dies, and what must be true when others have gone on."""

import asyncio
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import pairwise

from placet.agent.snapshot import load_run
from placet.ports import StoredRun
from placet.values.approval import ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditKind
from placet.values.effect import EffectRecord, EffectState
from placet.values.message import AssistantMessage, ToolMessage
from placet.values.run import RunStatus
from placet.values.tool import Survival
from tests.crash import inside
from tests.crash.office import BOSS, READ, Place, clerk, open_store
from tests.crash.processes import Job, Worker, run


@dataclass(frozen=True, slots=True)
class Deed:
    """What one process of a story does.

    Attributes:
        do: See `Job`.
        stop_at: Where it is killed, or None when it ends well.
        balance: What its previews see.
    """

    do: str
    stop_at: str | None = None
    balance: int = 100


@dataclass(frozen=True, slots=True)
class Story:
    """One way from a proposal to its outcome.

    Attributes:
        name: Of the story.
        before: What other processes have done.
        victim: What the process does that dies.
        heirs: What those do that go on; two of them at the same time.
        balance: What the heirs' previews see.
    """

    name: str
    before: tuple[Deed, ...]
    victim: Deed
    heirs: str = "carry_on"
    balance: int = 100

    def __str__(self) -> str:
        return self.name


ASKED = Deed("ask")
IN_PAY = "inside pay, after its effect #1"

STORIES = (
    Story("while a question is worked on", (), ASKED),
    Story("while a yes is taken and the call runs", (ASKED,), Deed("approve")),
    Story("while an edited call is taken and runs", (ASKED,), Deed("edit")),
    Story("while a no is taken", (ASKED,), Deed("reject")),
    Story("while what has changed is asked anew", (ASKED,), Deed("approve", balance=50), balance=50),
    Story("while the heir of a killed worker goes on", (ASKED, Deed("approve", IN_PAY)), Deed("carry_on")),
    Story("while a direct call is made", (), Deed("call"), heirs="call"),
)


def trace(story: Story, place: Place, case: int) -> Sequence[str]:
    """Return the points that the victim passes when nobody kills it."""
    _prepare(story, place, case)
    return run(_victim(story, place, case)).passed


def die(story: Story, place: Place, case: int, point: str) -> list[str]:
    """Kill the victim at a point, let two others go on, and return what is not as it should be."""
    _prepare(story, place, case)
    if not run(replace(_victim(story, place, case), stop_at=point)).killed:
        return ["the victim did not come to this point"]
    left = asyncio.run(_find(place, case))
    return left.faults() + _go_on(story, place, case, left)


def freeze(story: Story, place: Place, case: int, point: str) -> list[str]:
    """Freeze the victim at a point, wake it when two others have come to the end, and return what is wrong."""
    _prepare(story, place, case)
    victim = Worker(replace(_victim(story, place, case), stop_at=point, by=signal.SIGSTOP))
    if not victim.freezes():
        return ["the victim did not come to this point"]
    left = asyncio.run(_find(place, case))
    faults = left.faults() + _go_on(story, place, case, left)
    begun = place.world.begun(clerk(case).id)
    victim.wake()
    victim.end()
    end = asyncio.run(_find(place, case))
    if end.begun != begun:
        faults.append(f"who was woken has begun what others had ended: {end.begun[len(begun) :]}")
    return faults + judge(place, case, end, late=True)


def _prepare(story: Story, place: Place, case: int) -> None:
    for number, deed in enumerate(story.before):
        told = run(
            Job(do=deed.do, place=place, case=case, minutes=10 * number, stop_at=deed.stop_at, balance=deed.balance)
        )
        assert told.killed == (deed.stop_at is not None), deed


def _victim(story: Story, place: Place, case: int) -> Job:
    minutes = 10 * len(story.before)
    return Job(do=story.victim.do, place=place, case=case, minutes=minutes, balance=story.victim.balance)


def _go_on(story: Story, place: Place, case: int, left: "Found") -> list[str]:
    heirs = [
        Worker(Job(do=story.heirs, place=place, case=case, minutes=60, voice=f"heir {number}", balance=story.balance))
        for number in (1, 2)
    ]
    heard = [word for heir in heirs for word in heir.end().heard]
    end = asyncio.run(_find(place, case))
    waited = {request.id for request in left.approvals if request.status is ApprovalStatus.PENDING}
    faults = [
        f"the approval {request.id} could not be answered: {heard}"
        for request in end.approvals
        if request.id in waited and request.decided_by != BOSS.id
    ]
    return faults + judge(place, case, end)


def judge(place: Place, case: int, end: "Found", *, late: bool = False) -> list[str]:
    """Return what does not hold when everything has come to its end.

    Args:
        place: Where everything lies.
        case: Whose story.
        end: What is found.
        late: Whether a worker may have told an outcome after others had given it up.
    """
    faults = end.faults()
    if end.run is None:
        return faults
    who = clerk(case).id
    if end.run.status is not RunStatus.DONE:
        faults.append(f"the run is {end.run.status}")
    open_ones = [request.id for request in end.approvals if request.status is ApprovalStatus.PENDING]
    if open_ones:
        faults.append(f"nobody has answered {open_ones}")
    effects = Counter(inside.effects(place, who))
    begun = Counter(place.world.begun(who))
    refused = {request.call_key for request in end.approvals if request.status is ApprovalStatus.REJECTED}
    for index, (tool, code) in enumerate(end.results):
        if tool == "look":
            faults += [] if code == "ok" else [f"look ended with {code}"]
            continue
        key = f"{end.run.id}:1.{index}"
        if key in refused:
            faults += [f"{tool} was rejected and ended with {code}, {begun[tool, key]} times begun"] * (
                code != "rejected" or begun[tool, key] > 0
            )
        else:
            ledger = end.effect(key)
            if late and code == "effect_unknown" and effects[tool, key] == 1 and ledger is not None:
                ledger = replace(
                    ledger, state=EffectState.UNKNOWN
                )  # an outcome that came late is kept, and tells nobody
            faults += _judge_call(place.way, tool, code, begun[tool, key], effects[tool, key], ledger)
    return faults


def _judge_call(way: str, tool: str, code: str, begun: int, effects: int, known: EffectRecord | None) -> list[str]:
    """Return what is wrong with one call that nobody has rejected, from how often it began and what it did."""
    said = f"{tool} ({way}) ended with {code}, begun {begun} times, {effects} effects, the ledger has {known}"
    if way == READ:
        right = code == "ok" and begun >= 1
    elif way == Survival.ONCE:
        done = code == "ok" and effects == 1 and known is not None and known.state is EffectState.DONE
        unknown = code == "effect_unknown" and effects <= 1 and known is not None and known.state is EffectState.UNKNOWN
        right = begun <= 1 and (done or unknown)
    else:
        right = code == "ok" and effects == 1 and known is not None and known.state is EffectState.DONE
    return [] if right else [said]


@dataclass(frozen=True, slots=True)
class Found:
    """What the store has of one case, and what was begun outside of it."""

    run: StoredRun | None
    runs: int
    approvals: Sequence[ApprovalRequest]
    effects: Sequence[EffectRecord]
    entries: Sequence[AuditEntry]
    begun: Sequence[tuple[str, str]]

    @property
    def results(self) -> list[tuple[str, str]]:
        """Tool and code of each call, in call order."""
        if self.run is None:
            return []
        transcript = load_run(self.run.snapshot, self.run.journal).transcript
        return [
            (call.name, result.code)
            for asked, message in pairwise(transcript)
            if isinstance(asked, AssistantMessage) and isinstance(message, ToolMessage)
            for call, result in zip(asked.calls, message.results, strict=True)
        ]

    def effect(self, key: str) -> EffectRecord | None:
        """Return the row of the ledger for a key."""
        return next((effect for effect in self.effects if effect.key == key), None)

    def faults(self) -> list[str]:
        """Return what must not be found at any time: something that began unrecorded, or more runs than questions."""
        intents = {entry.call_key for entry in self.entries if entry.kind is AuditKind.INTENT}
        faults = [f"{tool} began unrecorded: {key}" for tool, key in self.begun if key not in intents]
        if self.run is None and (self.approvals or self.effects or self.begun):
            faults.append("something was done for a run that is lost")
        if self.runs > 1:
            faults.append(f"one question has made {self.runs} runs")
        return faults


async def _find(place: Place, case: int) -> Found:
    store = open_store(place)
    await store.open()
    who = clerk(case).id
    try:
        runs = await store.list_runs(principal_id=who)
        stored = await store.load_run(runs[0].id) if runs else None
        run_id = stored.id if stored is not None else "none"
        async with aclosing(store.read(run_id=run_id)) as records:  # type: ignore[type-var]
            entries = [record.entry async for record in records]
        return Found(
            run=stored,
            runs=len(runs),
            approvals=await store.list_approvals(run_id=run_id),
            effects=await store.list_effects(run_id=run_id),
            entries=entries,
            begun=place.world.begun(who),
        )
    finally:
        await store.close()


async def verify(place: Place) -> str | None:
    """Return what is wrong with the audit log after all of this, or None."""
    store = open_store(place)
    await store.open()
    try:
        shown = await store.verify()
    finally:
        await store.close()
    assert shown.records > 0
    return str(shown.fault) if shown.fault else None
