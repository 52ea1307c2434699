"""The workflow's application: what `placet.toml` names."""

import asyncio
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from placet import Agent, Context, Principal
from placet.config import AppOptions
from placet.models.open import open_model
from placet.runtime.keys import Keys, read_or_make_secret
from placet.stores.url import open_store_from_url
from placet.workflow import AgentStage, Loop, Workflow
from workflow.state import Brief
from workflow.tools import PUBLISHING, reading
from workflow.understudy import understudy

HERE: Final = Path(__file__).parent
HOME_VARIABLE: Final = "WORKFLOW_HOME"
"""Where runs and what is published are kept, if not beside this file in `.placet`."""


class Newsroom:
    """The directory: who somebody is today."""

    async def find(self, principal_id: str) -> Principal | None:
        """Return the person, or None for an unknown id."""
        roles = {"w1": {"writer"}, "e1": {"editor"}}.get(principal_id)
        return Principal(principal_id, roles) if roles is not None else None


def count_round(brief: Brief) -> None:
    """Count how often the draft was reviewed."""
    brief.rounds += 1


def is_approved(context: Context[Any], brief: Brief) -> bool:
    """Say whether the reviewer is content."""
    del context
    return brief.review is not None and brief.review.approved


def make_agent(options: AppOptions) -> Workflow[Brief]:
    """Return the workflow. Without `--model`, understudies play."""
    home = Path(os.environ.get(HOME_VARIABLE) or HERE / ".placet")

    def agent(name: str, tools: Iterable[Any], deps: object = None) -> Agent:
        asked = options.model not in (None, "scripted:")
        model = open_model(str(options.model), base_url=options.base_url) if asked else understudy(name)
        # An agent in a workflow works in the workflow's store; its own is not used.
        return Agent(HERE / f"{name}.agent.md", tools=tools, model=model, deps=deps, store="memory:")

    notes = reading(HERE / "notes")
    publisher = agent("publisher", PUBLISHING, home / "board.md")
    explore = "Question: {question}\nNotes: {plan}\nWhat the reviewer said of the draft before: {review}"
    review = "Question: {question}\nDraft: {draft}"
    return Workflow(
        "brief",
        state=Brief,
        stages=[
            AgentStage(agent("planner", notes), into="plan"),
            Loop(
                [
                    AgentStage(agent("explorer", notes), ask=explore, into="draft"),
                    AgentStage(agent("reviewer", ()), ask=review, into="review"),
                    count_round,
                ],
                until=is_approved,
                max_iterations=3,
                when_exhausted="stop",
                name="review",
            ),
            AgentStage(publisher, ask="Publish the draft.", into=lambda _, __: None),
        ],
        answer="{draft}",
        description="Answers a question from the notes, reviewed and published.",
        roles={"writer"},
        store=options.store or demonstration_store(home / "placet.db"),
        directory=Newsroom(),
    )


def demonstration_store(path: Path) -> str:
    """Return the URL of a store that is marked as a demonstration: only there does `--as` count."""
    path.parent.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{path}"
    with ThreadPoolExecutor(1) as elsewhere:  # an event loop may be running here already
        elsewhere.submit(asyncio.run, _mark(url, path)).result()
    return url


async def _mark(url: str, path: Path) -> None:
    secret = read_or_make_secret(path.with_name(path.name + ".key"))
    store = open_store_from_url(url, key=Keys.of(secret).audit)
    await store.open()
    try:
        await store.mark_demo()
    finally:
        await store.close()
