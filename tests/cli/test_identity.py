import pytest

from tests.cli.conftest import Placet

COMMANDS = [
    ("ask", "where is 8842?"),
    ("chat",),
    ("approvals", "list"),
    ("approvals", "show", "apr_1"),
    ("approvals", "approve", "apr_1"),
    ("approvals", "confirm", "apr_1"),
    ("approvals", "reject", "apr_1"),
    ("tools", "list"),
    ("tools", "call", "get_order_status", '{"order_id": 8842}'),
    ("audit", "settle", "run_1:1.0", "--done"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_as_counts_for_nothing_on_a_store_that_is_no_demonstration(undemo: Placet, command: tuple[str, ...]) -> None:
    ended = undemo(*command, "--as", "f1")

    assert ended.code == 4
    assert ended.out == ""
    assert "count only on a demonstration store: anybody could type any name" in ended.err
    assert not (undemo.folder / "orders.json").exists()


def test_what_needs_nobody_works_on_such_a_store(undemo: Placet) -> None:
    assert undemo("runs", "list").code == 0
    assert undemo("approvals", "list").code == 0
    assert undemo("audit", "verify").code == 0
    assert len(undemo("tools", "list", "--json").data) == 11


def test_whoever_the_directory_does_not_know_is_refused(placet: Placet) -> None:
    ended = placet("ask", "where is 8842?", "--as", "x9", "--json")

    assert ended.code == 4
    assert ended.data["error"] == {
        "code": "not_permitted",
        "message": "The principal x9 is not known.",
        "fix": "The application's own directory does not know them.",
    }


def test_a_command_on_somebodys_behalf_asks_whose(placet: Placet) -> None:
    ended = placet("ask", "where is 8842?", "--lang", "pt")

    assert ended.code == 2
    assert "--as" in ended.err
    assert placet("tools", "list", "--role", "finance").code == 2


def test_roles_come_from_the_directory_where_there_is_one(placet: Placet) -> None:
    ended = placet("tools", "list", "--as", "c17", "--role", "support")

    assert ended.code == 4
    assert "the application's own directory" in ended.err


def test_without_a_directory_a_demonstration_takes_the_roles_that_are_stated(placet: Placet) -> None:
    def names(*arguments: str) -> set[str]:
        return {tool["name"] for tool in placet("tools", "list", *arguments, "--json", DESK_STATED="1").data}

    assert "add_note" not in names("--as", "n1", "--role", "customer")
    assert "add_note" in names("--as", "n1", "--role", "customer", "--role", "support")
    unknown = placet("tools", "list", "--as", "n2", DESK_STATED="1")
    assert unknown.code == 4
    assert "Say it with --role" in unknown.err


def test_stated_roles_are_remembered_with_the_run_and_replaced_by_the_next(placet: Placet) -> None:
    placet.environment["DESK_STATED"] = "1"
    waiting = placet("ask", "cancel 8843", "--as", "n1", "--role", "support", "--json").data
    approval = waiting["approvals"][0]["id"]

    stranger = placet("approvals", "approve", approval, "--as", "n2", "--role", "support")
    boss = placet("approvals", "approve", approval, "--as", "n2", "--role", "finance")

    assert stranger.code == 4
    assert boss.code == 0
    assert placet.orders["8843"]["status"] == "cancelled"
