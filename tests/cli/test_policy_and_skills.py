import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Placet


def test_a_call_is_explained_check_by_check_and_nothing_runs(placet: Placet) -> None:
    arguments = '{"order_id": 8842}'
    allowed = placet("policy", "explain", "get_order_status", arguments, "--as", "c17", "--json")
    asked = placet("policy", "explain", "cancel_order", arguments, "--as", "s1")
    hidden = placet("policy", "explain", "add_note", arguments, "--as", "c17")

    assert allowed.code == 0
    assert allowed.data["decision"]["decision"] == "allow"
    assert {"permission", "approval"} <= {check["check"] for check in allowed.data["checks"]}
    assert "waiting" in asked.out
    assert (hidden.code, "hidden by role" in hidden.out) == (3, True)


def placet_in(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "placet", "skills", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - our own command


def test_a_new_skill_passes_and_a_changed_one_has_to_be_accepted(tmp_path: Path) -> None:
    assert placet_in(tmp_path, "new", "say-hello").returncode == 0
    assert placet_in(tmp_path, "check", "--no-tests").returncode == 0
    handler = tmp_path / "skills" / "say-hello" / "handler.py"
    handler.write_text(handler.read_text("utf-8").replace("Greet a person", "Greet a lady"), "utf-8")

    changed = placet_in(tmp_path, "check", "--no-tests")
    assert changed.returncode == 1
    assert "say-hello" in changed.stderr
    assert placet_in(tmp_path, "check", "--no-tests", "--accept").returncode == 0


def test_a_name_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    refused = placet_in(tmp_path, "new", "Say Hello")

    assert refused.returncode == 1
    assert "lower-case" in refused.stderr
    assert "Traceback" not in refused.stderr
