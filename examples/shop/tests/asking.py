"""A counter to ask at: the shop's agent with a model that does as it is told."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from placet.models.scripted import ScriptedModel
from placet.stores.memory import MemoryStore
from placet.values.outcome import Answer, Outcome, PendingApproval, Waiting
from placet.wiring import Agent
from shop.analysis import analysis_tools
from shop.counter import Shop, ShopDirectory
from shop.tools import TOOLS

HERE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Counter:
    """A shop with an agent whose model does as it is told."""

    shop: Shop
    store: MemoryStore = field(default_factory=MemoryStore)

    async def ask(self, who: str, *calls: tuple[str, dict[str, Any]], language: str = "en") -> Outcome:
        """Return what comes of a question that the model takes for these calls, in one turn."""
        model = ScriptedModel(writes_prose=False).calls_all(calls).says("")
        return await self.agent(model).ask("?", principal=who, language=language)

    async def says(self, who: str, tool: str, language: str = "en", **arguments: Any) -> str:
        """Return what the person reads after one call."""
        outcome = await self.ask(who, (tool, arguments), language=language)
        assert isinstance(outcome, Answer), outcome
        return outcome.text

    async def waits(self, who: str, tool: str, language: str = "en", **arguments: Any) -> PendingApproval:
        """Return the approval that one call waits for."""
        outcome = await self.ask(who, (tool, arguments), language=language)
        assert isinstance(outcome, Waiting), outcome
        [pending] = outcome.approvals
        return pending

    def agent(self, model: ScriptedModel | None = None) -> Agent:
        """Return an agent of this shop; they all share one store."""
        return Agent(
            HERE / "shop.agent.md",
            tools=[*TOOLS, *analysis_tools(self.shop.database.path)],
            model=model or ScriptedModel(writes_prose=False).says(""),
            store=self.store,
            deps=self.shop,
            directory=ShopDirectory(self.shop.database),
            secret=b"s" * 32,
        )
