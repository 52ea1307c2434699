"""A person's yes or no to one call: what a tool asks for, and the request that waits for it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from placet.errors import ConfigurationError
from placet.values.construction import dataclass
from placet.values.json import Json, JsonObject
from placet.values.limits import APPROVAL_TTL, duration
from placet.values.principal import EVERYONE

Condition: TypeAlias = Callable[[Any], bool]
"""Pure: from the validated arguments to whether a person must be asked."""


class Yes(StrEnum):
    """The two kinds of yes. They are never the same act."""

    CONFIRM = "confirm"
    """The requester's own yes, only where the tool declares that the requester may give it."""
    APPROVE = "approve"
    """The yes of another authenticated person who holds one of the approver roles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRule:
    """What a tool declares about the yes it needs. Made by `Approval` and `Confirmation`.

    Attributes:
        yes: Whose yes.
        condition: When it is needed; None means always.
        ttl: How long the request waits. Silence is a refusal.
        approvers: Roles that may say yes; any one of them will do. Empty for a confirmation.
    """

    yes: Yes
    condition: Condition | None = None
    ttl: timedelta = APPROVAL_TTL
    approvers: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.yes is Yes.APPROVE and not self.approvers:
            msg = "an approval needs approver roles: Approval.always(approvers={'supervisor'})"
            raise ConfigurationError(msg)
        if EVERYONE in self.approvers:  # a role that nobody holds
            msg = f"approvers are roles of their own, and {EVERYONE!r} is none: name a role, or use Confirmation"
            raise ConfigurationError(msg)
        duration(self.ttl)


def untrusted_alone(_: Any) -> bool:
    """Return that the arguments themselves ask for no yes: where they came from does (`when_untrusted`)."""
    return False


class Approval:
    """Another person's yes: `Approval.always(...)`, `when(condition, ...)` or `when_untrusted(...)`."""

    @staticmethod
    def always(*, approvers: Iterable[str], ttl: timedelta | float | str = APPROVAL_TTL) -> ApprovalRule:
        """Return the rule that every call waits for an approver.

        Args:
            approvers: Roles; whoever has one of them may approve.
            ttl: How long the question stands: seconds, a timedelta, or a text such as `"15m"`.

        Raises:
            ConfigurationError: There are no approvers, everybody is one, or the ttl is not above zero.
        """
        return ApprovalRule(yes=Yes.APPROVE, ttl=duration(ttl), approvers=_roles(approvers))

    @staticmethod
    def when(
        condition: Condition, *, approvers: Iterable[str], ttl: timedelta | float | str = APPROVAL_TTL
    ) -> ApprovalRule:
        """Return the rule that calls for which `condition(arguments)` holds wait for an approver.

        A condition that breaks refuses the call; one that answers anything but a bool does too.

        Args:
            condition: Gets the validated arguments, and says whether a call waits.
            approvers: Roles; whoever has one of them may approve.
            ttl: How long the question stands: seconds, a timedelta, or a text such as `"15m"`.

        Raises:
            ConfigurationError: There are no approvers, everybody is one, or the ttl is not above zero.
        """
        return ApprovalRule(yes=Yes.APPROVE, condition=condition, ttl=duration(ttl), approvers=_roles(approvers))

    @staticmethod
    def when_untrusted(*, approvers: Iterable[str], ttl: timedelta | float | str = APPROVAL_TTL) -> ApprovalRule:
        """Return the rule that calls wait for an approver whose `trusted_arguments` come from untrusted output.

        Args:
            approvers: Roles; whoever has one of them may approve.
            ttl: How long the question stands: seconds, a timedelta, or a text such as `"15m"`.

        Raises:
            ConfigurationError: There are no approvers, everybody is one, or the ttl is not above zero.
        """
        return Approval.when(untrusted_alone, approvers=approvers, ttl=ttl)


class Confirmation:
    """The requester's own yes: `Confirmation.always()`, `when(condition)` or `when_untrusted()`."""

    @staticmethod
    def always(*, ttl: timedelta | float | str = APPROVAL_TTL) -> ApprovalRule:
        """Return the rule that every call waits for the requester's own yes.

        Args:
            ttl: How long the question stands: seconds, a timedelta, or a text such as `"15m"`.

        Raises:
            ConfigurationError: The ttl is not above zero.
        """
        return ApprovalRule(yes=Yes.CONFIRM, ttl=duration(ttl))

    @staticmethod
    def when(condition: Condition, *, ttl: timedelta | float | str = APPROVAL_TTL) -> ApprovalRule:
        """Return the rule that calls for which `condition(arguments)` holds wait for the requester.

        Args:
            condition: Gets the validated arguments, and says whether a call waits.
            ttl: How long the question stands: seconds, a timedelta, or a text such as `"15m"`.

        Raises:
            ConfigurationError: The ttl is not above zero.
        """
        return ApprovalRule(yes=Yes.CONFIRM, condition=condition, ttl=duration(ttl))

    @staticmethod
    def when_untrusted(*, ttl: timedelta | float | str = APPROVAL_TTL) -> ApprovalRule:
        """Return the rule that calls wait for the requester whose `trusted_arguments` come from untrusted output.

        Args:
            ttl: How long the question stands: seconds, a timedelta, or a text such as `"15m"`.

        Raises:
            ConfigurationError: The ttl is not above zero.
        """
        return Confirmation.when(untrusted_alone, ttl=ttl)


def _roles(roles: Iterable[str]) -> frozenset[str]:
    if isinstance(roles, str):
        msg = f"approver roles are a set of words, as in approvers={{{roles!r}}}, not {roles!r}"
        raise ConfigurationError(msg)
    return frozenset(roles)


@dataclass(frozen=True, slots=True)
class Preview:
    """What would change if the call ran, for the person who decides.

    Attributes:
        text: One or a few lines in the person's language, for instance
            `"8842, 3 items, R$ 412,90, status paid → cancelled"`.
        binds: The facts on which the text rests. When one of them has changed by the time
            the call would run, the approval is void and is asked again.
    """

    text: str
    binds: Mapping[str, Json] = field(default_factory=dict[str, Json])


class ApprovalStatus(StrEnum):
    """How far a request is. Each arrow is one conditional statement in the store.

    `pending → approved | rejected | expired`, `approved → used | void`.
    """

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    USED = "used"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """One call that waits for one person's yes, as the store keeps it.

    Attributes:
        id: Public, for instance `"apr_7…"`. It grants nothing.
        token_hash: SHA-256 of the token, in hex. The token itself is never stored or listed.
        run_id: The run that waits.
        call_key: `run:turn.index` of the call, the key of its effect.
        principal_id: On whose behalf the call would run.
        tool: The tool's name.
        arguments: Every argument that will run, unredacted. Shown to the approver alone.
        digest: Keyed digest of tool and arguments.
        schema_digest: The tool as it was declared when the question was asked.
        policy_digest: The policy that asked.
        rule: Which rule asked for the yes.
        yes: Which kind of yes.
        approvers: Roles that may give it.
        preview: What would change, or None when the tool declares no preview.
        provenance: Where each argument came from, by its name.
        created_at: Aware, UTC.
        expires_at: Aware, UTC. From then on the request is expired, whether or not
            anybody has written that down.
        status: How far it is.
        decided_by: Principal id of the person who decided.
        decided_at: Aware, UTC.
        note: The person's reason, when it was rejected.
        note_for_model: Whether the model may read that reason.
    """

    id: str
    token_hash: str
    run_id: str
    call_key: str
    principal_id: str
    tool: str
    arguments: JsonObject
    digest: str
    schema_digest: str
    policy_digest: str
    rule: str
    yes: Yes
    approvers: frozenset[str]
    preview: Preview | None
    provenance: Mapping[str, str]
    created_at: datetime
    expires_at: datetime
    status: ApprovalStatus = ApprovalStatus.PENDING
    decided_by: str | None = None
    decided_at: datetime | None = None
    note: str | None = None
    note_for_model: bool = True

    def status_at(self, now: datetime) -> ApprovalStatus:
        """Return how far the request is at a time: what is past its expiry is expired."""
        if self.status in (ApprovalStatus.PENDING, ApprovalStatus.APPROVED) and now >= self.expires_at:
            return ApprovalStatus.EXPIRED
        return self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecision:
    """What a person said to a request, before the store has taken it.

    Attributes:
        approval_id: Which request.
        yes: Whether the call may run.
        by: Principal id of the authenticated person.
        at: Aware, UTC.
        note: The reason, for a no.
        note_for_model: Whether the model may read the reason.
        arguments: The arguments that run instead, when the person edited them.
        digest: The keyed digest of those, or of the original.

    Raises:
        ConfigurationError: The yes is neither True nor False.
    """

    approval_id: str
    yes: bool
    by: str
    at: datetime
    note: str | None = None
    note_for_model: bool = True
    arguments: JsonObject | None = None
    digest: str | None = None

    def __post_init__(self) -> None:
        if self.yes is not True and self.yes is not False:
            raise ConfigurationError(f"{self.yes!r} is no decision; say True for a yes, False for a no")
