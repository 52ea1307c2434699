"""CallSite: where a call stands, and what it brings along."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from placet.values.approval import ApprovalRequest
from placet.values.effect import Lease
from placet.values.event import Event

Emit = Callable[[Event], None]
"""Told what happens. It must not wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """Where a call stands. Nothing in it can be touched by the model or a client.

    Attributes:
        run_id: The run it belongs to.
        key: The key of the call: `run:turn.index`, or `direct:principal:tool:key`.
        principal_id: On whose behalf.
        language: Of the person.
        lease: Under which the run is owned; None where there is no stored run.
        approval: The approval that the call carries, as the store has it.
        rejected: Keyed digests of calls that a person has rejected in this run.
        may_have_run: Whether the ledger is asked first, because the call may have been
            begun before: after a takeover, and at doors where a client gives the key.
        wants_answer: Whether the tool's answer template is filled, as the model writes no prose.
        emit: Who watches, or None.
        state: A workflow's state, or None.
    """

    run_id: str
    key: str
    principal_id: str
    language: str = "en"
    lease: Lease | None = None
    approval: ApprovalRequest | None = None
    rejected: frozenset[str] = frozenset()
    may_have_run: bool = False
    wants_answer: bool = False
    emit: Emit | None = None
    state: Any = None
