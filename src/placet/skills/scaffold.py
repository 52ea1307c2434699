"""A new skill that passes its own check from the first minute."""

from pathlib import Path
from typing import Final

import yaml

from placet.errors import SkillError
from placet.skills.front_matter import is_name
from placet.skills.index import INDEX, drift, load_index, read_index, write_lock

_FILES: Final = {
    "SKILL.md": """---
name: {quoted}
description: Greets a person by name. Use when somebody asks to be greeted.
---

# {title}

Call `{tool}` with the name of the person, as they wrote it.

## Edge cases

- No name was given: ask for it, do not invent one.
""",
    "tool.toml": """name = "{tool}"
effect = "read"            # read, write or destructive
roles = ["*"]              # who may call it; "*" is every known principal
timeout = "5s"
limit = ["60/minute"]

[progress]
en = "greeting {{person}}…"
pt-BR = "cumprimentando {{person}}…"
ro = "salut pe {{person}}…"
""",
    "shapes.py": '''"""What the skill takes and gives."""

from pydantic import BaseModel


class Greeting(BaseModel):
    """A greeting."""

    text: str
''',
    "handler.py": '''"""The code of the skill."""

from typing import Annotated

from placet import ToolError
from pydantic import Field

from .shapes import Greeting


async def execute(person: Annotated[str, Field(max_length=100, description="Whom to greet.")]) -> Greeting:
    """Greet a person by name. Use when somebody asks to be greeted."""
    if not person.strip():
        raise ToolError("there is no name", hint="ask for the name")
    return Greeting(text=f"Hello, {{person.strip()}}!")
''',
    "schema.json": "{{}}\n",
    "README.md": """# {title}

The tool `{tool}`. Effect: read. It touches no data.

- **Owner**: say who answers for it.
- **When it fails**: it needs nothing from outside; a failure is a fault of its own.
""",
    "tests/test_{module}.py": '''"""The skill, through the same gate as every other call."""

import asyncio
from pathlib import Path

from placet import Agent, AgentDefinition, Principal, ToolResult
from placet.skills.skill import load_skill
from placet.testing import ScriptedModel
from placet.values.json import Json

SOMEBODY = Principal("p1")


def call(**arguments: Json) -> ToolResult:
    skill = load_skill(Path(__file__).resolve().parent.parent)

    async def ask() -> ToolResult:
        definition = AgentDefinition(name="trial")
        async with Agent(definition, tools=[skill.tool], model=ScriptedModel(), store="memory:") as agent:
            result = await agent.call("{tool}", arguments, principal=SOMEBODY)
            assert isinstance(result, ToolResult)
            return result

    return asyncio.run(ask())


def test_it_greets() -> None:
    result = call(person="Ana")

    assert (result.code, result.content) == ("ok", '{{"text":"Hello, Ana!"}}')


def test_without_a_name_it_says_what_to_do() -> None:
    result = call(person="  ")

    assert result.code == "tool_error"
    assert "ask for the name" in result.content
''',
}


def new_skill(folder: Path, name: str) -> Path:
    """Return the folder of a new skill, listed in the index and locked as it is.

    Raises:
        SkillError: The name is none, or taken, or a skill beside it has drifted: a new one accepts no other.
    """
    if not is_name(name):
        raise SkillError(f"not the name of a skill: {name!r}; use lower-case letters, digits and single hyphens")
    there = folder / name
    if there.exists():
        raise SkillError(f"{str(there)!r} exists already")
    names = _names_in(folder)
    module = name.replace("-", "_")
    tool = f"skill_{module}" if name[0].isdigit() else module  # no provider takes a tool that begins with a digit
    quoted = name if yaml.safe_load(name) == name else f'"{name}"'  # YAML would read "no" and "2" as something else
    title = name.replace("-", " ").capitalize()
    words = {"name": name, "quoted": quoted, "title": title, "tool": tool, "module": module}
    for file, text in _FILES.items():
        path = there / file.format(**words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(**words), "utf-8")
    listed = ", ".join(f'"{one}"' for one in [*names, name])
    (folder / INDEX).write_text(f"skills = [{listed}]\n", "utf-8")
    write_lock(folder, load_index(folder))
    return there


def _names_in(folder: Path) -> list[str]:
    if not (folder / INDEX).exists():
        return []
    drifted = drift(folder, load_index(folder))
    if drifted:
        raise SkillError(
            f"{[one.skill for one in drifted]} have drifted from the lock of {str(folder)!r}: look at them, "
            f"then accept them: placet skills check {folder} --accept"
        )
    return read_index(folder)
