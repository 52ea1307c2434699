"""Skill: one folder, loaded and checked."""

import importlib.util
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from placet.errors import SkillError, ToolDefinitionError
from placet.skills.front_matter import FrontMatter, read_front_matter
from placet.skills.registration import find_function, options_of, read_registration
from placet.tools.tool import Tool, tool
from placet.values.json import Json, is_object

FILES: Final = ("SKILL.md", "tool.toml", "handler.py", "README.md")
"""What every skill has, beside `tests/`, and `schema.json`, which accepting writes."""

PACKAGE: Final = "placet_skills"
"""Under this name the code of skills is imported, one package for each folder of skills."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill.

    Attributes:
        name: The folder's name.
        folder: Where it lies.
        front: What its SKILL.md says.
        tool: The tool that it registers.
    """

    name: str
    folder: Path
    front: FrontMatter
    tool: Tool

    @property
    def schema(self) -> dict[str, Json]:
        """What the model is told of the tool, as `schema.json` keeps it."""
        spec = self.tool.spec
        told: dict[str, Any] = {
            "name": spec.name,
            "description": spec.description,
            "effect": spec.effect.value,
            "input": dict(spec.input_schema),
            "output": dict(spec.output_schema) if spec.output_schema is not None else None,
        }
        plain: dict[str, Json] = json.loads(json.dumps(told))
        return plain


def load_skill(folder: Path) -> Skill:
    """Return the skill of a folder. Its code is imported; its tests are not run.

    Raises:
        SkillError: A file is missing, breaks its rules, or the tool cannot be one.
    """
    name = folder.name
    for file in FILES:
        if not (folder / file).is_file():
            raise SkillError(f"skill {name!r} has no {file}; `placet skills new` shows what a skill has")
    if not any((folder / "tests").glob("test_*.py")):
        raise SkillError(f"skill {name!r} has no tests/test_*.py; a skill proves itself")
    front = read_front_matter(_read(folder / "SKILL.md"), folder=name)
    form = read_registration(_read(folder / "tool.toml"), skill=name)
    handler = _import(folder, "handler")
    execute: Any = find_function(handler, form.get("handler", "execute"), skill=name, key="handler")
    try:
        built: Any = tool(**options_of(form, handler, skill=name))(execute)
    except ToolDefinitionError as error:
        raise SkillError(f"skill {name!r}: {error}") from error
    if not isinstance(built, Tool):
        raise SkillError(f"skill {name!r}: its handler is a class; a skill's handler is a function")
    return Skill(name=name, folder=folder, front=front, tool=built)


def written_schema(folder: Path) -> Mapping[str, Any]:
    """Return what schema.json says.

    Raises:
        SkillError: There is none, or it is no JSON object.
    """
    if not (folder / "schema.json").is_file():
        raise SkillError(
            f"skill {folder.name!r} has no schema.json, which says what the model is told: "
            f"placet skills check {folder.parent} --accept"
        )
    try:
        form = json.loads(_read(folder / "schema.json"))
    except ValueError as error:
        raise SkillError(f"skill {folder.name!r}: schema.json is no JSON: {error}") from error
    if not is_object(form):
        raise SkillError(f"skill {folder.name!r}: schema.json must be an object")
    return form


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SkillError(f"{str(path)!r} cannot be read: {error}") from error


def _import(folder: Path, name: str) -> ModuleType:
    """Import a module of a skill under a package of its own, so that skills may have modules of one name."""
    package = f"{PACKAGE}_{abs(hash(folder.resolve().as_posix())):x}"
    module = f"{package}.{name}"
    if package not in sys.modules:
        _load(package, None, [str(folder)])
    if module in sys.modules:
        return sys.modules[module]
    return _load(module, folder / f"{name}.py", None)


def _load(name: str, path: Path | None, search: list[str] | None) -> ModuleType:
    if path is None:
        module = ModuleType(name)
        module.__path__ = search or []
        sys.modules[name] = module
        return module
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SkillError(f"{str(path)!r} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise SkillError(f"{str(path)!r} cannot be imported: {error!r}") from error
    return module
