"""A pause two levels deep outlives its process: another one decides, goes on, and runs nothing twice."""

import subprocess
import sys
from pathlib import Path

from tests.workflow.conftest import Draft

ROOT = Path(__file__).parents[2]


def start(path: Path, what: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-W", "error", "-m", "tests.workflow.deep_office", str(path), what]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own program


def test_a_pause_two_levels_deep_is_decided_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"

    asked = start(path, "ask")
    assert asked.returncode == 0, asked.stderr
    assert (tmp_path / "done.txt").read_text().split("\n") == ["begin", ""]
    decided = start(path, asked.stdout)
    assert decided.returncode == 0, decided.stderr

    assert Draft.model_validate_json(decided.stdout) == Draft(question="Hi", text="all done", log=["begun", "ended"])
    assert (tmp_path / "done.txt").read_text().split("\n") == ["begin", "transfer 7", "end", ""]


def test_a_third_process_cannot_decide_it_again(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"
    asked = start(path, "ask")
    start(path, asked.stdout)

    again = start(path, asked.stdout)

    assert again.returncode != 0
    assert "Refused" in again.stderr
    assert (tmp_path / "done.txt").read_text().count("transfer") == 1
