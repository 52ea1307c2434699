"""Settle: a person says how an effect ended of which nobody knew.

An effect in doubt blocks every like call, in every run and through every door, until
somebody has looked. Saying "it failed" lets the same call be made again, so it takes a
person who might have let it run in the first place.
"""

from typing import Final

from placet.agent.snapshot import dump_result
from placet.gate.approver import check_approver
from placet.gate.permission import permitting_role
from placet.gate.policy import is_open
from placet.runtime.record import json_text
from placet.runtime.world import World
from placet.values.approval import Yes
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import OK, ToolResult
from placet.values.decision import Deny, Reason
from placet.values.effect import EffectRecord, EffectState
from placet.values.outcome import Refused
from placet.values.principal import Principal

_SAID: Final = {
    EffectState.DONE: "a person has looked: the call was carried out",
    EffectState.FAILED: "a person has looked: the call was not carried out",
}


async def settle_effect(world: World, key: str, state: EffectState, by: str) -> EffectRecord | Refused:
    """Take a person's word on how an effect ended that is unknown.

    Args:
        world: What the runtime needs from outside.
        key: The key of the effect.
        state: `DONE` or `FAILED`.
        by: Principal id of that person, as the host application has authenticated them.

    Returns:
        The effect as the store has it now; whoever was first counts.

    Raises:
        StoreError: The store or the directory cannot be read or written; nothing was settled.
    """
    effect = await world.store.find_effect(key)
    person = await world.directory.find(by)
    if effect is None or person is None:
        return Refused(reason=Reason.NOT_FOUND, message="there is no such effect for this person")
    now = world.clock.now()
    known = effect.state_at(now)
    if known is EffectState.RUNNING:
        text = f"the effect {key!r} may still end by itself until {effect.deadline.isoformat()}"
        return Refused(reason=Reason.EFFECT_RUNNING, message=text, run_id=effect.run_id)
    if known is not EffectState.UNKNOWN:
        text = f"how the effect {key!r} ended is known: {known}"
        return Refused(reason=Reason.KEY_CONFLICT, message=text, run_id=effect.run_id)
    entitled = await _entitlement(world, effect, person)
    if isinstance(entitled, Refused):
        return entitled
    failed = state is EffectState.FAILED
    said = ToolResult("", _SAID[state], is_error=failed, code=state.value if failed else OK)
    entry = AuditEntry(
        at=now,
        kind=AuditKind.OUTCOME,
        run_id=effect.run_id,
        call_key=key,
        principal_id=by,
        tool=effect.tool,
        decision=state.value,
        rule=f"settled by a person, {entitled}",
        body=json_text({"requested_by": effect.principal_id, "was": known.value}),
    )
    await world.store.settle(key, state, dump_result(said), entry)
    world.tell(entry)
    settled = await world.store.find_effect(key)
    return settled if settled is not None else effect


async def _entitlement(world: World, effect: EffectRecord, person: Principal) -> str | Refused:
    """Return by what a person may settle the effect: they could have approved it, or made the call themselves."""
    request = await world.store.find_approval(id=effect.approval_id) if effect.approval_id else None
    if request is not None and request.yes is Yes.APPROVE:
        allowed = check_approver(request, person, Yes.APPROVE)
        if isinstance(allowed, Deny):
            return Refused(reason=allowed.reason, message=allowed.message, run_id=effect.run_id)
        return allowed.rule
    tool = world.toolset.find(effect.tool)
    if tool is None or not is_open(tool.spec, person, world.policy):
        text = "this takes a person to whom the tool is open"
        return Refused(reason=Reason.NOT_PERMITTED, message=text, run_id=effect.run_id)
    role = permitting_role(tool.spec, person)
    return "the policy" if role is None else f"role {role}"
