"""A request to the gate with everything in order, to be spoilt one thing at a time."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from placet.gate.request import GateRequest
from placet.values.approval import Approval, ApprovalRequest, ApprovalStatus, Yes
from placet.values.principal import Principal
from placet.values.tool import Effect, ToolSpec

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
CLERK = Principal("s1", roles={"support"})

PAY = ToolSpec(
    name="pay",
    description="Pay somebody.",
    effect=Effect.WRITE,
    input_schema={"type": "object"},
    roles=frozenset({"support"}),
    approval=Approval.always(approvers={"finance"}),
)
LOOK = ToolSpec(
    name="look",
    description="Look something up.",
    effect=Effect.READ,
    input_schema={"type": "object"},
    roles=frozenset({"support"}),
)

YES = ApprovalRequest(
    id="apr_1",
    token_hash="0" * 64,
    run_id="run_1",
    call_key="run_1:1.0",
    principal_id="s1",
    tool="pay",
    arguments={"euro": 5},
    digest="digest of pay 5",
    schema_digest=PAY.digest,
    policy_digest="",
    rule="approve: always",
    yes=Yes.APPROVE,
    approvers=frozenset({"finance"}),
    preview=None,
    provenance={},
    created_at=NOW - timedelta(minutes=1),
    expires_at=NOW + timedelta(minutes=14),
    status=ApprovalStatus.APPROVED,
    decided_by="f1",
)

MakeRequest = Callable[..., GateRequest]


@pytest.fixture
def make_request() -> MakeRequest:
    def make(**changes: Any) -> GateRequest:
        request = GateRequest(
            tool=LOOK, principal=CLERK, arguments=SimpleNamespace(euro=5), now=NOW, digest="digest of pay 5"
        )
        return replace(request, **changes)

    return make
