"""Offered: whether all that tools declare can be done here. Nobody may rest on what is declared and not done."""

from collections.abc import Iterator

from placet.errors import ConfigurationError
from placet.ports import Store
from placet.runtime.isolated import check_isolated
from placet.runtime.world import World
from placet.tools.tool import Tool
from placet.values.tool import Isolation, Survival


def check_offered(world: World) -> None:
    """Refuse a tool, of this world or of one nested in it at any depth, that declares what cannot be done here.

    Raises:
        ConfigurationError: It asks for a process of its own that could not be had, or for the
            transaction of a store that has none.
    """
    for tool in _tools(world):
        _check(tool, world.store)


def _tools(world: World) -> Iterator[Tool]:
    yield from world.toolset
    for agent in world.agents.values():
        yield from _tools(agent.world)


def _check(tool: Tool, store: Store) -> None:
    spec = tool.spec
    if spec.isolation is Isolation.PROCESS:
        check_isolated(tool)
    if spec.survival is Survival.TRANSACTION and spec.isolation is Isolation.PROCESS:
        raise ConfigurationError(
            f"tool {spec.name!r} has isolation='process' and survival='transaction': the store's transaction "
            "stays in this process; choose one of the two"
        )
    if spec.survival is Survival.TRANSACTION and not store.takes_statements:
        raise ConfigurationError(
            f"tool {spec.name!r} has survival='transaction', and the store {type(store).__name__} has no database to "
            "write in; use a SQLite or PostgreSQL store, or survival='key' with the context's idempotency key"
        )
