"""The ledger of effects: what may happen once, and what is known of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, TypeAlias

from placet.errors import ToolDefinitionError
from placet.values.audit import AuditEntry
from placet.values.construction import dataclass, made_quickly
from placet.values.decision import Reason


class EffectState(StrEnum):
    """How much is known of one effect.

    `running → done | failed | unknown`, `unknown → done | failed` (late, or settled by a
    person), and `unknown → running` only where the tool takes an idempotency key.
    """

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    """The tool said itself, by `ToolError`, that nothing was done."""
    UNKNOWN = "unknown"
    """A crash, a time-out or a broken connection: it may have happened. Never run again by itself."""


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """One row of the ledger.

    Attributes:
        key: The key of the call, `run:turn.index`.
        principal_id: On whose behalf.
        tool: Which tool.
        digest: Keyed digest of tool and arguments.
        run_id: The run, or empty.
        state: What is known. A running effect past its deadline counts as unknown.
        deadline: When its worker must have ended, aware, UTC.
        result: Recorded result as JSON text, once known.
        approval_id: The approval that was used for it, or None.
    """

    key: str
    principal_id: str
    tool: str
    digest: str
    run_id: str
    state: EffectState
    deadline: datetime
    result: str | None = None
    approval_id: str | None = None

    def state_at(self, now: datetime) -> EffectState:
        """Return what is known at a time."""
        if self.state is EffectState.RUNNING and now >= self.deadline:
            return EffectState.UNKNOWN
        return self.state


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """What a call takes from one exact sliding window.

    Attributes:
        key: Whose window of which limit, as `tool|principal|limit`, or `tool|*|limit` where all share it.
        at_most: How much the window holds.
        per: Its length.
        amount: How much this call takes: 1 for a rate, a value for a value budget.
        rule: What a person and the model are told was reached, for instance `"10 calls in 60 s"`.
    """

    key: str
    at_most: Decimal
    per: timedelta
    amount: Decimal = Decimal(1)
    rule: str = ""


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who owns a segment of a run, and under which fencing number.

    Attributes:
        run_id: Which run.
        owner: Which worker.
        fence: Grows with every takeover; what carries an older one is refused.
        until: From then on anybody may take the run over. Aware, UTC.
    """

    run_id: str
    owner: str
    fence: int
    until: datetime


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Everything that one call takes, in one atomic step, all of it or nothing.

    The steps, in this order: the lease still holds; the ledger knows no such effect and no
    like one in doubt; the approval is approved, unexpired, unused and for this digest; every
    window has room; then all are taken and the intent is recorded.

    Attributes:
        at: The time of the call.
        takes: What it takes from which windows.
        approval_id: The approval that is used up.
        approval_digest: The keyed digest that the approval must carry.
        effect: The effect that begins, in state RUNNING.
        may_repeat: Whether an effect of the same key in state UNKNOWN may begin again
            (the tool takes an idempotency key).
        lease: The lease that must still hold, or None outside a stored run.
        intent: What is recorded with it. With an intent, the claim is durable against a power cut.
    """

    at: datetime
    takes: tuple[Take, ...] = ()
    approval_id: str | None = None
    approval_digest: str | None = None
    effect: EffectRecord | None = None
    may_repeat: bool = False
    lease: Lease | None = None
    intent: AuditEntry | None = None


@dataclass(frozen=True, slots=True)
class Claimed:
    """All of it was taken: the call runs now."""


@dataclass(frozen=True, slots=True)
class AlreadyDone:
    """The effect of this very key has ended: its recorded result stands for it.

    Attributes:
        effect: The row, DONE or FAILED.
    """

    effect: EffectRecord


@dataclass(frozen=True, slots=True)
class ClaimRefused:
    """Nothing was taken.

    Attributes:
        reason: `LIMIT_REACHED`, `APPROVAL_USED`, `EXPIRED`, `APPROVAL_VOID`, `EFFECT_RUNNING`,
            `EFFECT_UNKNOWN`, `KEY_CONFLICT` or `LEASE_LOST`.
        message: What stood in the way, for instance the limit's rule.
    """

    reason: Reason
    message: str = ""


ClaimAnswer: TypeAlias = Claimed | AlreadyDone | ClaimRefused


WRITES: Final = frozenset({"insert", "update", "delete", "merge", "replace", "with"})
"""With which words a statement may begin: it writes, and ends nobody's transaction."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One write of a tool in the store's own transaction.

    Attributes:
        sql: One statement that writes, in the words of the store's database and its driver.
        parameters: Its values, by place or by name, as the driver takes them.
        rows: How many rows it must change, or None for any number. With another number
            nothing of the transaction is kept.
        otherwise: What the model is told then, for instance `"there is not enough of it"`.

    Raises:
        ToolDefinitionError: It begins with a word that writes nothing, or ends a transaction.
    """

    sql: str
    parameters: Mapping[str, Any] | Sequence[Any] = ()
    rows: int | None = None
    otherwise: str = "what this rests on has changed meanwhile, so nothing was done"

    def __post_init__(self) -> None:
        words = self.sql.split(maxsplit=1)
        if not words or words[0].lower() not in WRITES:
            raise ToolDefinitionError(
                f"a statement of a tool's transaction writes ({', '.join(sorted(WRITES))}): {self.sql!r}"
            )


@dataclass(frozen=True, slots=True)
class Committed:
    """The statements, the effect and its record stand together."""


@dataclass(frozen=True, slots=True)
class NotCommitted:
    """Nothing of it stands; the effect is as it was.

    Attributes:
        otherwise: What the model is told, where a statement has changed another number of rows
            than it must; empty where the database has refused it.
        detail: What the database has said, for the audit log alone.
    """

    otherwise: str = ""
    detail: str = ""


CommitAnswer: TypeAlias = Committed | AlreadyDone | NotCommitted
