"""The attack suite finds what it is for, and finds nothing in tools that are safe."""

import dataclasses

from placet.testing.attack_suite import assert_safe, attack
from placet.tools.arguments import ArgumentReader, Arguments
from placet.tools.tool import Tool, tool
from placet.values.decision import Deny
from placet.values.json import JsonObject
from tests.runtime.conftest import BOSS, CLERK, TOOLS, Office


async def test_safe_tools_pass_every_law() -> None:
    report = await attack(TOOLS, insider=CLERK, approver=BOSS, examples={"balance_of": {"account": "a"}}, deps=Office())

    assert_safe(report)
    assert report.skipped == {"payroll": "not open to the insider"}
    assert set(report.tried) == {
        "malformed arguments are refused",
        "a tool is hidden from those without its roles",
        "a direct write needs an idempotency key",
        "the same key runs at most once",
        "nobody but whom the tool names says yes",
        "a yes is used once",
    }


class Lenient(ArgumentReader):
    """A reader that drops what it does not know, as many frameworks do."""

    def read(self, text: str) -> Arguments | Deny:
        read = ArgumentReader.read(self, text)
        return ArgumentReader.read(self, '{"name": "sky"}') if isinstance(read, Deny) else read

    def read_json(self, obj: JsonObject) -> Arguments | Deny:
        return self.read(str(obj))


@tool(effect="read", roles={"support"}, limit="3/minute")
async def look(name: str) -> str:
    """Look something up."""
    return name


async def test_a_reader_that_repairs_is_found() -> None:
    lenient: Tool = dataclasses.replace(look, reader=Lenient(look.reader.form))

    report = await attack([lenient], insider=CLERK)

    assert {breach.law for breach in report.breaches} == {"malformed arguments are refused"}


async def test_limits_are_tried() -> None:
    report = await attack([look], insider=CLERK)

    assert_safe(report)
    assert report.tried["limits are exact"] == 1
