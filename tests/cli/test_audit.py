import json
import re
import sqlite3
from contextlib import closing

import pytest

from tests.cli.conftest import Placet
from tests.cli.terminal import Terminal


@pytest.fixture
def asked(placet: Placet) -> str:
    """Ask something, and return the run."""
    return str(placet("ask", "where is 8842?", "--as", "c17", "--json").data["run_id"])


def change(placet: Placet, sql: str) -> None:
    """Do what somebody does who can write the file and lacks the key."""
    with closing(sqlite3.connect(placet.store)) as connection:
        connection.executescript(sql)


def test_the_tail_is_one_line_a_record(placet: Placet, asked: str) -> None:
    lines = placet("audit", "tail", "-n", "3").out.splitlines()

    assert [re.split(r"\s{2,}", line)[2] for line in lines] == ["question", "call", "answer"]
    assert "get_order_status(order_id=8842)  allowed by role customer, own_order" in lines[1]
    assert all(asked in line for line in lines)


def test_a_run_is_told_whole_in_the_language_of_the_reader(placet: Placet, asked: str) -> None:
    shown = placet("audit", "show", asked, "--lang", "ro")

    assert shown.code == 0
    assert "where is 8842?" in shown.out
    assert "permis de role customer, own_order" in shown.out
    assert "order 8842 is shipped" in shown.out
    assert placet("audit", "show", "run_0").code == 3


def test_an_export_holds_every_record_as_json_lines_and_nothing_that_was_redacted(placet: Placet, asked: str) -> None:
    placet("ask", "note 8843", "--as", "s1")
    placet("tools", "call", "add_note", '{"order_id": 1, "note": "x", "card": "4111-1111"}', "--as", "s1", "--key", "k")

    everything = [json.loads(line) for line in placet("audit", "export").out.splitlines()]
    of_run = [json.loads(line) for line in placet("audit", "export", "--run", asked).out.splitlines()]

    assert {record["run_id"] for record in of_run} == {asked}
    assert len(everything) > len(of_run)
    assert set(everything[0]) == {
        "writer", "sequence", "at", "kind", "run_id", "call_key", "principal", "tool", "decision", "rule", "body",
        "seal",
    }  # fmt: skip
    assert "4111-1111" not in json.dumps(everything)
    assert "[redacted]" in json.dumps(everything)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("4 records, chain intact", "unanchored: a cut tail is not detectable")),
        ("pt", ("4 registros, cadeia íntegra", "sem âncora")),
        ("ro", ("4 înregistrări, lanț intact", "neancorat")),
    ],
)
def test_a_whole_log_verifies(placet: Placet, asked: str, language: str, words: tuple[str, str]) -> None:
    ended = placet("audit", "verify", "--lang", language)

    assert asked
    assert ended.code == 0
    assert all(word in ended.out for word in words)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit_record SET principal_id = 'c18' WHERE sequence = 3",
        "DELETE FROM audit_record WHERE sequence = 3",
    ],
    ids=["edited", "removed"],
)
def test_a_log_that_was_tampered_with_names_the_first_broken_record(placet: Placet, asked: str, sql: str) -> None:
    drop_triggers(placet)
    change(placet, sql)

    ended = placet("audit", "verify")
    data = placet("audit", "verify", "--json")

    assert asked
    assert ended.code == data.code == 1
    assert "record 3" in ended.out
    assert data.data["intact"] is False
    assert data.data["fault"]["sequence"] == 3


def drop_triggers(placet: Placet) -> None:
    with closing(sqlite3.connect(placet.store)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")]
        for name in names:
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.commit()


def test_a_cut_tail_shows_against_an_exported_head_and_only_then(placet: Placet, asked: str) -> None:
    head = placet.folder / "heads.json"
    head.write_text(placet("audit", "heads").out, "utf-8")
    whole = placet("audit", "verify", "--head", "heads.json")
    drop_triggers(placet)
    change(placet, "DELETE FROM audit_record WHERE sequence = 4")

    alone, anchored = placet("audit", "verify"), placet("audit", "verify", "--head", "heads.json")

    assert asked
    assert whole.code == 0
    assert "anchored" in whole.out
    assert alone.code == 0
    assert anchored.code == 1
    assert "tail is cut" in anchored.out


def test_a_head_that_was_edited_is_refused(placet: Placet, asked: str) -> None:
    head = placet.folder / "heads.json"
    exported = json.loads(placet("audit", "heads").out)
    exported["heads"][0][1] = 3
    head.write_text(json.dumps(exported), "utf-8")

    ended = placet("audit", "verify", "--head", "heads.json", "--lang", "pt")

    assert asked
    assert ended.code == 1
    assert "heads.json" in ended.err
    assert ended.out == ""
    assert placet("audit", "verify", "--head", "none.json").code == 2


def test_following_prints_what_comes_until_ctrl_c(placet: Placet) -> None:
    placet("ask", "hello", "--as", "c17")
    terminal = Terminal.open(["audit", "tail", "-n", "1", "--follow"], placet.folder, placet.variables({}))
    terminal.wait_for("answer")

    placet("ask", "where is 8842?", "--as", "c17")
    told = terminal.wait_for("answer")
    terminal.press(b"\x03")

    assert terminal.end() == 130
    assert "get_order_status(order_id=8842)" in told


def test_looking_writes_nothing(placet: Placet, asked: str) -> None:
    before = placet("audit", "export").out
    for command in (["runs", "list"], ["runs", "show", asked], ["approvals", "list"], ["audit", "heads"]):
        assert placet(*command).code == 0

    assert placet("audit", "export").out == before
