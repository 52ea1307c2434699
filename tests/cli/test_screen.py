import io
import json
import subprocess
import sys

import pytest
from rich.console import Console

from placet.cli.screen import Screen, json_line


def test_json_shows_letters_as_they_are_and_everything_invisible_as_an_escape() -> None:
    value = {"text": "ã ș 日本 🎉 \u202e \x1b[2J \x9b \x7f \u200b \U000e0041 \ud800"}

    line = json_line(value)

    assert json.loads(line) == value
    assert "ã ș 日本 🎉 \\u202e \\u001b[2J \\u009b \\u007f \\u200b" in line
    assert line.isprintable()


def test_what_is_said_cannot_move_the_cursor_or_turn_letters_around() -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out), Console(file=io.StringIO()), as_json=False, quiet=False)

    screen.say("one\x1b[2J\u202e\ntwo [bold]x[/bold] :smile:")

    assert out.getvalue() == "one⟨U+001B⟩[2J⟨U+202E⟩\ntwo [bold]x[/bold] :smile:\n"


@pytest.mark.parametrize("heavy", ["openai", "anthropic", "psycopg", "httpx2"])
def test_the_command_starts_without_a_provider(heavy: str) -> None:
    code = f"import sys, placet.cli.app; sys.exit({heavy!r} in sys.modules)"

    ended = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603 - our own code

    assert ended.returncode == 0
