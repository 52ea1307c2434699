"""AgentDefinition: what an agent is told, and what it may use. Given in code, or read by `placet.agent.agent_file`."""

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from typing import Final

from placet.errors import ConfigurationError
from placet.values.construction import dataclass
from placet.values.json import Json
from placet.values.limits import MODEL_TIMEOUT, Budget

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """What an agent is told, and what it may use.

    Attributes:
        name: Under which its runs are stored.
        prompt: The system prompt, in English.
        description: What it is for, for people and for the agents that may call it.
        tools: Names of the tools that it may see; None means all that its toolset has.
        model: Id of its model, for instance `"openai:…"`; None where the model is given in code.
        budget: What one run may use up.
        model_timeout: For one answer of the model.
        language: Of the person, where nothing else tells it.
        settings: Passed on to the provider as they are.

    Raises:
        ConfigurationError: The name is none.
    """

    name: str
    prompt: str = ""
    description: str = ""
    tools: tuple[str, ...] | None = None
    model: str | None = None
    budget: Budget = field(default_factory=Budget)
    model_timeout: timedelta = MODEL_TIMEOUT
    language: str = "en"
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"agent name {self.name!r}: use letters, digits, '_', '-' and '.', at most 64, "
                "starting with a letter or digit"
            )
