"""Door: one command at work: the agent, the screen, the person who asks and their language.

A door parses, calls the same runtime as every other door, and prints. No rule lives here.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from placet.cli.identity import Person
from placet.cli.screen import Screen
from placet.config import Settings
from placet.errors import ConfigurationError
from placet.values.principal import Principal
from placet.wiring import Agent, Who
from placet.words.catalog import say, say_plural
from placet.words.language import guess_language, normalise_language

T = TypeVar("T")


@dataclass(slots=True, kw_only=True, eq=False)
class Door:
    """What a command has at hand.

    Attributes:
        agent: The application's agent, open.
        screen: Where to print.
        settings: What was set.
        language: In which the person is spoken to.
        person: Who asks, or None where nobody was named.
        runner: The event loop of this command.
    """

    agent: Agent
    screen: Screen
    settings: Settings
    language: str
    person: Person | None = None
    runner: "asyncio.Runner" = field(default_factory=asyncio.Runner)

    @property
    def who(self) -> Who:
        """Who asks, as the agent is told, in a command that is carried out on somebody's behalf.

        Raises:
            ConfigurationError: It is not such a command.
        """
        return self._named().who

    @property
    def asker(self) -> Principal:
        """Who asks, with today's roles, in a command that is carried out on somebody's behalf.

        Raises:
            ConfigurationError: It is not such a command.
        """
        return self._named().principal

    @property
    def principal(self) -> Principal | None:
        """Who asks, with today's roles; None where nobody was named."""
        return self.person.principal if self.person is not None else None

    def _named(self) -> Person:
        if self.person is None:
            raise ConfigurationError("this command is carried out on nobody's behalf; declare Identity.REQUIRED")
        return self.person

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what comes of some work; Ctrl-C cancels it cleanly, then raises `KeyboardInterrupt`."""
        return self.runner.run(work)

    def say(self, message: str, /, **values: Any) -> str:
        """Return a message in the person's language."""
        return say(message, self.language, **values)

    def say_plural(self, forms: tuple[str, str], n: int, /, **values: Any) -> str:
        """Return a message that counts something in the person's language."""
        return say_plural(forms[0], forms[1], n, self.language, **values)

    def listen(self, question: str) -> None:
        """Go over to the language of a question, unless one was set."""
        if self.settings.language is None:
            self.language = guess_language(question) or self.language


def language_of(settings: Settings, principal: Principal | None, locale: str) -> str:
    """Return in which language a person is spoken to.

    Args:
        settings: Which may say it.
        principal: Whose attribute `language` may say it.
        locale: What the environment says, as `"pt_BR.UTF-8"`.
    """
    said = principal.attributes.get("language") if principal is not None else None
    own = said if isinstance(said, str) else None
    return settings.language or normalise_language(own) or normalise_language(locale) or "en"
