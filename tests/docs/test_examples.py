"""Every Python example in README and docs runs as it stands, in a process and a folder of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
QUERIES = re.compile(r"^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""What stands beside the examples of a page as `queries.sql`."""


def examples() -> list[object]:
    found: list[object] = []
    for page in PAGES:
        text = page.read_text("utf-8")
        queries = "".join(QUERIES.findall(text))
        for number, block in enumerate(BLOCK.findall(text), 1):
            found.append(pytest.param(block, queries, id=f"{page.name} {number}"))
    return found


@pytest.mark.parametrize(("example", "queries"), examples())
def test_an_example_runs(example: str, queries: str, tmp_path: Path) -> None:
    (tmp_path / "queries.sql").write_text(queries, "utf-8")
    script = tmp_path / "example.py"
    script.write_text(example, "utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - our own example

    assert done.returncode == 0, done.stderr


def headings(page: Path) -> set[str]:
    """What a link may name after its `#`: the headings, as GitHub makes anchors of them."""
    found = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text("utf-8")):
        if not target.startswith(("http:", "https:")):
            there = page.parent / target if target else page
            assert there.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in headings(there), f"{page.name} links to {target}#{anchor}"
