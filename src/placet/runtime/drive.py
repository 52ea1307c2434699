"""Drive: start a run, or carry one on that nobody owns.

Either opens or takes over a run in the store and works one segment of it; every
call on the way goes through `invoke`.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from placet.agent.definition import AgentDefinition
from placet.agent.output import Contract, make_contract
from placet.agent.snapshot import dump_run, load_run
from placet.ports import ModelClient, StoredRun
from placet.runtime.book import Book
from placet.runtime.nested import begun
from placet.runtime.record import json_text
from placet.runtime.segment import Segment
from placet.runtime.site import Emit
from placet.runtime.waiting import pending_of
from placet.runtime.world import World
from placet.values.approval import ApprovalStatus
from placet.values.audit import AuditEntry, AuditKind
from placet.values.construction import dataclass
from placet.values.decision import Reason
from placet.values.effect import Lease
from placet.values.limits import LEASE_TTL
from placet.values.message import AssistantMessage, Message, Transcript, UserMessage
from placet.values.outcome import Outcome, Refused, Waiting
from placet.values.run import Run, RunStatus

DIRECT_NAME: Final = "direct"
"""Name of the agent under which direct calls are stored; it asks no model."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Driver:
    """Drives the runs of one agent in this process.

    Attributes:
        world: What the runtime needs from outside.
        agent: Whose runs.
        model: Who is asked; None where nobody is, as in a workflow.
        worker: This process among the workers.
    """

    world: World
    agent: AgentDefinition
    model: ModelClient | None
    worker: str

    async def start(
        self,
        question: str,
        principal_id: str,
        *,
        language: str,
        history: Sequence[Message] = (),
        emit: Emit | None = None,
        run_id: str | None = None,
        contract: Contract | None = None,
        opening: AssistantMessage | None = None,
    ) -> Outcome:
        """Return what comes of a new run: an answer, a wait, or a stop.

        Args:
            question: What the person says.
            principal_id: On whose behalf. Unknown to the directory: refused.
            language: Of the person.
            history: The conversation before, as an earlier outcome gave it.
            emit: Who watches.
            run_id: The id of the run, when the caller has chosen one.
            contract: What the last word must be, or None for words.
            opening: The call with which the run begins, in place of a model's answer, or None.

        Raises:
            StoreError: The store or the directory cannot be read.
            asyncio.CancelledError: The caller was cancelled; the run is closed as cancelled.
        """
        world = self.world
        if await world.directory.find(principal_id) is None:
            return unknown_principal(principal_id)
        before = history if isinstance(history, Transcript) else Transcript(history)
        now = world.clock.now()
        run = Run(
            id=run_id or world.ids.new("run"),
            agent=self.agent.name,
            principal_id=principal_id,
            language=language,
            budget=self.agent.budget,
            transcript=before.append(UserMessage(question)),
            started_at=now,
            output_schema=contract.schema if contract is not None else None,
        )
        run = begun(run, opening)
        asked = json_text({"text": world.redactor(None).text(question)[:4000], "agent": run.agent})
        entry = AuditEntry(at=now, kind=AuditKind.QUESTION, run_id=run.id, principal_id=principal_id, body=asked)
        lease = self.open(run)
        world.store.queue(entry)
        world.tell(entry)
        return await self.segment(run, lease, emit, contract=contract).work()

    async def resume(self, run_id: str, *, emit: Emit | None = None, contract: Contract | None = None) -> Outcome:
        """Return what comes of a run that nobody owns, carried on from its snapshot.

        Args:
            run_id: A run that is ready, or whose worker's lease has run out.
            emit: Who watches.
            contract: What the last word must be. Where the run asks for an output and none is
                given, the schema that is stored with it counts, and the output is a dict.

        Raises:
            StoreError: The store cannot be read.
            asyncio.CancelledError: The caller was cancelled; the run is closed as cancelled.
        """
        world = self.world
        await world.store.expire_approvals(world.clock.now())
        stored = await world.store.load_run(run_id)
        if stored is None:
            return Refused(reason=Reason.NOT_FOUND, message=f"there is no run {run_id!r}", run_id=run_id)
        if stored.agent not in (self.agent.name, DIRECT_NAME):
            text = f"run {run_id!r} belongs to agent {stored.agent!r}, this is {self.agent.name!r}"
            return Refused(reason=Reason.NOT_PERMITTED, message=text, run_id=run_id)
        claimed = await world.store.claim_run(run_id, self.worker, world.clock.now(), LEASE_TTL)
        if claimed is None:
            return await self._not_claimed(stored)
        lease, stored = claimed
        run = load_run(stored.snapshot, stored.journal).changed(seconds=0.0, status=RunStatus.RUNNING)
        if run.agent == DIRECT_NAME or run.output_schema is None:
            contract = None
        elif self.model is None:  # a workflow reads its own state, of an older release too
            pass
        elif contract is None or contract.schema != run.output_schema:
            contract = make_contract(run.output_schema)
        return await self.segment(run, lease, emit, contract=contract, taken_over=True).work()

    async def _not_claimed(self, stored: StoredRun) -> Outcome:
        match stored.status:
            case RunStatus.WAITING:
                return await self._waiting(load_run(stored.snapshot))
            case RunStatus.DONE | RunStatus.STOPPED:
                text = f"run {stored.id!r} has ended ({stored.status})"
                return Refused(reason=Reason.APPROVAL_USED, message=text, run_id=stored.id)
            case RunStatus.RUNNING | RunStatus.READY:
                text = f"run {stored.id!r} is owned by another worker; try again when its lease has run out"
                return Refused(reason=Reason.EFFECT_RUNNING, message=text, run_id=stored.id)
            case _:
                assert_never(stored.status)

    async def _waiting(self, run: Run) -> Waiting:
        requests = await self.world.store.list_approvals(run_id=run.id, statuses=[ApprovalStatus.PENDING])
        return Waiting(
            run_id=run.id,
            approvals=tuple(pending_of(self.world, request) for request in requests),
            history=run.transcript,
        )

    # ── segments ──────────────────────────────────────────────────────────────────────

    def open(self, run: Run) -> Lease:
        """Queue a new run for the store, and return the lease under which it is owned here."""
        now = self.world.clock.now()
        lease = Lease(run_id=run.id, owner=self.worker, fence=1, until=now + LEASE_TTL)
        stored = StoredRun(
            id=run.id,
            agent=run.agent,
            principal_id=run.principal_id,
            status=RunStatus.RUNNING,
            snapshot=dump_run(run),
            parent=run.parent,
            owner=self.worker,
            fence=1,
            lease_until=lease.until,
            created_at=now,
            updated_at=now,
        )
        self.world.store.open_run(stored, lease)
        return lease

    def segment(
        self,
        run: Run,
        lease: Lease,
        emit: Emit | None,
        *,
        contract: Contract | None = None,
        taken_over: bool = False,
    ) -> Segment:
        """Return a segment of a run that is owned by the lease."""
        return Segment(
            world=self.world,
            agent=self.agent,
            model=None if run.agent == DIRECT_NAME else self.model,
            book=Book(world=self.world, lease=lease, worker=self.worker, outermost=run),
            emit=emit,
            contract=contract,
            taken_over=taken_over,
        )


def unknown_principal(principal_id: str) -> Refused:
    """Return the refusal for somebody whom the directory does not know."""
    return Refused(reason=Reason.NOT_PERMITTED, message=f"principal {principal_id!r} is not known")
