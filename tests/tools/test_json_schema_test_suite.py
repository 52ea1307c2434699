"""The JSON-Schema-Test-Suite, draft 2020-12, for the schemas that others write."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from placet.tools.schema_validator import compile_validator
from tests.tools.downloads import download

pytestmark = pytest.mark.slow

REMOTE = "http://localhost:1234/"
"""Where the suite expects schemas to be fetched from. Nothing is fetched here."""

KNOWN = {
    # A vocabulary without validation is told by a meta-schema that would have to be fetched.
    "vocabulary.json",
    # Schemas that lie elsewhere are not fetched.
    "refRemote.json",
}
META = "https://json-schema.org/draft/2020-12/schema"


@pytest.fixture(scope="module")
def suite(request: pytest.FixtureRequest) -> Path:
    (found,) = download(request, "jsonschema==4.26.0", source=True).glob("*/json/tests/draft2020-12")
    return found


def judge(schema: Any, tests: list[dict[str, Any]], *, formats: bool) -> list[str]:
    """What the validator judges otherwise than the suite."""
    validator, _ = compile_validator(schema, formats=formats)
    return [test["description"] for test in tests if validator.is_valid(test["data"]) != test["valid"]]


def test_every_required_test_that_needs_no_network_is_judged_as_the_suite_says(suite: Path) -> None:
    wrong: list[str] = []
    count = fetched = 0
    for file in sorted(suite.glob("*.json")):
        for case in json.loads(file.read_text()):
            try:
                found = judge(case["schema"], case["tests"], formats=False)
            except jsonschema_rs.ValidationError:
                fetched += len(case["tests"])
                assert file.name in KNOWN or REMOTE in json.dumps(case["schema"]), (file.name, case["description"])
                continue
            count += len(case["tests"])
            wrong += [f"{file.name}: {case['description']}: {description}" for description in found]

    assert not wrong
    assert (count, fetched) == (1_208, 49)


def test_formats_are_judged_as_the_suite_says(suite: Path) -> None:
    wrong: dict[str, list[str]] = {}
    count = 0
    for file in sorted((suite / "optional" / "format").glob("*.json")):
        for case in json.loads(file.read_text()):
            found = judge(case["schema"], case["tests"], formats=True)
            count += len(case["tests"])
            if found:
                wrong.setdefault(file.name, []).extend(found)

    assert not wrong
    assert count == 491
