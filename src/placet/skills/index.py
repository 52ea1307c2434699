"""The index and the lock: which skills there are, and what each was when somebody looked at it last."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from placet.errors import SkillError
from placet.skills.front_matter import is_name
from placet.skills.skill import Skill, load_skill
from placet.tools.tool import Tool
from placet.values.json import canonical, is_array, is_object

INDEX: Final = "index.toml"
LOCK: Final = "skills.lock"


@dataclass(frozen=True, slots=True)
class Drift:
    """A skill that tells the model something else than it did when it was accepted.

    Attributes:
        skill: Its name.
        what: `"new"`, `"changed"` or `"gone"`.
    """

    skill: str
    what: str


def discover(path: Path | str) -> list[Tool]:
    """Return the tools of all skills in a folder's index.

    Raises:
        SkillError: A skill is broken, or has drifted from the lock: look at what it says now,
            and accept it with `placet skills check --accept`.
    """
    folder = Path(path)
    skills = load_index(folder)
    drifted = drift(folder, skills)
    if drifted:
        what = ", ".join(f"{one.skill} ({one.what})" for one in drifted)
        raise SkillError(
            f"skills have drifted from {str(folder / LOCK)!r}: {what}; look at them, "
            f"then accept them: placet skills check {folder} --accept"
        )
    return [skill.tool for skill in skills]


def load_index(folder: Path) -> list[Skill]:
    """Return all skills of a folder's index, in its order.

    Raises:
        SkillError: There is no index, a skill of it is missing or broken, a folder with a
            SKILL.md is not in it, or two skills register one tool.
    """
    skills = [load_skill(folder / name) for name in read_index(folder)]
    seen: dict[str, str] = {}
    for skill in skills:
        other = seen.setdefault(skill.tool.name, skill.name)
        if other != skill.name:
            raise SkillError(f"skills {other!r} and {skill.name!r} both register the tool {skill.tool.name!r}")
    return skills


def read_index(folder: Path) -> list[str]:
    """Return the names of the skills in a folder's index.

    Raises:
        SkillError: There is no index, it is malformed, or a folder with a SKILL.md is not in it.
    """
    path = folder / INDEX
    try:
        form = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise SkillError(
            f"there is no index {str(path)!r}: name the folder that has one, or make it: placet skills new NAME"
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SkillError(f"the index {str(path)!r} cannot be read: {error}") from error
    names = form.get("skills")
    if set(form) != {"skills"} or not is_array(names) or not all(isinstance(name, str) for name in names):
        raise SkillError(f"the index {str(path)!r} must say skills = ['name', …] and nothing else")
    odd = [name for name in names if not is_name(name)]
    if odd:
        raise SkillError(f"the index {str(path)!r} names {odd[0]!r}, which is no name of a skill: a folder beside it")
    if len(set(names)) != len(names):
        raise SkillError(f"the index {str(path)!r} names a skill twice")
    unlisted = sorted({found.parent.name for found in folder.glob("*/SKILL.md")} - set(names))
    if unlisted:
        raise SkillError(f"{unlisted} lie in {str(folder)!r} and are not in its index: list them, or remove them")
    return names


def drift(folder: Path, skills: list[Skill]) -> list[Drift]:
    """Return what has changed since the lock was written.

    Raises:
        SkillError: There is no lock, or it cannot be read.
    """
    locked, today = read_lock(folder), {skill.name: pin(skill) for skill in skills}
    drifted = [
        Drift(name, "new" if name not in locked else "changed") for name in today if locked.get(name) != today[name]
    ]
    return drifted + [Drift(name, "gone") for name in locked if name not in today]


def pin(skill: Skill) -> str:
    """Return the digest of what a skill tells the model and the approver."""
    told = [skill.schema, skill.front.description, skill.tool.spec.digest]
    return hashlib.sha256(canonical(told).encode()).hexdigest()


def read_lock(folder: Path) -> Mapping[str, str]:
    """Return the pins of a lock.

    Raises:
        SkillError: There is none, or it cannot be read: then nothing of it can be trusted.
    """
    path = folder / LOCK
    try:
        pins = json.loads(path.read_text("utf-8"))["skills"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SkillError(
            f"the lock {str(path)!r} cannot be read ({error}): placet skills check {folder} --accept"
        ) from error
    if not is_object(pins) or not all(isinstance(value, str) for value in pins.values()):
        raise SkillError(f"the lock {str(path)!r} is malformed")
    return pins


def write_lock(folder: Path, skills: list[Skill]) -> None:
    """Pin all skills as they are, and write down what each tells the model."""
    for skill in skills:
        (skill.folder / "schema.json").write_text(
            json.dumps(skill.schema, indent=2, ensure_ascii=False) + "\n", "utf-8"
        )
    pins = {skill.name: pin(skill) for skill in skills}
    (folder / LOCK).write_text(json.dumps({"skills": pins}, indent=2) + "\n", "utf-8")
