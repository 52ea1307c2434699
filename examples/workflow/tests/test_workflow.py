"""The workflow, from the question to the board, in two processes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from placet import Answer, Refused, Stopped, Waiting
from placet.config import AppOptions
from placet.values.run import StopReason
from placet.workflow import Workflow
from workflow.app import HOME_VARIABLE, make_agent
from workflow.state import Brief, Plan, Review

QUESTION = "Which hours is the bakery open at christmas?"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    return tmp_path


def outline(node: Any) -> list[str]:
    return [str(node["name"]), *[name for child in node["children"] for name in outline(child) if name]]


async def wait(flow: Workflow[Brief]) -> Waiting:
    outcome = await flow.ask(QUESTION, principal="w1")
    assert isinstance(outcome, Waiting), outcome
    return outcome


async def test_it_goes_on_in_another_process_and_nothing_is_done_twice(home: Path) -> None:
    first = make_agent(AppOptions())
    waiting = await wait(first)
    (pending,) = waiting.approvals
    assert pending.preview is not None
    assert "[opening-hours]" in pending.preview.text
    await first.close()
    assert not (home / "board.md").exists()

    second = make_agent(AppOptions())
    outcome = await second.approve(pending.id, by="e1")

    assert isinstance(outcome, Answer)
    state = outcome.output
    assert isinstance(state, Brief)
    assert state.plan == Plan(notes=["christmas", "opening-hours"])
    assert (state.review, state.rounds, state.published) == (Review(approved=True), 2, "board.md")
    assert (home / "board.md").read_text("utf-8") == outcome.text == state.draft
    report: Any = await second.report(waiting.run_id)
    assert outline(report["tree"]).count("explorer") == 2
    await second.close()


async def test_only_an_editor_publishes(home: Path) -> None:
    flow = make_agent(AppOptions(store="memory:"))
    waiting = await wait(flow)

    assert isinstance(await flow.approve(waiting.approvals[0].token, by="w1"), Refused)
    assert isinstance(await flow.reject(waiting.approvals[0].token, by="e1", reason="not today"), Answer)
    assert not (home / "board.md").exists()


@pytest.mark.usefixtures("home")
async def test_an_editor_starts_nothing() -> None:
    outcome = await make_agent(AppOptions(store="memory:")).ask(QUESTION, principal="e1")

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.REFUSAL


def test_the_command_of_the_readme_waits_for_the_editor(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "placet", "ask", QUESTION, "--as", "w1"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    done = subprocess.run(  # noqa: S603 - our own command
        command,
        cwd=Path(__file__).parents[1],
        env={**kept, HOME_VARIABLE: str(tmp_path), "LANG": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )

    assert "publish waits for approval" in done.stdout + done.stderr
    assert done.returncode == 6
