"""Who asks: `--as` and `--role`, which anybody can type, and which therefore count on a demonstration store only."""

from collections.abc import Sequence
from dataclasses import dataclass

from placet.cli.exits import Exit, Failure
from placet.runtime.directory import StatedPrincipals
from placet.values.decision import Reason
from placet.values.principal import Principal
from placet.wiring import Agent, Who
from placet.words.catalog import say
from placet.words.messages import (
    DEMO_FIX,
    DEMO_ONLY,
    NOT_IN_DIRECTORY,
    ROLES_FROM_DIRECTORY,
    STATE_ROLES,
    UNKNOWN_PRINCIPAL,
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody on whose behalf a command is carried out.

    Attributes:
        principal: Who they are today.
        who: What the agent is told: the principal where the command line has stated one,
            else the id, so that the directory speaks at every decision.
    """

    principal: Principal
    who: Who


async def identify(agent: Agent, id: str, roles: Sequence[str], language: str) -> Person | Failure:  # noqa: A002 - the principal's own word
    """Return whom the command line names, or why that does not count.

    Args:
        agent: Whose store and directory.
        id: Of `--as`.
        roles: Of `--role`. On a store without a directory they are stated, in place of what was stated before.
        language: Of the person.

    Raises:
        StoreError: The store or the directory cannot be read.
    """
    if not await agent.store.is_demo():
        return _denied(say(DEMO_ONLY, language), say(DEMO_FIX, language))
    found = await agent.world.directory.find(id)
    if roles:
        if not isinstance(agent.world.directory, StatedPrincipals):
            return _denied(say(ROLES_FROM_DIRECTORY, language))
        stated = Principal(id, roles, found.attributes if found is not None else None)
        return Person(stated, stated)
    if found is None:
        fix = STATE_ROLES if isinstance(agent.world.directory, StatedPrincipals) else NOT_IN_DIRECTORY
        return _denied(say(UNKNOWN_PRINCIPAL, language, id=id), say(fix, language))
    return Person(found, id)


def _denied(message: str, fix: str = "") -> Failure:
    return Failure(exit=Exit.DENIED, code=Reason.NOT_PERMITTED, message=message, fix=fix)
