import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import Placet


def kill_in_the_middle(placet: Placet, question: str) -> str:
    """Ask, kill the process with no chance to say goodbye once the write has happened, and return the run."""
    worker = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "placet", "ask", question, "--as", "s1"],
        cwd=placet.folder,
        env=placet.variables({}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 30
    while not placet.orders and time.monotonic() < end:
        time.sleep(0.02)
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    assert placet.orders
    (run,) = placet("runs", "list", "--json").data
    return str(run["id"])


def test_runs_are_listed_the_newest_first_and_by_how_far_they_are(placet: Placet) -> None:
    placet("ask", "where is 8842?", "--as", "c17")
    placet("ask", "cancel 8843", "--as", "s1")

    listed = placet("runs", "list").out
    everything = placet("runs", "list", "--json").data
    waiting = placet("runs", "list", "--status", "waiting", "--json").data

    assert [run["status"] for run in everything] == ["waiting", "done"]
    assert [run["id"] for run in waiting] == [everything[0]["id"]]
    assert listed.index("waiting for a person") < listed.index("done")
    assert placet("runs", "list", "--status", "lost").code == 2


def test_one_run_is_shown_with_what_was_asked_and_what_it_waits_for(placet: Placet) -> None:
    waiting = placet("ask", "note 8843", "--as", "s1", "--json").data

    shown = placet("runs", "show", waiting["run_id"], "--lang", "pt").out
    data = placet("runs", "show", waiting["run_id"], "--json").data

    assert "note 8843" in shown
    assert waiting["approvals"][0]["id"] in shown
    assert data["waits_for"] == [waiting["approvals"][0]["id"]]
    assert data["question"] == "note 8843"
    assert "4111-1111" not in shown


@pytest.mark.parametrize("command", ["show", "resume"])
def test_a_run_that_does_not_exist_is_not_found(placet: Placet, command: str) -> None:
    ended = placet("runs", command, "run_0")

    assert ended.code == 3
    assert "There is no run run_0." in ended.err


def test_resuming_what_waits_or_has_ended_changes_nothing(placet: Placet) -> None:
    waiting = placet("ask", "cancel 8843", "--as", "s1", "--json").data["run_id"]
    done = placet("ask", "where is 8842?", "--as", "c17", "--json").data["run_id"]

    still, over = placet("runs", "resume", waiting), placet("runs", "resume", done)

    assert still.code == 6
    assert "waits for approval" in still.err
    assert over.code == 5
    assert "This run has ended: done" in over.err


def test_a_run_whose_worker_was_killed_is_owned_until_its_lease_ends_and_then_goes_on(placet: Placet) -> None:
    run = kill_in_the_middle(placet, "mark 8842")

    owned = placet("runs", "resume", run)
    listed = placet("runs", "list", DESK_LATER="120")
    resumed = placet("runs", "resume", run, DESK_LATER="120")

    assert owned.code == 5
    assert "Another process owns this run until" in owned.err
    assert "nobody owns it: it can be resumed" in listed.out
    assert resumed.code == 0
    assert "outcome of this call is unknown" in resumed.out
    assert placet("audit", "verify").code == 0


def test_what_nobody_knows_blocks_its_like_until_a_person_settles_it(placet: Placet) -> None:
    run = kill_in_the_middle(placet, "mark 8842")
    placet("runs", "resume", run, DESK_LATER="120")
    key = placet("runs", "show", run, "--json", DESK_LATER="120").data["unknown"][0]
    assert f"placet audit settle {key} --done|--failed --as ID" in placet("runs", "show", run, DESK_LATER="120").out
    again = ("tools", "call", "mark_slowly", '{"order_id": 8842}', "--as", "s1", "--key", "k")

    blocked = placet(*again, DESK_LATER="120")
    both = placet("audit", "settle", key, "--as", "s1")
    stranger = placet("audit", "settle", key, "--done", "--as", "c17", DESK_LATER="120")
    settled = placet("audit", "settle", key, "--done", "--as", "s1", DESK_LATER="120")
    twice = placet("audit", "settle", key, "--failed", "--as", "s1", DESK_LATER="120")

    assert blocked.code == 5
    assert both.code == 2
    assert stranger.code == 4
    assert settled.code == 0
    assert "settled as done" in settled.out
    assert twice.code == 5
    said = [record for record in map_lines(placet, run) if record["rule"].startswith("settled by a person")]
    assert [(record["principal"], record["decision"], record["call_key"]) for record in said] == [("s1", "done", key)]


def map_lines(placet: Placet, run: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in placet("audit", "export", "--run", run).out.splitlines()]


def test_what_was_never_begun_cannot_be_settled(placet: Placet) -> None:
    ended = placet("audit", "settle", "run_0:1.0", "--done", "--as", "s1")

    assert ended.code == 3
    assert "run_0:1.0" in ended.err


def test_the_report_of_a_run_is_printed_as_json_or_written_as_a_page(placet: Placet) -> None:
    run = placet("ask", "where is 8842?", "--as", "c17", "--json").data["run_id"]

    printed = placet("runs", "show", run, "--report").data
    written = placet("runs", "show", run, "--html", "report.html", "--lang", "pt")

    assert [child["kind"] for child in printed["tree"]["children"]] == ["model", "tool", "model"]
    assert (written.code, written.out) == (0, "")
    assert '<html lang="pt-BR">' in (placet.folder / "report.html").read_text("utf-8")


def test_a_report_that_cannot_be_made_or_written_says_so(placet: Placet) -> None:
    run = placet("ask", "where is 8842?", "--as", "c17", "--json").data["run_id"]

    assert placet("runs", "show", "run_nope", "--report").code == 3
    assert placet("runs", "show", run, "--html", "no/such/folder.html").code == 2


def test_what_ended_long_ago_is_purged(placet: Placet) -> None:
    placet("ask", "where is 8842?", "--as", "c17")
    time.sleep(1.1)

    assert placet("runs", "purge", "--older-than", "1 hour", "--json").data == {"purged": 0}
    assert "1 run purged" in placet("runs", "purge", "--older-than", "1 second").err
    assert placet("runs", "list", "--json").data == []
    assert "purge" in placet("audit", "tail", "-n", "1").out
    assert placet("runs", "purge", "--older-than", "soon").code != 0
