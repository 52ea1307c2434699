from collections.abc import Callable

import pytest

from tests.cli.conftest import Placet

Ask = Callable[[str, str], str]


@pytest.fixture
def ask(placet: Placet) -> Ask:
    """Ask something that has to wait, and return what it waits for."""

    def ask(question: str, who: str) -> str:
        waiting = placet("ask", question, "--as", who, "--json")
        assert waiting.code == 6, waiting
        return str(waiting.data["approvals"][0]["id"])

    return ask


def test_a_list_shows_what_waits_and_no_secret_even_to_an_approver(placet: Placet, ask: Ask) -> None:
    approval = ask("note 8843", "s1")

    shown = placet("approvals", "list", "--as", "f1")
    data = placet("approvals", "list", "--as", "f1", "--json").data

    assert approval in shown.out
    assert "add_note" in shown.out
    assert "note on 8843: ok ⟨U+202E⟩ko⟨U+001B⟩[31m" in shown.out
    assert data[0]["arguments"]["card"] == "[redacted]"
    assert data[0]["preview"].endswith("card [redacted]")
    assert "4111-1111" not in shown.out
    assert not [name for name in data[0] if "token" in name or "digest" in name]


def test_nothing_waiting_is_no_error(placet: Placet) -> None:
    ended = placet("approvals", "list", "--lang", "ro")

    assert (ended.code, ended.out) == (0, "")
    assert "Nimic nu așteaptă aprobare." in ended.err


def test_whoever_may_decide_sees_every_argument_and_nothing_hidden(placet: Placet, ask: Ask) -> None:
    approval = ask("note 8843", "s1")

    shown = placet("approvals", "show", approval, "--as", "f1")

    assert shown.code == 0
    for fact in (
        'card      "4111-1111"',
        'note      "ok ⟨U+202E⟩ko⟨U+001B⟩[31m"',
        "order_id  8843",
        "s1",
        "finance",
        "15 min",
    ):
        assert fact in shown.out
    assert "this text hid characters" in shown.out
    assert "\x1b" not in shown.out
    assert "\u202e" not in shown.out


@pytest.mark.parametrize("who", [[], ["--as", "s1"], ["--as", "c17"]], ids=["nobody", "requester", "stranger"])
def test_everybody_else_sees_it_redacted(placet: Placet, ask: Ask, who: list[str]) -> None:
    approval = ask("note 8843", "s1")

    shown = placet("approvals", "show", approval, *who)
    data = placet("approvals", "show", approval, *who, "--json").data

    assert "4111-1111" not in shown.out
    assert "only who may decide sees the arguments" in shown.out
    assert data["redacted"]
    assert data["arguments"]["card"] == "[redacted]"
    assert data["preview"].endswith("card [redacted]")


def test_an_approval_runs_the_call_and_prints_what_came_of_it(placet: Placet, ask: Ask) -> None:
    approval = ask("cancel 8843", "s1")

    ended = placet("approvals", "approve", approval, "--as", "f1")

    assert ended.code == 0
    assert ended.out == "order 8843 is cancelled, it was paid\n"
    assert "order_id  8843" in ended.err
    assert "Approved." in ended.err
    assert placet.orders["8843"]["status"] == "cancelled"


def test_one_approval_runs_one_call(placet: Placet, ask: Ask) -> None:
    approval = ask("cancel 8843", "s1")
    placet("approvals", "approve", approval, "--as", "f1")

    again = placet("approvals", "approve", approval, "--as", "f1", "--lang", "pt")

    assert again.code == 5
    assert f"A situação da aprovação {approval} já é: usado." in again.err


@pytest.mark.parametrize(("who", "words"), [("s1", "on your own behalf"), ("c17", "needs one of these roles: finance")])
def test_nobody_else_approves_and_it_says_why(placet: Placet, ask: Ask, who: str, words: str) -> None:
    approval = ask("cancel 8843", "s1")

    ended = placet("approvals", "approve", approval, "--as", who)

    assert ended.code == 4
    assert words in ended.err
    assert not placet.orders


def test_an_approver_may_edit_and_what_was_edited_runs(placet: Placet, ask: Ask) -> None:
    approval = ask("cancel 8843", "s1")

    broken = placet("approvals", "approve", approval, "--as", "f1", "--edit", '{"order_id": "x"}')
    none = placet("approvals", "approve", approval, "--as", "f1", "--edit", "[1]")
    edited = placet("approvals", "approve", approval, "--as", "f1", "--edit", '{"order_id": 9001}')

    assert (broken.code, none.code, edited.code) == (10, 10, 0)
    assert "order_id: must be a whole number" in broken.err
    assert placet.orders["9001"]["status"] == "cancelled"
    assert placet.orders["8843"]["status"] == "paid"


def test_a_rejection_is_final_and_its_reason_can_be_kept_from_the_model(placet: Placet, ask: Ask) -> None:
    told, kept = ask("cancel 8843", "s1"), ask("cancel 8842", "s1")

    first = placet("approvals", "reject", told, "--as", "f1", "--reason", "not today")
    second = placet("approvals", "reject", kept, "--as", "f1", "--reason", "not today", "--hide-reason")
    late = placet("approvals", "approve", told, "--as", "f1")

    assert (first.code, second.code, late.code) == (0, 0, 7)
    assert "not today" in first.out
    assert "not today" not in second.out
    assert not placet.orders


def test_the_requester_confirms_what_is_theirs_to_confirm(placet: Placet, ask: Ask) -> None:
    approval = ask("move 8843 to Rua B", "c17")

    approved = placet("approvals", "approve", approval, "--as", "f1")
    strange = placet("approvals", "confirm", approval, "--as", "c18")
    own = placet("approvals", "confirm", approval, "--as", "c17")

    assert (approved.code, strange.code, own.code) == (4, 4, 0)
    assert 'address   "Rua B"' in own.err
    assert placet.orders["8843"]["address"] == "Rua B"


def test_silence_is_a_refusal(placet: Placet, ask: Ask) -> None:
    approval = ask("cancel 8843", "s1")

    late = placet("approvals", "approve", approval, "--as", "f1", DESK_LATER="901")

    assert late.code == 7
    assert not placet.orders
    assert placet("approvals", "show", approval, "--json", DESK_LATER="901").data["status"] == "expired"


@pytest.mark.parametrize("verb", ["show", "approve", "confirm", "reject"])
def test_what_does_not_exist_is_not_found(placet: Placet, verb: str) -> None:
    ended = placet("approvals", verb, "apr_0", "--as", "f1", "--json")

    assert ended.code == 3
    assert ended.data["error"]["code"] == "not_found"
    assert "apr_0" in ended.data["error"]["message"]


def test_letters_that_pass_for_others_are_warned_of(placet: Placet, ask: Ask) -> None:
    plain, mixed = ask("move 8843 to Rua B", "c17"), ask("move 8842 to Ru\u0430 B", "c17")

    warning = "letters of different alphabets are mixed in: Ru\u0430"
    assert warning not in placet("approvals", "show", plain, "--as", "c17").out
    assert warning in placet("approvals", "show", mixed, "--as", "c17").out


def test_a_yes_for_what_has_changed_meanwhile_says_that_it_is_asked_anew(placet: Placet, ask: Ask) -> None:
    approval, other = ask("cancel 8843", "s1"), ask("cancel 8843", "c17")
    placet("approvals", "approve", other, "--as", "f1")

    again = placet("approvals", "approve", approval, "--as", "f1")

    assert again.code == 6
    assert "What was approved has changed meanwhile, so it is asked anew." in again.err
    assert "status cancelled → cancelled" in again.err
