"""Check skills: their files, their schemas, their declared effects, and their own tests."""

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from placet.errors import SkillError
from placet.skills.index import drift, load_index, read_index, write_lock
from placet.skills.skill import Skill, load_skill, written_schema

TEST_SECONDS: Final = 300
"""How long the tests of one skill may take."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check has found.

    Attributes:
        skill: In which skill; empty for the folder as a whole.
        message: What it is, and the mend.
        is_fault: Whether it fails the check; a warning does not.
    """

    skill: str
    message: str
    is_fault: bool = True


def check_skills(folder: Path, *, run_tests: bool = True, accept: bool = False) -> list[Finding]:
    """Return what is wrong with the skills of a folder; an empty list is a pass.

    Args:
        folder: Where the index lies.
        run_tests: Whether the skills' own tests are run.
        accept: Whether what the skills tell the model now is pinned, when all else is right.
    """
    try:
        names = read_index(folder)
    except SkillError as error:
        return [Finding("", str(error))]
    findings: list[Finding] = []
    for name in names:
        try:
            skill = load_skill(folder / name)
        except SkillError as error:
            findings.append(Finding(name, str(error)))
            continue
        findings += _look_at(skill, accept=accept)
        if run_tests:
            findings += _run_tests(skill)
    if not any(finding.is_fault for finding in findings):
        findings += _accept(folder) if accept else _compare(folder)
    return findings


def _look_at(skill: Skill, *, accept: bool) -> list[Finding]:
    findings = [Finding(skill.name, warning, is_fault=False) for warning in skill.front.warnings]
    try:
        if not accept and written_schema(skill.folder) != skill.schema:
            findings.append(
                Finding(skill.name, "schema.json does not say what the handler takes and gives; accept it anew")
            )
    except SkillError as error:
        findings.append(Finding(skill.name, str(error)))
    readme = (skill.folder / "README.md").read_text("utf-8", "replace")
    if skill.tool.name not in readme:
        findings.append(Finding(skill.name, f"README.md does not name the tool {skill.tool.name!r}"))
    effect = skill.tool.spec.effect.value
    if effect not in readme:
        findings.append(Finding(skill.name, f"README.md does not say that the tool's effect is {effect!r}"))
    properties = skill.tool.spec.input_schema.get("properties")
    if isinstance(properties, dict):
        for name, form in properties.items():
            if isinstance(form, dict) and not form.get("description"):
                findings.append(Finding(skill.name, f"argument {name!r} has no description; the model guesses then"))
    return findings


def _run_tests(skill: Skill) -> list[Finding]:
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(skill.folder.resolve())]
    command = [sys.executable, "-P", "-m", "pytest", *options, "tests"]
    try:
        done = subprocess.run(  # noqa: S603 - the skill's own tests, which the person asked to run
            command, cwd=skill.folder, capture_output=True, text=True, timeout=TEST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return [Finding(skill.name, f"its tests took longer than {TEST_SECONDS} s")]
    if done.returncode == 0:
        return []
    if find_spec("pytest") is None:
        return [Finding(skill.name, "its tests cannot be run: pip install pytest, or leave them out with --no-tests")]
    last = "\n".join((done.stdout or done.stderr).strip().splitlines()[-15:])
    return [Finding(skill.name, f"its tests fail:\n{last}")]


def _accept(folder: Path) -> list[Finding]:
    try:
        write_lock(folder, load_index(folder))
    except SkillError as error:
        return [Finding("", str(error))]
    return []


def _compare(folder: Path) -> list[Finding]:
    try:
        drifted = drift(folder, load_index(folder))
    except SkillError as error:
        return [Finding("", str(error))]
    return [
        Finding(one.skill, f"it is {one.what} since the lock was written; look at it, then --accept") for one in drifted
    ]
