"""GateRequest: every fact that a check may look at, looked up before it is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import Any

from placet.values.approval import ApprovalRequest, Preview
from placet.values.construction import dataclass, made_quickly
from placet.values.effect import Take
from placet.values.json import Json
from placet.values.policy import Policy
from placet.values.principal import Principal
from placet.values.provenance import Provenance
from placet.values.tool import ToolSpec


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """One call and all that is known of it.

    Attributes:
        tool: What the tool declares.
        principal: Who the principal is today.
        arguments: The validated arguments, as the tool would get them.
        now: The time of the decision, aware, UTC.
        written: The same as JSON, by the names of the tool's schema; empty without a policy.
        digest: Keyed digest of tool and arguments, or empty where nothing needs it.
        policy: The policy in force, or None where the tools' own roles decide alone.
        resource: What the tool's loader found; None when it found nothing or there is no loader.
        takes: What the call would take from which windows.
        used: How much of each of them is used.
        rejected: Whether a person has rejected this very call in this run.
        approval: The approval that the call carries, or None.
        preview: What would change, when the call carries an approval: to compare with what
            the approver saw.
        provenance: Where each argument came from, by its name.
        entered: Whether the tool has begun before and is entered again, because a run nested
            in it has waited: what it took is taken already.
    """

    tool: ToolSpec
    principal: Principal
    arguments: Any
    now: datetime
    written: Mapping[str, Json] = field(default_factory=dict[str, Json])
    digest: str = ""
    policy: Policy | None = None
    resource: Any = None
    takes: Sequence[Take] = ()
    used: Sequence[Decimal] = ()
    rejected: bool = False
    approval: ApprovalRequest | None = None
    preview: Preview | None = None
    provenance: Mapping[str, Provenance] = field(default_factory=dict[str, Provenance])
    entered: bool = False

    @property
    def policy_digest(self) -> str:
        """The digest of the policy in force; an approval is bound to it."""
        return self.policy.digest if self.policy is not None else ""
