"""Book: where the segments of one run tree write down how far they are, what they ask, and how they end.

The outermost run is a row of the store, owned under a lease. Runs nested in it, at any depth,
have neither row nor lease: they are written into its book, so that whatever waits in the
whole tree is stored together, in one step.
"""

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import Final

from placet.agent.next_action import spent_budget
from placet.agent.snapshot import dump_run, journal_child, journal_reask, journal_turn
from placet.agent.transitions import nested, nested_spent
from placet.errors import StoreError
from placet.runtime.patience import see_through
from placet.runtime.prepare import Asked
from placet.runtime.waiting import pending_of, waiting_entry
from placet.runtime.world import World
from placet.values.approval import ApprovalRequest
from placet.values.audit import AuditEntry
from placet.values.effect import Lease
from placet.values.json import Json
from placet.values.limits import LEASE_TTL, Budget
from placet.values.message import Transcript
from placet.values.outcome import PendingApproval
from placet.values.run import Run, RunStatus, StopReason, Usage

_LOG: Final = logging.getLogger("placet")

NOTE: Final = "(note)"
"""Stands for the agent of a note: a finished run in which nobody was asked anything."""


@dataclass(slots=True, kw_only=True, eq=False)
class Book:
    """The book of one run tree.

    Attributes:
        world: What the outermost run needs from outside.
        lease: Under which it is owned.
        worker: Who owns it.
        outermost: The outermost run as it is now, with what is nested in it.
        entries: Records that are stored with the next thing that is.
        asked: The requests that calls of the tree wait for, by id.
        heard: What has been said so far in nested runs that go on, by their ids.
        asking: How many models of nested runs are being asked right now.
        began: When the segment of the outermost run began, monotonic seconds.
    """

    world: World
    lease: Lease
    worker: str
    outermost: Run
    entries: list[AuditEntry] = field(default_factory=list[AuditEntry])
    asked: dict[str, ApprovalRequest] = field(default_factory=dict[str, ApprovalRequest])
    heard: dict[str, Transcript] = field(default_factory=dict[str, Transcript])
    asking: int = 0
    began: float = 0.0
    _unstored: list[ApprovalRequest] = field(default_factory=list[ApprovalRequest])
    _pending: dict[str, PendingApproval] = field(default_factory=dict[str, PendingApproval])
    _renewal: asyncio.TimerHandle | None = None

    # ── turns ─────────────────────────────────────────────────────────────────────────

    def journal(self, run: Run, calls: int, usage: Usage) -> None:
        """Write down one turn of a run of the tree.

        Args:
            run: The run, whose model has just answered.
            calls: How many calls it wishes.
            usage: What the answer has cost.
        """
        child = run.id if run.parent else ""
        self.world.store.journal(self.lease, journal_turn(run.transcript, usage, child, run.rejected))
        if child:
            self.outermost = nested_spent(self.outermost, 1, calls, usage)

    def reask(self, run: Run, complaint: str) -> None:
        """Write down that an answer of a run of the tree was turned back."""
        self.world.store.journal(self.lease, journal_reask(complaint, run.id if run.parent else ""))

    def nest(self, run: Run) -> None:
        """Write down a nested run as it is when it begins or ends."""
        self.outermost = nested(self.outermost, run)
        self.world.store.journal(self.lease, journal_child(run))

    def child(self, run_id: str) -> Run | None:
        """Return a nested run as it was when it waited or ended, or None when it has not begun."""
        return self.outermost.children.get(run_id)

    def conversations(self) -> tuple[Transcript, ...]:
        """Return all that has been said in the tree so far, the outermost run first.

        What one run has read may have reached any other of them: by its question, by what a tool
        gave back, or by a state that they share.
        """
        if not self.outermost.children and not self.heard:  # most runs have none nested in them
            return (self.outermost.transcript,)
        said = {run_id: run.transcript for run_id, run in self.outermost.children.items() if run.transcript}
        return (self.outermost.transcript, *(said | self.heard).values())

    # ── notes ─────────────────────────────────────────────────────────────────────────

    def remember(self, note: str, value: Json, parent: str, text: str = "") -> None:
        """Write down a value that code in the tree must find again when it is entered anew.

        Args:
            note: Its id, unique in the tree, beside those of nested runs.
            value: JSON; None counts as nothing.
            parent: Key of the call in which it was written.
            text: Words that belong to it.
        """
        run = self.outermost
        self.nest(
            Run(
                id=note,
                agent=NOTE,
                principal_id=run.principal_id,
                language=run.language,
                budget=run.budget,
                transcript=Transcript(),
                started_at=run.started_at,
                status=RunStatus.DONE,
                text=text,
                output=value,
                parent=parent,
            )
        )

    def recall(self, note: str) -> Json:
        """Return the value of a note, or None."""
        known = self.child(note)
        return known.output if known is not None else None

    # ── the budget of the tree ────────────────────────────────────────────────────────

    def spent(self) -> StopReason | None:
        """Return which bound of the whole tree forbids to ask one more model, or None."""
        run = self.outermost
        seconds = run.budget.seconds - self.seconds_left()
        return spent_budget(run.changed(nested_turns=run.nested_turns + self.asking, seconds=seconds))

    def seconds_left(self) -> float:
        """Return for how long the segment of the whole tree may still work."""
        return self.outermost.budget.seconds - (self.world.clock.monotonic() - self.began)

    def bound_calls(self, run: Run, calls: int) -> Run | None:
        """Return a nested run whose budget leaves no more calls than the whole tree has left; None for none at all.

        Args:
            run: The nested run, whose model has just answered.
            calls: How many calls it wishes, at least one.
        """
        whole = self.outermost
        left = whole.budget.calls - whole.calls - whole.nested_calls
        if left <= 0:
            return None
        if calls <= left or run.budget.calls <= run.calls + left:
            return run
        run = run.changed(budget=replace(run.budget, calls=run.calls + left))
        self.nest(run)
        return run

    def budget_left(self, own: Budget) -> Budget:
        """Return a nested run's budget, bounded by what the outermost run has left."""
        whole, run = self.outermost.budget, self.outermost
        return Budget(
            turns=max(1, min(own.turns, whole.turns - run.turn - run.nested_turns)),
            calls=max(1, min(own.calls, whole.calls - run.calls - run.nested_calls)),
            parallel=min(own.parallel, whole.parallel),
            seconds=min(own.seconds, whole.seconds),
            output_bytes=min(own.output_bytes, whole.output_bytes),
            tokens=own.tokens if whole.tokens is None else min(own.tokens or whole.tokens, whole.tokens),
            cost=own.cost if whole.cost is None else min(own.cost or whole.cost, whole.cost),
        )

    # ── what waits ────────────────────────────────────────────────────────────────────

    def ask(self, world: World, question: Asked) -> None:
        """Write down a question to a person.

        Args:
            world: Of the run that asks: its toolset knows what has to be redacted.
            question: The request and its token.
        """
        request = question.request
        self.asked[request.id] = request
        self._unstored.append(request)
        self._pending[request.id] = question.pending
        self.entries.append(waiting_entry(world, request))

    def pending(self, approval_id: str) -> PendingApproval:
        """Return what the requester is told of a question; without its token if it was asked earlier."""
        known = self._pending.get(approval_id)
        return known if known is not None else pending_of(self.world, self.asked[approval_id])

    # ── ends ──────────────────────────────────────────────────────────────────────────

    async def suspend(self) -> bool:
        """Store the tree as it waits; return whether it does, or a person was faster and it goes on here.

        Raises:
            LeaseLostError: Somebody else owns the run.
            StoreError: It could not be stored.
        """
        world, run = self.world, self.outermost
        entries, self.entries = self.entries, []
        status = await see_through(
            world.store.suspend_run(self.lease, dump_run(run), self._unstored, entries, world.clock.now())
        )
        world.tell(*entries)
        self._unstored = []
        if status is not RunStatus.READY:
            return True
        claimed = await world.store.claim_run(run.id, self.worker, world.clock.now(), LEASE_TTL)
        if claimed is None:
            return True
        self.lease = claimed[0]
        return False

    async def close(self, run: Run, entry: AuditEntry) -> None:
        """Store a run of the tree that has ended.

        Raises:
            LeaseLostError: Somebody else owns the outermost run.
            StoreError: It could not be stored.
        """
        if run.parent:
            self.nest(run)
            self.entries.append(entry)
            return
        entries, self.entries = [*self.entries, entry], []
        await see_through(self.world.store.close_run(self.lease, run.status, dump_run(run), entries, entry.at))
        self.world.tell(*entries)

    # ── lease ─────────────────────────────────────────────────────────────────────────

    def keep_lease(self) -> None:
        """Renew the lease from time to time, until `let_go`."""
        loop = asyncio.get_running_loop()
        self._renewal = loop.call_later(LEASE_TTL.total_seconds() / 3, self._renew_soon)

    def let_go(self) -> None:
        """Stop renewing the lease."""
        if self._renewal is not None:
            self._renewal.cancel()

    def _renew_soon(self) -> None:
        self.world.spawn(self._renew())
        self.keep_lease()

    async def _renew(self) -> None:
        try:
            longer = await self.world.store.renew_lease(self.lease, self.world.clock.now() + LEASE_TTL)
        except StoreError:
            _LOG.exception("the lease of run %r could not be renewed", self.outermost.id)
            return
        if longer is not None and longer.fence == self.lease.fence:
            self.lease = longer
