"""Settings: what the operator has set, read once and checked whole.

`placet.toml` names the application; the environment outweighs the file, and the command
line outweighs both. The file names code that is run, so it is looked for in the working
directory and in the folders above it only as far as they belong to the same repository.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast

from placet.errors import ConfigurationError
from placet.words.language import LANGUAGES, normalise_language

FILE_NAME: Final = "placet.toml"

ENVIRONMENT: Final[Mapping[str, str]] = {
    "app": "PLACET_APP",
    "store": "PLACET_STORE",
    "model": "PLACET_MODEL",
    "base_url": "PLACET_BASE_URL",
    "language": "PLACET_LANGUAGE",
}
"""The settings that the environment may give, and the names they have there."""

CONFIG_VARIABLE: Final = "PLACET_CONFIG"
"""Where the environment says which file to read."""

_TEXTS: Final = tuple(ENVIRONMENT)
_KEYS: Final = (*_TEXTS, "path")
_APP: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_SQLITE: Final = "sqlite:///"


def _tell_nobody(_: str) -> None:
    """Leave a line unsaid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppOptions:
    """What the application's factory is told by whoever started it.

    A factory decides for itself what stands where something is None; `OPENAI_API_KEY` and
    the like are its business too.

    Attributes:
        model: Which model to use, as `"openai:…"`, or None.
        base_url: Where that model is asked, or None.
        store: URL of the store, or None.
        language: Language of the person, or None when it is to be guessed.
        tell: Says one line to the person, apart from the answer: for instance that the
            embedded model cannot be loaded here and a scripted one plays.
    """

    model: str | None = None
    base_url: str | None = None
    store: str | None = None
    language: str | None = None
    tell: Callable[[str], None] = _tell_nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was set, from the file, the environment and the command line together.

    Attributes:
        app: The application's factory, as `"package.module:function"`, or None.
        path: Folders from which its modules are imported, absolute.
        store: URL of the store, or None.
        model: Which model, or None.
        base_url: Where it is asked, or None.
        language: The language that was asked for, one of those that placet speaks, or None.
        file: The file that was read, or None.
    """

    app: str | None = None
    path: tuple[Path, ...] = ()
    store: str | None = None
    model: str | None = None
    base_url: str | None = None
    language: str | None = None
    file: Path | None = None

    def options(self, tell: Callable[[str], None] = _tell_nobody) -> AppOptions:
        """Return what the application's factory is told.

        Args:
            tell: Says one line to the person.
        """
        return AppOptions(model=self.model, base_url=self.base_url, store=self.store, language=self.language, tell=tell)


def read_settings(environment: Mapping[str, str], directory: Path, given: Mapping[str, str | None]) -> Settings:
    """Return the settings, checked whole: every fault is named at once.

    Args:
        environment: The process's environment. An empty variable counts as not set.
        directory: Where the process was started.
        given: What the command line says, by setting; None where it says nothing.

    Raises:
        ConfigurationError: The file cannot be read, or something in it is wrong.
    """
    file = find_file(environment, directory)
    written: Mapping[str, Any] = _read_file(file) if file is not None else {}
    faults = [f"{str(file)!r}: {fault}" for fault in _faults_of_file(written)]
    folder = file.parent if file is not None else directory
    values: dict[str, str | None] = {}
    for name, variable in ENVIRONMENT.items():
        here = given.get(name) or environment.get(variable) or None
        there = written.get(name)
        values[name] = here or (there if isinstance(there, str) else None)
        if name == "store":
            values[name] = _absolute_store(here, directory) or _absolute_store(values[name], folder)
    faults += _faults(values)
    if faults:
        raise ConfigurationError("; ".join(faults))
    paths: list[str] = written.get("path", [])
    return Settings(
        app=values["app"],
        path=tuple((folder / path).resolve() for path in paths),
        store=values["store"],
        model=values["model"],
        base_url=values["base_url"],
        language=normalise_language(values["language"]),
        file=file,
    )


def find_file(environment: Mapping[str, str], directory: Path) -> Path | None:
    """Return the file to read: the one that is named, else the nearest of this repository, else None.

    Without a repository around it only the directory itself is looked at: a file that
    somebody has put into a folder above, `/tmp` for instance, must not name code to run.

    Raises:
        ConfigurationError: The file that is named does not exist.
    """
    named = environment.get(CONFIG_VARIABLE)
    if named:
        file = (directory / named).resolve()
        if not file.is_file():
            raise ConfigurationError(f"{CONFIG_VARIABLE} names the file {str(file)!r}, which does not exist")
        return file
    for folder in _folders(directory.resolve()):
        file = folder / FILE_NAME
        if file.is_file():
            return file
    return None


def _folders(directory: Path) -> Iterator[Path]:
    """Yield the directory and those above it, up to the root of the repository that it lies in."""
    above = (directory, *directory.parents)
    root = next((folder for folder in above if (folder / ".git").exists()), directory)
    for folder in above:
        yield folder
        if folder == root:
            return


def _read_file(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{str(file)!r} cannot be read: {error}") from error


def _faults_of_file(written: Mapping[str, Any]) -> Iterator[str]:
    for name, value in written.items():
        if name not in _KEYS:
            near = get_close_matches(name, _KEYS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it may set {', '.join(_KEYS)}"
            yield f"unknown setting {name!r}; {hint}"
        elif name in _TEXTS and (not isinstance(value, str) or not value):
            yield f"{name} must be a text that is not empty"
        elif name == "path" and not _is_list_of_texts(value):
            yield 'path must be a list of folders, as path = ["examples"]'


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[object]", value))


def _faults(values: Mapping[str, str | None]) -> Iterator[str]:
    app, language = values["app"], values["language"]
    if app is not None and not _APP.fullmatch(app):
        yield f"app {app!r} names no factory; write it as 'package.module:function'"
    if language is not None and normalise_language(language) is None:
        yield f"language {language!r} is not spoken here; use one of {', '.join(LANGUAGES)}"


def _absolute_store(store: str | None, folder: Path) -> str | None:
    """Return a store's URL with its file seen from a folder; other URLs as they are."""
    if store is None or not store.startswith(_SQLITE):
        return store
    return f"{_SQLITE}{folder.resolve() / store.removeprefix(_SQLITE)}"
