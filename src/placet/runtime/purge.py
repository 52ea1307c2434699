"""Purge: forget what ended runs have said and done, and record that it was forgotten."""

from datetime import timedelta

from placet.runtime.world import World
from placet.values.audit import AuditEntry, AuditKind
from placet.values.json import canonical


async def purge(world: World, older_than: timedelta) -> int:
    """Return how many runs were purged that ended so long ago.

    Raises:
        StoreError: The store cannot be written.
    """
    now = world.clock.now()
    body = canonical({"ended_before": (now - older_than).isoformat()})
    entry = AuditEntry(at=now, kind=AuditKind.PURGE, decision="purged", body=body)
    purged = await world.store.purge_runs(now - older_than, entry)
    if purged:
        world.tell(entry)
    return purged
