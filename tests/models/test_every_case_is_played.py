"""Each public failure that a model's wire can bring about is played over HTTP, streamed and whole."""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models.public_failures import CASES, KINDS

PLAYABLE = (*KINDS, "text-fallback")
STREAMS = ("openai_chunks", "gemini_events")
"""Forms of a stream: they have no other side."""
_ID = re.compile(r"\bC\d{3}\b")


def every_test_over_http() -> Iterator[Callable[..., Any]]:
    """Every test here that talks to the wire server."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        module = importlib.import_module(f"tests.models.{file.stem}")
        for name, found in vars(module).items():
            own = name.startswith("test_") and found.__module__ == module.__name__
            if own and "wire" in inspect.signature(found).parameters:
                yield found


def ids_played(test: Callable[..., Any]) -> set[str]:
    """The cases that a test is given, or names."""
    given = [mark.args[1] for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    return set(_ID.findall(f"{[str(each) for values in given for each in values]} {inspect.getsource(test)}"))


PLAYED = [(ids_played(test), "streamed" in inspect.signature(test).parameters) for test in every_test_over_http()]


@pytest.mark.parametrize("case_id", [key for key, case in CASES.items() if case["kind"] in PLAYABLE])
def test_a_public_failure_is_played_over_http_streamed_and_whole(case_id: str) -> None:
    played = {both for ids, both in PLAYED if case_id in ids}

    assert played, "no test plays it"
    assert True in played or CASES[case_id]["input"]["form"] in STREAMS


def test_no_case_has_been_lost() -> None:
    assert sum(case["kind"] in PLAYABLE for case in CASES.values()) == 62
