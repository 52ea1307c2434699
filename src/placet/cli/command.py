"""Command: what every command does before and after its own work.

`@command(group, "show")` makes a typer command of a function that gets a `Door`. The options
that all commands have are added to the function's own, and what it returns becomes the
exit code.
"""

import inspect
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from placet.cli.application import build_agent
from placet.cli.door import Door, language_of
from placet.cli.exits import Exit, Failure, exit_of_error
from placet.cli.identity import identify
from placet.cli.screen import Screen, open_screen
from placet.config import Settings, read_settings
from placet.errors import ConfigurationError, PlacetError, StoreVersionError
from placet.values.run import StopReason
from placet.words.catalog import say
from placet.words.language import normalise_language
from placet.words.messages import FAILED, LAST_WORDS, NEWER_STORE, WHO_ASKS, WRONG_CONFIGURATION

Ended: TypeAlias = Exit | Failure
Work: TypeAlias = Callable[..., Ended | Coroutine[Any, Any, Ended]]


class Identity(Enum):
    """Whether a command is carried out on somebody's behalf."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a command cannot do without.

    Attributes:
        identity: Whether it is carried out on somebody's behalf.
        asks_model: Whether it asks the model.
    """

    identity: Identity
    asks_model: bool


def _common(
    app: Annotated[
        str | None,
        typer.Option("--app", metavar="MODULE:FUNCTION", help="The application."),
    ] = None,
    store: Annotated[str | None, typer.Option("--store", metavar="URL", help="Its store.")] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="ID", help="Its model, as openai:NAME."),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="Where the model is asked."),
    ] = None,
    lang: Annotated[
        str | None, typer.Option("--lang", metavar="TAG", help="The person's language: en, pt-BR or ro.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress.")] = False,
) -> None:
    """Name the options that every command has."""


def _identity(
    who: Annotated[
        str | None, typer.Option("--as", metavar="ID", help="Who asks. Counts on a demonstration store only.")
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE", help="A role of theirs; may be given again.")
    ] = None,
) -> None:
    """Name the options of commands that are carried out on somebody's behalf."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the command line says beside a command's own options."""

    app: str | None
    store: str | None
    model: str | None
    base_url: str | None
    lang: str | None
    as_json: bool
    quiet: bool
    who: str | None = None
    role: Sequence[str] | None = None


def command(
    group: typer.Typer, name: str, *, identity: Identity = Identity.NONE, asks_model: bool = False
) -> Callable[[Work], Work]:
    """Return a decorator that makes a command of a function.

    Args:
        group: Where the command stands.
        name: What it is called.
        identity: Whether it is carried out on somebody's behalf.
        asks_model: Whether it asks the model, so that the person is told what the application
            has to tell of it.
    """
    needs = Needs(identity, asks_model)

    def decorate(work: Work) -> Work:
        own = list(inspect.signature(work, eval_str=True).parameters.values())[1:]
        more = [*(_parameters(_identity) if identity is not Identity.NONE else []), *_parameters(_common)]

        def run(**values: Any) -> None:
            given = Given(**{parameter.name: values.pop(parameter.name) for parameter in more})
            raise typer.Exit(run_command(work, given, needs, values))

        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *more)]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by inspect.signature
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        group.command(name, help=_help(work))(run)
        return work

    return decorate


def _parameters(function: Callable[..., None]) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())


def _help(work: Work) -> str:
    """Return what a docstring says before its sections."""
    text = inspect.getdoc(work) or ""
    return text.partition("\n\nArgs:")[0].partition("\n\nRaises:")[0]


def run_command(work: Work, given: Given, needs: Needs, values: Mapping[str, Any]) -> int:
    """Return the exit code of a command, once it has done its work and what went wrong is said."""
    screen = open_screen(as_json=given.as_json, quiet=given.quiet)
    language = normalise_language(given.lang) or normalise_language(environment_locale()) or "en"
    try:
        settings = read_settings(
            os.environ,
            Path.cwd(),
            {
                "app": given.app, "store": given.store, "model": given.model, "base_url": given.base_url,
                "language": given.lang,
            },
        )  # fmt: skip
        language = language_of(settings, None, environment_locale())
        ended = _work_at_door(work, given, needs, values, settings, screen)
    except PlacetError as error:
        ended = failure_of(error, language)
    except KeyboardInterrupt:
        ended = Failure(
            exit=Exit.INTERRUPTED, code="cancelled", message=say(LAST_WORDS[StopReason.CANCELLED], language)
        )
    if isinstance(ended, Failure):
        screen.fail(ended)
        return ended.exit
    return ended


def _work_at_door(
    work: Work, given: Given, needs: Needs, values: Mapping[str, Any], settings: Settings, screen: Screen
) -> Ended:
    language = language_of(settings, None, environment_locale())
    if given.who is None and (needs.identity is Identity.REQUIRED or given.role):
        return Failure(exit=Exit.USAGE, code="usage", message=say(WHO_ASKS, language))
    agent = build_agent(settings, screen.tell if needs.asks_model else _tell_nobody)
    door = Door(agent=agent, screen=screen, settings=settings, language=language)
    with door.runner:
        door.wait(door.agent.open())
        try:
            if given.who is not None:
                person = door.wait(identify(door.agent, given.who, given.role or (), language))
                if isinstance(person, Failure):
                    return person
                door.person = person
                door.language = language_of(settings, person.principal, environment_locale())
            ended = work(door, **values)
            return door.wait(ended) if isinstance(ended, Coroutine) else ended
        finally:
            door.wait(door.agent.close())


def failure_of(error: PlacetError, language: str) -> Failure:
    """Return how a command ends that this error has ended, in the person's language."""
    match error:
        case ConfigurationError():
            message, code = say(WRONG_CONFIGURATION, language, message=str(error)), "configuration"
        case StoreVersionError():
            message, code = say(NEWER_STORE, language), "store_version"
        case _:
            message, code = say(FAILED, language, message=str(error)), "error"
    return Failure(exit=exit_of_error(error), code=code, message=message)


def _tell_nobody(_: str) -> None:
    """Leave unsaid what the application has to tell of its model."""


def environment_locale() -> str:
    """Return what the environment says about the person's language, by the rules of POSIX."""
    return next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
