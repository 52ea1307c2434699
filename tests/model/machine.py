"""Random deeds of random persons against a real agent, each held against the promise."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from placet.agent.definition import AgentDefinition
from placet.errors import StoreError
from placet.ports import Store
from placet.runtime.keys import Keys
from placet.runtime.settle import settle_effect
from placet.stores.memory import MemoryStore
from placet.stores.sqlite import SqliteStore
from placet.testing import FrozenClock
from placet.values.approval import ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditKind
from placet.values.effect import EffectRecord, EffectState
from placet.values.outcome import Refused
from placet.values.principal import Principal
from placet.values.run import RunStatus
from placet.wiring import Agent
from tests.model.desk import TOOLS, Desk, stubborn
from tests.model.mortal import MortalStore
from tests.model.promise import (
    NOTE,
    PAY,
    RAN,
    REFUSED,
    RENAME,
    SEND,
    TTL,
    UNKNOWN,
    WAITS,
    Promise,
    Question,
    Wish,
)

SECRET = b"a secret of thirty-two bytes or more"
ROLES = {
    "s1": frozenset({"support"}),
    "s2": frozenset({"support"}),
    "f1": frozenset({"finance"}),
    "b1": frozenset({"support", "finance"}),
    "x1": frozenset({"garden"}),
}
LEASE = 61.0
UNTIL_DEADLINE = 15.0

PERSONS = st.sampled_from(sorted(ROLES))
CALLS = st.lists(
    st.tuples(st.sampled_from([NOTE, SEND, PAY, RENAME]), st.integers(1, 3)), min_size=1, max_size=3, unique=True
)
CRASHES: st.SearchStrategy[list[int | str]] = st.just([]) | st.lists(
    st.integers(1, 30) | st.sampled_from(["before", "after"]), max_size=2
)
"""Where processes die, one after another: at a moment of the store, or inside a tool."""

Crashes = Sequence[int | str]


class GateMachine(RuleBasedStateMachine):
    """What may be done to a gate by anybody, in any order."""

    steps: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.desk = Desk()
        self.clock = FrozenClock()
        self.promise = Promise(dict(ROLES))
        self.asked: list[str] = []
        self.known: set[str] = set()
        self.wished: dict[str, Wish] = {}
        self.keys: dict[tuple[str, str, int], tuple[str, int]] = {}
        self.store = self.make_store()
        self.runner.run(self.begin())

    # ── the process ───────────────────────────────────────────────────────────────────

    def make_store(self) -> Store:
        """Return the store that outlives the processes."""
        return MemoryStore(key=Keys.of(SECRET).audit)

    async def begin(self) -> None:
        """Build everything anew, as a process does that starts."""
        self.mortal = MortalStore(self.store)
        self.agent = Agent(
            AgentDefinition(name="office", prompt="You help the clerks."),
            tools=TOOLS,
            model=stubborn(),
            store=cast(Store, self.mortal),
            deps=self.desk,
            secret=SECRET,
            clock=self.clock,
        )
        self.desk.dies, self.desk.die = "", self.mortal.die
        await self.agent.open()
        for name in self.promise.roles:
            self.agent._stated.state(self.person(name))

    async def bury(self) -> None:
        """Leave a dead process behind; SQLite forgets its connections with it."""
        await self.store.close()
        self.clock.move(LEASE)
        await self.begin()

    def teardown(self) -> None:
        self.runner.run(self.look_back())
        self.runner.run(self.store.close())
        self.runner.close()

    def person(self, name: str) -> Principal:
        return Principal(name, roles=self.promise.roles[name])

    @property
    def now(self) -> float:
        return self.clock.now().timestamp()

    async def survive(self, deed: Callable[[], Awaitable[Any]], crashes: Crashes) -> Any:
        """Do a deed in a process that may die of it; processes after it carry on what is left. Return what it said."""
        said: Any = None
        for place, crash in enumerate(crashes):
            if isinstance(crash, int):
                self.mortal.die_in(crash)
            else:
                self.desk.dies = crash
            try:
                said = await (deed() if place == 0 else self.carry_on())
            except StoreError:
                said = None
            if not self.mortal.is_dead:
                self.mortal.die_in(None)
                self.desk.dies = ""
                return said
            await self.bury()
        if not crashes:
            return await deed()
        await self.carry_on()
        return None

    async def carry_on(self) -> None:
        for stored in await self.agent.store.list_runs(statuses=[RunStatus.RUNNING, RunStatus.READY]):
            await self.agent.resume(stored.id)

    # ── what is there ─────────────────────────────────────────────────────────────────

    async def pending(self) -> dict[str, ApprovalRequest]:
        """Return what waits in the store, by the key of the call."""
        requests = await self.store.list_approvals(limit=1000)
        self.asked += [request.id for request in requests if request.id not in self.asked]
        now = self.clock.now()
        waiting = [one for one in requests if one.status is ApprovalStatus.PENDING and now < one.expires_at]
        return {request.call_key: request for request in waiting}

    async def became(self, key: str) -> str:
        """Return what has become of a call."""
        effect = await self.store.find_effect(key)
        if effect is not None:
            return RAN if effect.state is EffectState.DONE else UNKNOWN
        return WAITS if key in await self.pending() else REFUSED

    async def hold(self, key: str, wish: Wish, expected: str, *, crashed: bool, seen: int, late: bool = False) -> None:
        """Hold what has become of a call against what the promise says, and write it down."""
        actual = await self.became(key)
        allowed = {expected}
        if crashed and expected == RAN and wish.tool != SEND:
            allowed.add(UNKNOWN)
        if late:  # the yes has run out before the heir came to it
            allowed.add(REFUSED)
        assert actual in allowed, f"{wish} has become {actual}, not {expected}"
        self.wished.setdefault(key, wish)
        promise, who = self.promise, (wish.who, wish.tool, wish.n)
        promise.questions.pop(key, None)
        if actual == WAITS:
            request = (await self.pending())[key]
            asked = request.created_at.timestamp() if crashed else self.now
            promise.questions[key] = Question(request.id, wish, asked + TTL, seen)
        if actual == REFUSED:
            return
        if actual == RAN:
            promise.effects[who] += 1
        if actual == UNKNOWN:
            promise.doubts[key] = wish
            promise.effects[who] += self.desk.effects[who] - promise.effects[who] > 0
        effect = await self.store.find_effect(key)
        if wish.tool == NOTE and effect is not None:
            promise.taken.setdefault(wish.who, []).append(effect.deadline.timestamp() - UNTIL_DEADLINE)

    def open_questions(self) -> list[str]:
        """Return the keys of the calls that wait, as the promise has it."""
        return sorted(key for key, question in self.promise.questions.items() if question.expires > self.now)

    # ── deeds ─────────────────────────────────────────────────────────────────────────

    @rule(who=PERSONS, calls=CALLS, crashes=CRASHES)
    def propose(self, who: str, calls: list[tuple[str, int]], crashes: Crashes) -> None:
        """Somebody asks, and the model wishes some calls."""

        async def deed() -> None:
            run, seen = f"run_{len(self.known)}", self.desk.rate
            self.known.add(run)
            text = " ".join(f"{name}={n}" for name, n in calls)
            await self.survive(lambda: self.agent._ask(text, self.person(who), (), None, None, run_id=run), crashes)
            if await self.store.load_run(run) is None:
                assert crashes
                return
            for place, (name, n) in enumerate(calls):
                wish = Wish(who, name, n, run)
                expected = self.promise.proposed(wish, self.now)
                await self.hold(f"{run}:1.{place}", wish, expected, crashed=bool(crashes), seen=seen)

        self.do(deed())

    @rule(
        who=PERSONS,
        name=st.sampled_from([NOTE, SEND, PAY]),
        n=st.integers(1, 2),
        key=st.integers(1, 3),
        crashes=CRASHES,
    )
    def call(self, who: str, name: str, n: int, key: int, crashes: Crashes) -> None:
        """A program calls a tool under a key of its own, perhaps one that it has used before."""

        async def deed() -> None:
            seen = self.desk.rate
            before = {stored.id for stored in await self.store.list_runs(limit=1000)}
            said = await self.survive(
                lambda: self.agent.call(name, {"n": n}, principal=self.person(who), key=str(key)), crashes
            )
            new = {stored.id for stored in await self.store.list_runs(limit=1000)} - before
            used = self.keys.get((who, name, key))
            if used is not None:
                assert not new
                assert used[1] == n or said is None or isinstance(said, Refused)
                return
            if not new:
                assert crashes
                return
            (run,) = new
            self.known.add(run)
            self.keys[who, name, key] = (run, n)
            wish = Wish(who, name, n, run)
            expected = self.promise.proposed(wish, self.now)
            await self.hold(f"{run}:1.0", wish, expected, crashed=bool(crashes), seen=seen)

        self.do(deed())

    @precondition(lambda self: bool(self.asked))
    @rule(
        place=st.integers(0, 1000),
        by=PERSONS,
        act=st.sampled_from(["approve", "approve", "confirm", "reject", "edit"]),
        n=st.integers(1, 3),
        crashes=CRASHES,
    )
    def decide(self, place: int, by: str, act: str, n: int, crashes: Crashes) -> None:
        """Somebody says something about a request, which may long be resolved."""
        self.do(self._decide(self.asked[-1 - place % len(self.asked)], by, act, n, crashes))

    @precondition(lambda self: bool(self.promise.questions))
    @rule(place=st.integers(0, 1000), no=st.integers(0, 4), n=st.integers(1, 3), crashes=CRASHES)
    def decide_rightly(self, place: int, no: int, n: int, crashes: Crashes) -> None:
        """Who may decide does so, and mostly says yes."""
        open_ones = self.open_questions()
        if not open_ones:
            return
        key = open_ones[place % len(open_ones)]
        question = self.promise.questions[key]
        yes = "confirm" if question.wish.tool == RENAME else "edit" if no == 1 else "approve"
        act = "reject" if no == 0 else yes
        entitled = [name for name in sorted(ROLES) if self.promise.may_decide(name, question, act)]
        if not entitled:
            return

        async def deed() -> None:
            request = (await self.pending())[key]
            await self._decide(request.id, entitled[place % len(entitled)], act, n, crashes)

        self.do(deed())

    async def _decide(self, approval: str, by: str, act: str, n: int, crashes: Crashes) -> None:
        request = await self.store.find_approval(id=approval)
        assert request is not None
        key, seen = request.call_key, self.desk.rate
        question = self.promise.questions.get(key)
        if question is not None and (question.expires <= self.now or question.id != approval):
            question = None
        said = await self.survive(lambda: self._say(approval, by, act, n), crashes)
        before, request = request, await self.store.find_approval(id=approval)
        assert request is not None
        if question is None or not self.promise.may_decide(by, question, act):
            assert said is None or isinstance(said, Refused), f"{act} by {by} was taken: {said}"
            assert request.status in (before.status, ApprovalStatus.EXPIRED)
            assert (request.decided_by, request.arguments) == (before.decided_by, before.arguments)
            return
        if request.status in (ApprovalStatus.PENDING, ApprovalStatus.EXPIRED) and crashes:
            return  # it was not taken before the process died
        wish = question.wish
        if act == "reject":
            self.promise.rejected |= {wish, self.wished[key]}
            await self.hold(key, wish, REFUSED, crashed=bool(crashes), seen=seen)
            return
        if act == "edit":
            wish = Wish(wish.who, wish.tool, n, wish.run)
        expected = self.promise.approved(question, wish, seen)
        late = bool(crashes) and question.expires <= self.now
        await self.hold(key, wish, expected, crashed=bool(crashes), seen=seen, late=late)

    async def _say(self, approval: str, by: str, act: str, n: int) -> Any:
        match act:
            case "approve":
                return await self.agent.approve(approval, by=self.person(by))
            case "edit":
                return await self.agent.approve(approval, by=self.person(by), arguments={"n": n})
            case "confirm":
                return await self.agent.confirm(approval, by=self.person(by))
            case _:
                return await self.agent.reject(approval, by=self.person(by), reason="no")

    @precondition(lambda self: bool(self.asked))
    @rule(place=st.integers(0, 1000), by=PERSONS, how=st.sampled_from(["token", "nobody", "tool", "arguments"]))
    def forge(self, place: int, by: str, how: str) -> None:
        """Somebody makes something up."""
        approval = self.asked[-1 - place % len(self.asked)]

        async def deed() -> None:
            match how:
                case "token":
                    said = await self.agent.approve(approval + "0", by=self.person(by))
                case "nobody":
                    said = await self.agent.approve(approval, by="who-is-this")
                case "tool":
                    said = await self.agent.approve(approval, by=self.person(by), arguments={"tool": "note", "n": 1})
                case _:
                    said = await self.agent.approve(approval, by=self.person(by), arguments={"n": "lots"})
            assert isinstance(said, Refused), said

        self.do(deed())

    @rule(place=st.integers(0, 1000))
    def resume(self, place: int) -> None:
        """Somebody resumes a run that nobody has to resume."""
        runs = sorted(self.known)
        if runs:
            self.do(self.agent.resume(runs[place % len(runs)]))

    @rule(minutes=st.sampled_from([1, 1, 5, 20]), looked=st.booleans())
    def wait(self, minutes: int, looked: bool) -> None:
        """Time passes; silence becomes a refusal, whether or not somebody looks at what waits."""
        self.clock.move(60 * minutes)
        for key in [key for key, question in self.promise.questions.items() if question.expires <= self.now]:
            del self.promise.questions[key]
        type(self).steps += 1
        if looked:
            self.runner.run(self.agent.approvals())

    @rule(who=PERSONS, like=PERSONS, back=st.integers(0, 2))
    def change_roles(self, who: str, like: str, back: int) -> None:
        """Somebody has other roles from today on, or again those of the first day."""
        self.promise.roles[who] = ROLES[who if back else like]
        type(self).steps += 1
        self.agent._stated.state(self.person(who))

    @rule()
    def change_the_world(self) -> None:
        """What the previews bind changes."""
        self.desk.rate += 1
        type(self).steps += 1

    @precondition(lambda self: bool(self.promise.doubts))
    @rule(place=st.integers(0, 1000), by=PERSONS, state=st.sampled_from([EffectState.DONE, EffectState.FAILED]))
    def settle(self, place: int, by: str, state: EffectState) -> None:
        """Somebody says how it ended of which nobody knew."""
        key = sorted(self.promise.doubts)[place % len(self.promise.doubts)]

        async def deed() -> None:
            settled = await settle_effect(self.agent.world, key, state, by)
            may = self.promise.may_settle(by, self.promise.doubts[key])
            assert isinstance(settled, EffectRecord) is may, settled
            if may:
                del self.promise.doubts[key]

        self.do(deed())

    def do(self, deed: Any) -> None:
        type(self).steps += 1
        self.runner.run(deed)

    # ── what holds at any time ────────────────────────────────────────────────────────

    @invariant()
    def what_was_done_is_what_the_promise_says(self) -> None:
        assert +self.desk.effects == +self.promise.effects
        assert len(set(self.desk.keys)) == len(self.desk.keys)

    @invariant()
    def who_is_asked_is_who_the_promise_says(self) -> None:
        waiting = self.runner.run(self.pending())
        assert sorted(waiting) == self.open_questions()

    async def look_back(self) -> None:
        """Hold the audit log against what was done: nothing began unrecorded, and nothing was left without an end."""
        entries = [record.entry async for record in self.store.read()]
        intents = {entry.call_key for entry in entries if entry.kind is AuditKind.INTENT}
        outcomes = {entry.call_key for entry in entries if entry.kind is AuditKind.OUTCOME}
        assert set(self.desk.keys) <= intents
        assert intents <= outcomes
        assert (await self.store.verify()).fault is None


class SqliteGateMachine(GateMachine):
    """The same over a file, which is closed and opened anew at every crash."""

    def make_store(self) -> Store:
        self.directory = tempfile.TemporaryDirectory()
        return SqliteStore(Path(self.directory.name) / "placet.db", key=Keys.of(SECRET).audit)

    def teardown(self) -> None:
        super().teardown()
        self.directory.cleanup()
