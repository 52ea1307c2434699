"""The numeric defaults stand in one place in code, and the docs say the same."""

import re
from datetime import timedelta
from pathlib import Path

from placet.values import limits

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "limits.md"


def test_the_page_says_what_the_code_says() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (\d+)( s)? \|", PAGE.read_text("utf-8"), re.MULTILINE)
    said = {name: (float(value), bool(unit)) for name, value, unit in rows}

    budget = limits.Budget()
    in_code: dict[str, tuple[float, bool]] = {
        f"Budget.{name}": (float(getattr(budget, name)), False)
        for name in limits.Budget.__slots__
        if getattr(budget, name) is not None
    }
    for name in dir(limits):
        value = getattr(limits, name)
        if name.isupper() and isinstance(value, timedelta):
            in_code[name] = (value.total_seconds(), True)
        elif name.isupper() and isinstance(value, int) and not name.startswith("_"):
            in_code[name] = (float(value), False)
    assert said == in_code
