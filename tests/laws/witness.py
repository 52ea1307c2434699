"""Witness: a plugin of pytest that writes down which placet a run has imported and how each of its tests has ended.

`PLACET_WITNESS` names the file. It holds where the package stands, and by the id of each test
what has come of it: `passed`, `skipped`, or the name of the exception with which it has failed.
A test whose fixtures break has not been tried, and is `broken`.
"""

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

import placet

_ended: dict[str, str] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        failed = report.failed and call.excinfo is not None
        _ended[item.nodeid] = call.excinfo.typename if failed and call.excinfo else report.outcome
    elif not report.passed and _ended.get(item.nodeid, "passed") == "passed":
        _ended[item.nodeid] = "skipped" if report.skipped else "broken"
    return report


def pytest_sessionfinish() -> None:
    written = {"placet": str(Path(placet.__file__).parent), "ended": _ended}
    Path(os.environ["PLACET_WITNESS"]).write_text(json.dumps(written), "utf-8")
