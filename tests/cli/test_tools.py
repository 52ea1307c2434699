import pytest

from tests.cli.conftest import Placet

STATUS = ("tools", "call", "get_order_status")


def test_a_person_sees_the_tools_that_are_open_to_them(placet: Placet) -> None:
    listed = placet("tools", "list", "--as", "c17").out
    names = [tool["name"] for tool in placet("tools", "list", "--as", "c17", "--json").data]

    assert "change_address" in names
    assert "add_note" not in names
    assert all(name in listed for name in names)
    assert "add_note" not in listed


def test_a_tool_shows_what_it_declares(placet: Placet) -> None:
    shown = placet("tools", "show", "cancel_order", "--lang", "pt").out
    data = placet("tools", "show", "cancel_order", "--json").data

    assert "aguarda aprovação de: finance" in shown
    assert "order_id" in shown
    assert data["effect"] == "destructive"
    assert data["approval"] == {"yes": "approve", "approvers": ["finance"], "always": True}
    assert data["input_schema"]["properties"]["order_id"]["type"] == "integer"


def test_a_hidden_tool_and_one_that_does_not_exist_look_the_same(placet: Placet) -> None:
    shown = [placet("tools", "show", name, "--as", "c17") for name in ("add_note", "xyz")]
    called = [placet("tools", "call", name, "--as", "c17") for name in ("add_note", "xyz")]

    assert [ended.code for ended in (*shown, *called)] == [3, 3, 3, 3]
    assert shown[0].err.replace("add_note", "xyz") == shown[1].err
    hidden, unknown = (ended.err.replace("add_note", "xyz").splitlines()[-1] for ended in called)
    assert hidden == unknown


def test_a_misspelt_name_is_helped_with(placet: Placet) -> None:
    ended = placet("tools", "show", "cancel_ordr", "--as", "s1", "--lang", "pt")

    assert ended.code == 3
    assert "cancel_order?" in ended.err


def test_a_call_prints_its_result(placet: Placet) -> None:
    ended = placet(*STATUS, '{"order_id": 8842}', "--as", "c17")

    assert (ended.code, ended.out) == (0, "order 8842 is shipped\n")
    assert placet(*STATUS, '{"order_id": 8842}', "--as", "c17", "--json").data == {
        "outcome": "result",
        "content": "order 8842 is shipped",
        "is_error": False,
        "code": "ok",
        "cut_from": None,
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('{"order_id": 9001}', 3),
        ('{"order_id": 1}', 3),
        ('{"order_id": "8842; DROP TABLE"}', 10),
        ("{}", 10),
        ('{"order_id": 8842, "principal": "s1"}', 10),
        ('{"order_id": 88', 10),
        ("[8842]", 10),
        ('{"order_id": 1, "order_id": 8842}', 10),
    ],
)
def test_bad_input_is_refused_with_a_code_and_nothing_runs(placet: Placet, arguments: str, code: int) -> None:
    ended = placet(*STATUS, arguments, "--as", "c17")

    assert ended.code == code
    assert ended.out == ""
    assert "✗" in ended.err
    assert not placet.orders


def test_another_persons_order_and_none_at_all_look_the_same(placet: Placet) -> None:
    theirs, none = (placet(*STATUS, f'{{"order_id": {number}}}', "--as", "c17", "-q") for number in (9001, 1))

    assert theirs == none


@pytest.mark.parametrize(
    ("tool", "code", "words"),
    [
        ("dawdle", 9, "Isso demorou demais"),
        ("complain", 1, "the printer is on fire"),
    ],
)
def test_what_fails_says_how(placet: Placet, tool: str, code: int, words: str) -> None:
    ended = placet("tools", "call", tool, "--as", "c17", "--lang", "pt")

    assert ended.code == code
    assert words in ended.err


def test_a_limit_that_is_reached_has_a_code_of_its_own(placet: Placet) -> None:
    first = placet("tools", "call", "count_orders", "--as", "c17")
    second = placet("tools", "call", "count_orders", "--as", "c17", "--json")

    assert (first.code, second.code) == (0, 8)
    assert second.data["code"] == "limit_reached"


def test_a_write_needs_a_key_and_runs_once_under_it(placet: Placet) -> None:
    call = ("tools", "call", "change_address", '{"order_id": 8843, "address": "Rua B"}', "--as", "c17")

    without = placet(*call)
    waiting = placet(*call, "--key", "k", "--json")
    placet("approvals", "confirm", waiting.data["approvals"][0]["id"], "--as", "c17")
    again = placet(*call, "--key", "k")
    other = placet(*call[:3], '{"order_id": 8842, "address": "Rua C"}', "--as", "c17", "--key", "k")

    assert without.code == 2
    assert "--key" in without.err
    assert waiting.code == 6
    assert (again.code, again.out) == (0, "order 8843 no longer goes to 7 letters\n")
    assert other.code == 5
    assert placet.orders["8842"]["address"] == "Rua A 1"


def test_a_remote_tool_shows_what_runs_wherever_its_alias_stands(placet: Placet) -> None:
    alias = next(one["name"] for one in placet("tools", "list", "--json").data if one["remote"] is not None)
    approval = placet("ask", "wipe", "--as", "s1", "--json").data["approvals"][0]["id"]
    shown = [
        placet("tools", "show", alias),
        placet("policy", "explain", alias, "--as", "s1"),
        placet("approvals", "show", approval, "--as", "f1"),
    ]
    data = [
        placet("tools", "show", alias, "--json").data,
        placet("policy", "explain", alias, "--as", "s1", "--json").data,
        placet("approvals", "show", approval, "--as", "f1", "--json").data,
    ]

    assert alias.startswith("crm__notes_wipe_")
    assert all(alias in ended.out and "crm: 'notes/wipe'" in ended.out for ended in shown)
    assert [one["remote"] for one in data] == [{"source": "crm", "name": "notes/wipe"}] * 3
    assert "Ferramenta remota" in placet("tools", "show", alias, "--lang", "pt").out
    assert placet("tools", "show", "cancel_order", "--json").data["remote"] is None


def test_an_argument_that_may_be_null_shows_so(placet: Placet) -> None:
    alias = next(one["name"] for one in placet("tools", "list", "--json").data if one["remote"] is not None)
    shown = placet("tools", "show", alias, "--lang", "en").out

    assert "integer | null · optional" in shown
    assert "one of me, null · optional" in shown
