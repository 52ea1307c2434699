import re

from tests.cli.conftest import Placet
from tests.cli.terminal import Terminal


def test_a_conversation_has_a_history_and_confirms_inline(placet: Placet) -> None:
    terminal = Terminal.open(["chat", "--as", "c17"], placet.folder, placet.variables({}))

    terminal.wait_for("> ")
    terminal.type("hello")
    terminal.wait_for("asked 1 times")
    terminal.wait_for("> ")
    terminal.type("hello again")
    terminal.wait_for("asked 2 times")
    terminal.wait_for("> ")
    terminal.type("move 8843 to Rua B")
    asked = terminal.wait_for("[y/N]")
    terminal.type("yes")
    terminal.wait_for("no longer goes to")
    terminal.wait_for("> ")
    terminal.type("/history")
    history = terminal.wait_for("no longer goes to")
    terminal.wait_for("> ")
    terminal.type("/quit")

    assert terminal.end() == 0
    assert 'address   "Rua B"' in asked
    assert re.findall(r"you: (.*?)\r", history) == ["hello", "hello again", "move 8843 to Rua B"]
    assert placet.orders["8843"]["address"] == "Rua B"


def test_it_speaks_the_language_it_is_spoken_to_in(placet: Placet) -> None:
    terminal = Terminal.open(["chat", "--as", "c17"], placet.folder, placet.variables({}))

    terminal.wait_for("> ")
    terminal.type("Meu pedido 8842 já saiu?")
    told = terminal.wait_for("order 8842 is shipped")
    rest = terminal.wait_for("> ")
    terminal.press(b"\x04")

    assert terminal.end() == 0
    assert "consultando o pedido 8842…" in told
    assert "permitido por" in told
    assert "order 8842" not in rest


def test_a_no_is_final_and_the_conversation_goes_on(placet: Placet) -> None:
    terminal = Terminal.open(["chat", "--as", "c17", "--lang", "ro"], placet.folder, placet.variables({}))

    terminal.wait_for("> ")
    terminal.type("move 8843 to Rua B")
    terminal.wait_for("[d/N]")
    terminal.type("nu")
    terminal.wait_for("rejected this call")
    terminal.wait_for("> ")
    terminal.type("hello")
    terminal.wait_for("You have asked 2 times")
    terminal.wait_for("> ")
    terminal.press(b"\x04")

    assert terminal.end() == 0
    assert not placet.orders


def test_ctrl_c_leaves_the_question_and_not_the_conversation(placet: Placet) -> None:
    terminal = Terminal.open(["chat", "--as", "c17"], placet.folder, placet.variables({}))

    terminal.wait_for("> ")
    terminal.type("ponder")
    terminal.wait_for("Running ponder")
    terminal.press(b"\x03")
    terminal.wait_for("This request was cancelled")
    terminal.wait_for("> ")
    terminal.type("hello")
    terminal.wait_for("asked 1 times")
    terminal.wait_for("> ")
    terminal.press(b"\x04")

    assert terminal.end() == 0


def test_what_another_person_has_decided_meanwhile_is_told(placet: Placet) -> None:
    terminal = Terminal.open(["chat", "--as", "c17"], placet.folder, placet.variables({}))

    terminal.wait_for("> ")
    terminal.type("cancel 8843")
    terminal.wait_for("> ")
    (approval,) = placet("approvals", "list", "--json").data
    placet("approvals", "approve", approval["id"], "--as", "f1")
    terminal.type("hello")
    told = terminal.wait_for("asked 2 times")
    terminal.wait_for("> ")
    terminal.press(b"\x04")
    terminal.end()

    assert "order 8843 is cancelled, it was paid" in told


def test_without_a_terminal_each_line_is_a_question_and_nobody_is_asked(placet: Placet) -> None:
    ended = placet("chat", "--as", "c17", typed="hello\n\nhello\nmove 8843 to Rua B\ny\n/history\n")

    assert ended.code == 0
    assert "\x1b" not in ended.out + ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("You have asked 1 times.")
    assert lines[1].startswith("You have asked 2 times.")
    assert "waits for your confirmation" in ended.err
    assert not placet.orders


def test_without_a_terminal_the_last_question_tells_how_it_ended(placet: Placet) -> None:
    assert placet("chat", "--as", "c17", typed="hello\nmove 8843 to Rua B\n").code == 6
