"""The public failures of other frameworks, as tests of tools read them."""

import functools
import json
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pydantic

from placet.tools.arguments import Arguments
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.decision import Deny
from placet.values.principal import EVERYONE, Principal

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in map(
        json.loads, (Path(__file__).parent.parent / "cases" / "public-failures.jsonl").read_text().splitlines()
    )
}

NAMES: dict[str, Any] = {
    **{name: getattr(typing, name) for name in typing.__all__},
    **{name: getattr(pydantic, name) for name in pydantic.__all__ if name != "dataclasses"},
    "functools": functools,
}
exec("from datetime import *\nfrom decimal import Decimal\nfrom uuid import UUID", NAMES)  # noqa: S102 - names for the cases

CONTEXT: Context[None] = Context(
    deps=None,
    principal=Principal("u1", {"support"}),
    language="en",
    run_id="run_1",
    call_key="run_1:1.0",
    idempotency_key="run_1:1.0",
    deadline=5.0,
    now=datetime(2031, 5, 6, tzinfo=UTC),
)


def ids_of(kind: str, form: str) -> list[str]:
    return [key for key, case in CASES.items() if case["kind"] == kind and case["input"].get("form") == form]


@dataclass
class Built:
    """A tool made of a case's signature, and what its body got."""

    tool: Tool
    received: list[dict[str, Any]] = field(default_factory=list)

    def call(self, arguments: Any) -> Any:
        """What the body gets for these arguments, or the refusal."""
        read = self.read(arguments)
        if isinstance(read, Deny):
            return read
        self.tool.execute(read.value, None, CONTEXT)
        return self.received[-1]

    def read(self, arguments: Any) -> Arguments | Deny:
        return self.tool.reader.read(arguments if isinstance(arguments, str) else json.dumps(arguments))


def define(source: str, received: list[dict[str, Any]] | None = None) -> Callable[..., Any]:
    """The function, or partial, that a case writes down; its body notes what it gets."""
    if source.splitlines()[-1].startswith("def "):
        source += ":\n    received.append(dict(locals()))\n    return 'done'"
    names = {**NAMES, "received": [] if received is None else received, "__name__": __name__}
    exec(source, names)  # noqa: S102 - the cases are ours, and written as Python
    last = [line for line in source.splitlines() if not line.startswith(" ")][-1]
    name = last.split()[1].partition("(")[0] if last.startswith("def ") else last.partition(" =")[0]
    found: Callable[..., Any] = names[name]
    return found


def build(source: str, **options: Any) -> Built:
    """A read tool of a case's signature."""
    received: list[dict[str, Any]] = []
    options = {"roles": {EVERYONE}, "description": "Do it.", **options}
    made = tool(effect="read", **options)(define(source, received))
    return Built(made, received)


def build_case(case_id: str, **options: Any) -> Built:
    return build(CASES[case_id]["input"]["py"], **options)


def arguments_of(case_id: str) -> str | None:
    """What the case's call says, as a client hands it on: an absent text is none."""
    (call,) = CASES[case_id]["input"]["choice"]["message"]["tool_calls"]
    text: str | None = call["function"].get("arguments")
    return text


def objects_in(schema: Any) -> Sequence[dict[str, Any]]:
    """Every schema of an object in a schema."""
    found: list[dict[str, Any]] = []
    pending = [schema]
    while pending:
        place = pending.pop()
        if isinstance(place, dict):
            kinds = place.get("type")
            if kinds == "object" or (isinstance(kinds, list) and "object" in kinds) or "properties" in place:
                found.append(place)
            pending.extend(place.values())
        elif isinstance(place, list):
            pending.extend(place)
    return found
