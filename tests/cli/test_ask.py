import pytest

from tests.cli.conftest import Placet
from tests.cli.terminal import Terminal


def test_the_answer_is_data_and_what_happens_meanwhile_is_progress(placet: Placet) -> None:
    ended = placet("ask", "Meu pedido 8842 já saiu?", "--as", "c17", "--model", "openai:x")

    assert ended.code == 0
    assert ended.out == "order 8842 is shipped\n"
    notice, call = ended.err.splitlines()
    assert notice == "  desk: model openai:x⟨U+001B⟩[31m"
    assert call.startswith("  ▸ consultando o pedido 8842…  ")
    assert "get_order_status(order_id=8842)   permitido por role customer, own_order   " in call


def test_as_json_it_is_one_object_and_nothing_else(placet: Placet) -> None:
    ended = placet("ask", "where is 8842?", "--as", "c17", "--json", "--quiet")

    assert ended.code == 0
    assert ended.err == ""
    assert ended.data["run_id"].startswith("run_")
    assert {name: ended.data[name] for name in ("outcome", "text", "output", "usage")} == {
        "outcome": "answer",
        "text": "order 8842 is shipped",
        "output": None,
        "usage": {"input_tokens": 0, "output_tokens": 0, "cost": "0"},
    }


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "waits for approval"), ("pt-BR", "aguarda a aprovação"), ("ro", "așteaptă aprobarea")],
)
def test_what_waits_for_another_person_says_so(placet: Placet, language: str, words: str) -> None:
    ended = placet("ask", "cancel 8843", "--as", "s1", "--lang", language)

    assert ended.code == 6
    assert ended.out == ""
    line = ended.err.splitlines()[-1]
    assert line.startswith("  ⏸ cancel_order ")
    assert words in line
    assert "8843, status paid → cancelled" in line
    assert "15 min" in line
    assert not placet.orders


def test_as_json_a_wait_names_what_is_waited_for_and_no_token(placet: Placet) -> None:
    ended = placet("ask", "note 8843", "--as", "s1", "--json")

    assert ended.code == 6
    assert ended.data["outcome"] == "waiting"
    (approval,) = ended.data["approvals"]
    assert set(approval) == {"id", "yes", "tool", "arguments", "approvers", "preview", "expires_at"}
    assert approval["arguments"] == {"order_id": 8843, "note": "ok \u202eko\x1b[31m", "card": "[redacted]"}
    assert approval["approvers"] == ["finance"]


def test_without_a_terminal_nobody_is_asked_to_confirm(placet: Placet) -> None:
    ended = placet("ask", "move 8843 to Rua B", "--as", "c17", typed="y\n")

    assert ended.code == 6
    assert "change_address waits for your confirmation: apr_" in ended.err
    assert not placet.orders


def test_what_a_tool_has_brought_from_outside_cannot_touch_the_terminal(placet: Placet) -> None:
    ended = placet("ask", "read my mail", "--as", "c17")

    assert "\x1b" not in ended.out
    assert "⟨U+202E⟩gnp.exe" in ended.out


def test_on_a_terminal_the_asker_confirms_where_they_sit(placet: Placet) -> None:
    terminal = Terminal.open(["ask", "move 8843 to Rua \u202eB", "--as", "c17"], placet.folder, placet.variables({}))

    asked = terminal.wait_for("[y/N]")
    terminal.type("y")
    code = terminal.end()

    assert 'address   "Rua ⟨U+202E⟩B"' in asked
    assert "order_id  8843" in asked
    assert "this text hid characters" in asked
    assert code == 0
    assert placet.orders["8843"]["address"] == "Rua \u202eB"


@pytest.mark.parametrize("typed", ["", "yep"])
def test_whatever_is_not_clearly_a_yes_is_a_no(placet: Placet, typed: str) -> None:
    arguments = ["ask", "move 8843 to Rua B", "--as", "c17", "--lang", "en"]
    terminal = Terminal.open(arguments, placet.folder, placet.variables({}))

    terminal.wait_for("[y/N]")
    terminal.type(typed)
    terminal.end()

    assert not placet.orders
    (request,) = placet("approvals", "list", "--all", "--json").data
    assert (request["status"], request["decided_by"]) == ("rejected", "c17")


def test_ctrl_c_closes_the_run_as_cancelled(placet: Placet) -> None:
    terminal = Terminal.open(["ask", "ponder", "--as", "c17"], placet.folder, placet.variables({}))

    terminal.wait_for("Running ponder")
    terminal.press(b"\x03")
    code = terminal.end()

    assert code == 130
    assert "This request was cancelled" in terminal.seen
    (run,) = placet("runs", "list", "--json").data
    assert run["status"] == "stopped"


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "This answer is not complete: it was cut off at its length limit."),
        ("pt-BR", "Esta resposta não está completa: foi cortada no limite de tamanho."),
        ("ro", "Acest răspuns nu este complet: a fost tăiat la limita de lungime."),
    ],
)
def test_an_answer_that_was_cut_says_so_and_only_such_a_one(placet: Placet, language: str, words: str) -> None:
    cut = placet("ask", "a tale", "--as", "c17", "--lang", language)
    whole = placet("ask", "a word", "--as", "c17", "--lang", language)

    assert (cut.code, cut.out) == (whole.code, whole.out)
    assert f"✂ {words}" in cut.err
    assert words not in whole.err
    for question, said in (("a tale", True), ("a word", False)):
        assert placet("ask", question, "--as", "c17", "--json").data["cut"] is said


def test_what_stopped_for_a_reason_that_its_words_do_not_tell_says_where_it_is_told(placet: Placet) -> None:
    stopped = placet("ask", "break", "--as", "c17")
    run = placet("runs", "list", "--json").data[0]["id"]

    assert (stopped.code, stopped.out) == (1, "")
    assert f"Why it stopped: placet audit show {run}" in stopped.err
    assert f"placet audit show {run}" in placet("runs", "show", run).out
    assert "the line is dead" in placet("audit", "show", run).out
