"""For tests of what is built on placet: a model that plays a script, a clock that stands still, a store in memory.

`placet.testing.store_contract` has the laws that every store keeps, for a store of your own.
"""

from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.stores.memory import MemoryStore
from placet.testing.frozen_clock import FrozenClock

__all__ = ["FrozenClock", "ListSink", "MemoryStore", "ScriptedModel"]
