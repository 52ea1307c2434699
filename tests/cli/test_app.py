from importlib.metadata import version

import pytest

from tests.cli.conftest import Placet
from tests.cli.terminal import Terminal


def test_it_says_its_version_and_what_it_can_do(placet: Placet) -> None:
    assert placet("--version").out == f"placet {version('placet')}\n"
    helped = placet("--help").out
    assert all(word in helped for word in ("ask", "chat", "approvals", "runs", "audit", "tools"))
    assert "Raises" not in placet("approvals", "approve", "--help").out


@pytest.mark.parametrize(
    "arguments", [("frobnicate",), ("ask",), ("ask", "x", "--frobnicate"), ("runs", "list", "-n", "0")]
)
def test_wrong_usage_has_a_code_of_its_own(placet: Placet, arguments: tuple[str, ...]) -> None:
    assert placet(*arguments).code == 2


@pytest.mark.parametrize(
    ("app", "complaint"),
    [
        ("nowhere:build", "there is no module 'nowhere' on the import path"),
        ("nowhere:build", 'as path = ["."]'),
        ("desk:nothing", "has no function 'nothing'"),
        ("desk:build_nothing", "made 'str'"),
        ("desk:build_alone", "is called with one argument, an AppOptions: build_alone() takes 0"),
        ("desk:build_badly", "failed: KeyError: 'no such setting'"),
        ("desk", "package.module:function"),
    ],
)
def test_an_application_that_cannot_be_built_is_named(placet: Placet, app: str, complaint: str) -> None:
    ended = placet("runs", "list", "--app", app)

    assert ended.code == 2
    assert complaint in ended.err
    assert "Traceback" not in ended.err


def test_an_application_that_imports_what_is_not_there_is_told_from_one_that_is_not_there(placet: Placet) -> None:
    (placet.folder / "broken.py").write_text("import not_installed\n", "utf-8")

    ended = placet("runs", "list", "--app", "broken:build", PYTHONPATH=str(placet.folder))

    assert ended.code == 2
    assert "ModuleNotFoundError: No module named 'not_installed'" in ended.err
    assert "broken.py, line 1" in ended.err


def test_without_an_application_it_says_how_to_name_one(placet: Placet) -> None:
    (placet.folder / "placet.toml").unlink()

    ended = placet("runs", "list", "--json", "--lang", "pt")

    assert ended.code == 2
    assert ended.data["error"]["code"] == "configuration"
    assert "PLACET_APP" in ended.data["error"]["message"]
    assert "A configuração está errada" in ended.data["error"]["message"]


def test_a_store_that_is_something_else_is_an_error_in_words(placet: Placet) -> None:
    (placet.folder / "other.db").write_text("not a database at all, and longer than a page header needs" * 20)

    ended = placet("runs", "list", "--store", "sqlite:///other.db")

    assert ended.code == 1
    assert "other.db" in ended.err
    assert "Traceback" not in ended.err


def test_no_colour_is_no_escape_at_all_even_on_a_terminal(placet: Placet) -> None:
    terminal = Terminal.open(["tools", "list"], placet.folder, placet.variables({"NO_COLOR": "1"}))

    assert terminal.end() == 0
    assert "get_order_status" in terminal.seen
    assert "\x1b[" not in terminal.seen


def test_on_a_terminal_of_100_columns_no_line_is_longer(placet: Placet) -> None:
    terminal = Terminal.open(["tools", "list"], placet.folder, placet.variables({"NO_COLOR": "1"}))
    terminal.end()

    assert max(map(len, terminal.seen.splitlines())) <= 100
