"""Explain: what would become of a call, and why, without taking or running anything."""

from typing import TypeAlias

from placet.errors import described
from placet.gate.gate import Check
from placet.gate.policy import is_open
from placet.gate.request import GateRequest
from placet.runtime.facts import look_up_facts
from placet.runtime.prepare import make_ready
from placet.runtime.site import CallSite
from placet.runtime.world import World
from placet.values.call import ToolCall, Wire
from placet.values.construction import dataclass
from placet.values.decision import Decision, Deny, Reason
from placet.values.json import JsonObject, canonical
from placet.values.tool import Remote

Answers: TypeAlias = tuple[tuple[str, Decision], ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would become of a call.

    Attributes:
        decision: What the gate would say.
        answers: What each check says, by its name, in the order in which they are asked;
            empty when the call would not come as far as the gate.
        remote: What would run, where the tool comes from elsewhere; else None.
    """

    decision: Decision
    answers: Answers = ()
    remote: Remote | None = None


async def explain(world: World, tool: str, arguments: JsonObject, principal_id: str) -> Explanation:
    """Return what would become of a call, and what each check says to it.

    It is for operators: unlike a refusal, it tells whether a tool is hidden or missing.

    Raises:
        StoreError: The store or the directory cannot be read.
    """
    principal = await world.directory.find(principal_id)
    if principal is None:
        return Explanation(
            Deny(Reason.UNKNOWN_TOOL, f"principal {principal_id!r} is not known", rule="unknown principal")
        )
    found = world.toolset.find(tool)
    if found is None:
        return Explanation(Deny(Reason.UNKNOWN_TOOL, f"there is no tool {tool!r}", rule="no such tool"))
    if not is_open(found.spec, principal, world.policy):
        text = f"tool {tool!r} is hidden from {principal_id!r}: their roles are {sorted(principal.roles)}"
        return Explanation(Deny(Reason.UNKNOWN_TOOL, text, rule="hidden by role"))
    read = found.reader.read_json(arguments)
    if isinstance(read, Deny):
        return Explanation(read)
    call = ToolCall("explain", tool, canonical(arguments), wire=Wire.DIRECT)
    site = CallSite(run_id="", key="explain", principal_id=principal_id)
    facts = await look_up_facts(world, make_ready(world, call, site, found, principal, read, 0.0))
    if isinstance(facts, Deny):
        return Explanation(facts)
    answers = tuple((_name(check), _answer(check, facts)) for check in world.gate.checks)
    return Explanation(world.gate.decide(facts), answers, found.spec.remote)


def _answer(check: Check, facts: GateRequest) -> Decision:
    try:
        return check(facts)
    except Exception as error:  # noqa: BLE001 - a check that breaks refuses, and its text is for the operator
        return Deny(Reason.CHECK_FAILED, "this check failed", rule=_name(check), detail=described(error))


def _name(check: Check) -> str:
    return getattr(check, "__name__", type(check).__name__).removeprefix("check_")
