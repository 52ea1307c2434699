"""Invoke: the one path of every call, whichever door it came through.

```text
resolve → validate → look up → DECIDE → commit → record intent → execute → shape → record outcome
└──────────── prepare ────────────────┘ └──────────────────── carry_out ──────────────────────┘
```

`prepare` ends in one of three values: `Settled` (refused, or known already), `Asked` (a
person has to say yes) or `Permitted`. `carry_out` takes what the call needs in one atomic
step of the store, executes, and gives a result out only once it is recorded. Nothing else
in placet executes a tool.
"""

from typing import assert_never

from placet.runtime.carry_out import carry_out
from placet.runtime.execute import Left
from placet.runtime.prepare import Asked, Permitted, Settled, prepare
from placet.runtime.site import CallSite
from placet.runtime.world import World
from placet.values.call import ToolCall, ToolResult


async def invoke(world: World, call: ToolCall, site: CallSite) -> ToolResult | Asked | Left:
    """Take one call through the gate and, when it is permitted, run it.

    Returns:
        What the model is told, already recorded; or the question for a person; or that a run
        nested in the call waits for one.
    """
    prepared = await prepare(world, call, site)
    match prepared:
        case Permitted():
            return await carry_out(world, prepared)
        case Settled():
            return prepared.result
        case Asked():
            return prepared
        case _:
            assert_never(prepared)
