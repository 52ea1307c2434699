"""SKILL.md: its front matter, checked by the rules of the Agent Skills specification.

Six keys, no others: name, description, license, compatibility, metadata, allowed-tools
(agentskills.io, specification of 2025-12). `allowed-tools` pre-approves tools in other
agents; here it is never a grant, and a skill that carries it is warned about.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from placet.agent.markdown import read_markdown
from placet.errors import ConfigurationError, SkillError
from placet.values.json import is_object

_KEYS: Final = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_NAME: Final = 64
MAX_DESCRIPTION: Final = 1024
MAX_COMPATIBILITY: Final = 500
MAX_BODY_LINES: Final = 500


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a SKILL.md says of itself.

    Attributes:
        name: Equal to the folder's name.
        description: What it does and when to use it.
        body: The instructions.
        warnings: What is allowed, and yet worth a look.
    """

    name: str
    description: str
    body: str
    warnings: tuple[str, ...] = ()


def read_front_matter(text: str, *, folder: str) -> FrontMatter:
    """Return what a SKILL.md says of itself.

    Args:
        text: The whole file.
        folder: The name of the folder in which it lies.

    Raises:
        SkillError: It breaks a rule of the specification; the message names it.
    """
    try:
        front, body = read_markdown(text)
    except ConfigurationError as error:
        raise SkillError(f"skill {folder!r}: SKILL.md: {error}") from error
    unknown = sorted(str(key) for key in front if key not in _KEYS)
    if unknown:
        raise SkillError(
            f"skill {folder!r}: SKILL.md has keys that the specification does not know: {unknown}; "
            "what placet decides by stands in tool.toml"
        )
    name = _check_name(front.get("name"), folder)
    description = _check_text(front, "description", folder, MAX_DESCRIPTION, required=True)
    _check_text(front, "license", folder, MAX_COMPATIBILITY, required=False)
    _check_text(front, "compatibility", folder, MAX_COMPATIBILITY, required=False)
    _check_metadata(front.get("metadata", {}), folder)
    return FrontMatter(name, description, body, tuple(_warnings(front, body)))


def is_name(name: object) -> bool:
    """Return whether the specification takes this as the name of a skill, and so of its folder."""
    return isinstance(name, str) and len(name) <= _MAX_NAME and _NAME.fullmatch(name) is not None


def _check_name(name: Any, folder: str) -> str:
    if not is_name(name):
        raise SkillError(
            f"skill {folder!r}: its name {name!r} must be a text of 1 to {_MAX_NAME} lower-case letters, digits and "
            "single hyphens"
        )
    if unicodedata.normalize("NFKC", name) != unicodedata.normalize("NFKC", folder):
        raise SkillError(f"skill {folder!r}: its name {name!r} must be the name of its folder")
    return str(name)


def _check_text(front: Mapping[str, Any], key: str, folder: str, most: int, *, required: bool) -> str:
    value = front.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise SkillError(f"skill {folder!r}: {key!r} in SKILL.md must be a text of 1 to {most} characters")
    return value.strip()


def _check_metadata(metadata: Any, folder: str) -> None:
    if not is_object(metadata) or not all(
        isinstance(key, str) and isinstance(value, str) for key, value in metadata.items()
    ):
        raise SkillError(f"skill {folder!r}: 'metadata' in SKILL.md must map texts to texts")


def _warnings(front: Mapping[str, Any], body: str) -> list[str]:
    warnings: list[str] = []
    if "allowed-tools" in front:
        warnings.append(
            "SKILL.md has 'allowed-tools', which grants nothing here; remove it, or know that others obey it"
        )
    if len(body.splitlines()) > MAX_BODY_LINES:
        warnings.append(f"the body of SKILL.md is longer than {MAX_BODY_LINES} lines; agents read all of it")
    return warnings
