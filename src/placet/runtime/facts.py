"""Facts: everything that a check may look at, looked up before it is asked."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from placet.agent.provenance import trace
from placet.errors import described
from placet.gate.rate_limit import what_it_takes
from placet.gate.request import GateRequest
from placet.runtime.attempt import Ready
from placet.runtime.look_up import failed, look_up
from placet.runtime.world import World
from placet.tools.complaints import property_names
from placet.tools.tool import Tool, Version
from placet.values.approval import Preview
from placet.values.construction import maker
from placet.values.decision import Deny
from placet.values.json import Json, canonical
from placet.values.provenance import Origin, Provenance

_new_request: Final = maker(GateRequest)

RESOURCE_VERSION: Final = "resource_version"
"""Among the facts on which a yes rests: the version of what was loaded."""


async def look_up_facts(world: World, ready: Ready) -> GateRequest | Deny:
    """Return every fact that a check may look at, or the refusal for one that cannot be had."""
    attempt, tool, context = ready.attempt, ready.tool, ready.context
    resource = preview = None
    if tool.load is not None:
        loaded = await look_up(world, tool, tool.load, ready.arguments.value, context)
        if isinstance(loaded, Deny):
            return loaded
        resource = loaded.value
        if tool.version is not None and resource is not None:
            version = version_of(tool.version, resource)
            if isinstance(version, Deny):
                return version
            context.version = version
    if attempt.site.approval is not None:
        seen = await see_preview(world, ready, resource)
        if isinstance(seen, Deny):
            return seen
        preview = seen
    takes = what_it_takes(tool.spec, context.principal.id, ready.arguments.json) if tool.spec.limits else ()
    if isinstance(takes, Deny):
        return takes
    return _new_request(
        tool=tool.spec,
        principal=context.principal,
        arguments=ready.arguments.value,
        written=ready.arguments.json if world.policy is not None else {},
        now=context.now,
        digest=attempt.digest,
        policy=world.policy,
        resource=resource,
        takes=takes,
        used=await world.store.usage(takes, context.now) if takes else (),
        rejected=attempt.digest in attempt.site.rejected,
        approval=attempt.site.approval,
        preview=preview,
        provenance=_provenance(world, ready) if tool.spec.has_effect or tool.spec.trusted_arguments else {},
        entered=attempt.site.entered or attempt.site.again,
    )


class _Traced(Mapping[str, Provenance]):
    """Where each argument came from, traced when somebody first asks: it costs a look at the whole conversation.

    Most writes are decided without it. What it is traced in does not change, so that asking
    later gives the same.
    """

    __slots__ = ("_found", "_trace")

    def __init__(self, trace: Callable[[], Mapping[str, Provenance]]) -> None:
        self._trace = trace
        self._found: Mapping[str, Provenance] | None = None

    def _all(self) -> Mapping[str, Provenance]:
        if self._found is None:
            self._found = self._trace()
        return self._found

    def __getitem__(self, name: str) -> Provenance:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def _provenance(world: World, ready: Ready) -> Mapping[str, Provenance]:
    """Return where each argument came from; one that a program has given is the developer's."""
    arguments = ready.arguments.json
    conversation = ready.attempt.site.conversation
    if not conversation:
        return dict.fromkeys(arguments, Provenance(Origin.DEVELOPER))
    schema, defaults = ready.tool.spec.input_schema, _defaults(ready.tool)
    return _Traced(lambda: trace(arguments, conversation, world.is_writable, defaults, property_names(schema)))


def _defaults(tool: Tool) -> dict[str, Json]:
    properties = tool.spec.input_schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: form["default"] for name, form in properties.items() if isinstance(form, dict) and "default" in form}


def version_of(tell: Version, resource: Any) -> str | int | Deny:
    """Return which version a resource is, as it is compared and stored; one that cannot be told refuses the call."""
    try:
        version = tell(resource)
        return version if type(version) in (str, int) else str(version)
    except Exception as error:  # noqa: BLE001 - whatever breaks here, the version is not known
        return failed("version", described(error))


async def see_preview(world: World, ready: Ready, resource: Any) -> Preview | Deny | None:
    """Return what would change, None where the tool declares nothing to show, or the refusal for what breaks.

    A version that the tool declares is a fact on which the yes rests, whether a text shows it or not.
    """
    version = ready.context.version
    preview = None if version is None else Preview("")
    if ready.tool.preview is not None:
        seen = await look_up(world, ready.tool, ready.tool.preview, ready.arguments.value, resource, ready.context)
        if isinstance(seen, Deny):
            return seen
        try:
            preview = _written(seen.value)
        except Exception as error:  # noqa: BLE001 - what cannot be shown or stored is no preview
            return failed("preview", described(error))
    if version is None or preview is None:
        return preview
    return Preview(preview.text, {**preview.binds, RESOURCE_VERSION: version})


def _written(shown: Any) -> Preview:
    """Return what a preview gives as it will be stored: words, and facts as JSON has them, so that they compare."""
    if not isinstance(shown, Preview):
        return Preview(str(shown))
    return Preview(str(shown.text), json.loads(canonical(dict(shown.binds))) if shown.binds else {})
