"""The public failures of other frameworks whose input is a run, and what plays their calls."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from placet.models.scripted import ScriptedModel
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval, Preview
from placet.values.call import ToolResult
from placet.values.outcome import Answer, Outcome, PendingApproval, Stopped, Waiting
from placet.values.principal import EVERYONE
from tests.models.public_failures import CASES
from tests.runtime.conftest import Office
from tests.runtime.doors import results_of

KINDS: Final = (
    "approval", "authz", "timeout-cancel", "limits", "context-isolation", "retry-side-effect", "audit-storage",
    "secret-leak", "prompt-injection",
)  # fmt: skip

IDS: Final = frozenset(
    key for key, case in CASES.items() if case["kind"] in KINDS and case["input"].get("form") != "database"
)


def ids_in(tests: Iterable[Any]) -> set[str]:
    """The cases that tests name in their docstrings."""
    return {case_id for test in tests for case_id in re.findall(r"\bC\d{3}\b", test.__doc__ or "")}


def playing(case_id: str, model: ScriptedModel | None = None) -> ScriptedModel:
    """A model that makes the calls of a case in one turn, under the ids that the case gives them."""
    model = model or ScriptedModel()
    for place, call in enumerate(CASES[case_id]["input"]["calls"]):
        add = model.also_calls_raw if place else model.calls_raw
        add(call["tool"], json.dumps(call["args"]), id=call["id"])
    return model


def waiting_for(outcome: Outcome) -> tuple[PendingApproval, ...]:
    assert isinstance(outcome, Waiting), outcome
    return outcome.approvals


def results(outcome: Outcome) -> list[ToolResult]:
    assert isinstance(outcome, Answer | Stopped), outcome
    return results_of(outcome.history)


@tool(effect="read", roles={EVERYONE})
async def list_rows(context: Context[Office]) -> str:
    """List the rows."""
    context.deps.done.append(("list_rows",))
    return "rows 1, 2 and 3"


@tool(effect="destructive", roles={"support"}, approval=Approval.always(approvers={"finance"}))
async def delete_row(id: int, context: Context[Office]) -> str:  # noqa: A002 - the word of the cases
    """Delete a row."""
    context.deps.done.append(("delete_row", id))
    return f"row {id} is gone"


@tool(effect="read", roles={"support"}, approval=Approval.always(approvers={"finance"}))
async def ask(q: str) -> str:
    """Ask a person; what they write in place of the question is the answer."""
    return f"they say {q}"


async def preview_path(arguments: Any, _: Any, __: Context[Any]) -> Preview:
    return Preview(f"open {arguments.path}")


@tool(
    effect="read", roles={"support"}, approval=Approval.always(approvers={"finance"}), preview=preview_path, name="open"
)
async def open_path(path: str) -> str:
    """Open a file."""
    return path


GATED: Final[tuple[Tool, ...]] = (list_rows, delete_row, ask, open_path)
