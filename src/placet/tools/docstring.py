"""A docstring in Google style, split into what the model is told of the tool and of each parameter."""

import inspect
import re
from dataclasses import field
from typing import Final

from placet.values.construction import dataclass

_SECTION: Final = re.compile(
    r"^(args|arguments|params|parameters|keyword args|keyword arguments|other parameters|raises|attributes):\s*$",
    re.IGNORECASE,
)
"""Sections that are not for the model's eyes as text: parameters are described in the schema."""

_PARAMETERS: Final = re.compile(
    r"^(args|arguments|params|parameters|keyword args|keyword arguments|other parameters):\s*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a docstring says.

    Attributes:
        text: All of it but the sections about parameters, attributes and exceptions.
        parameters: The description of each parameter that has one.
    """

    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def read_docstring(doc: str) -> Docstring:
    """Return what a docstring says of the tool and of its parameters."""
    clean = inspect.cleandoc(doc)
    return Docstring(text=_without_sections(clean), parameters=_parameters(clean))


def _without_sections(doc: str) -> str:
    kept: list[str] = []
    inside = False
    for line in doc.splitlines():
        if _SECTION.match(line):
            inside = True
        elif inside and line.strip() and not line[0].isspace():
            inside = False
        if not inside:
            kept.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _parameters(doc: str) -> dict[str, str]:
    if not _PARAMETERS.search(doc):
        return {}
    from griffe import Docstring as Parsed  # noqa: PLC0415 - heavy, and many tools have no such section
    from griffe import DocstringSectionOtherParameters, DocstringSectionParameters  # noqa: PLC0415 - as above

    described: dict[str, str] = {}
    # A first line of our own: the parser takes no section for one with which a docstring begins.
    for section in Parsed(f"Tool.\n\n{doc}", lineno=1).parse("google", warnings=False):
        if isinstance(section, DocstringSectionParameters | DocstringSectionOtherParameters):
            for parameter in section.value:
                words = " ".join(parameter.description.split())
                if words:
                    described[parameter.name.lstrip("*")] = words
    return described
