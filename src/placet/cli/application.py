"""The application that placet.toml names: imported, and asked for its agent."""

import importlib
import sys
import traceback
from collections.abc import Callable
from typing import Any

from placet.config import FILE_NAME, Settings
from placet.errors import ConfigurationError, PlacetError
from placet.wiring import Agent


def build_agent(settings: Settings, tell: Callable[[str], None]) -> Agent:
    """Return the agent that the application's factory makes.

    Args:
        settings: Which application, and what its factory is told.
        tell: Through which the factory says a line to the person.

    Raises:
        ConfigurationError: No application is named, it cannot be imported, or its factory
            fails or makes something else.
    """
    if settings.app is None:
        raise ConfigurationError(
            f'no application is named: write app = "package.module:function" in {FILE_NAME}, or set PLACET_APP'
        )
    factory = _find_factory(settings.app, [str(folder) for folder in settings.path])
    try:
        agent = factory(settings.options(tell))
    except PlacetError:
        raise
    except Exception as error:
        entered = error.__traceback__ is None or error.__traceback__.tb_next is not None
        if isinstance(error, TypeError) and not entered:
            raise ConfigurationError(
                f"the application {settings.app!r} is called with one argument, an AppOptions: {error}"
            ) from error
        raise ConfigurationError(f"the application {settings.app!r} failed: {_words(error)}") from error
    if not isinstance(agent, Agent):
        raise ConfigurationError(
            f"the application {settings.app!r} made {type(agent).__name__!r}; it must return a placet.wiring.Agent"
        )
    return agent


def _find_factory(app: str, path: list[str]) -> Callable[..., Any]:
    sys.path[:0] = [folder for folder in path if folder not in sys.path]
    name, _, function = app.partition(":")
    try:
        module = importlib.import_module(name)
    except PlacetError:
        raise
    except ModuleNotFoundError as error:
        missing = error.name
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            raise ConfigurationError(
                f"the application {app!r} cannot be imported: there is no module {missing!r} on the import path; "
                f'the folder that holds it goes into {FILE_NAME}, as path = ["."]'
            ) from error
        raise ConfigurationError(f"the application {app!r} cannot be imported: {_words(error)}") from error
    except Exception as error:
        raise ConfigurationError(f"the application {app!r} cannot be imported: {_words(error)}") from error
    factory: Callable[..., Any] | None = getattr(module, function, None)
    if not callable(factory):
        raise ConfigurationError(f"the application {app!r} is not there: {name!r} has no function {function!r}")
    return factory


def _words(error: Exception) -> str:
    """Return what went wrong and where, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
