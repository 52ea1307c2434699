"""The command line, run as a person or a script runs it: in a process of its own."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from placet.runtime.keys import Keys, read_or_make_secret
from placet.stores.url import open_store_from_url

HERE = Path(__file__).parent
CONFIG = """
app = "desk:build_agent"
path = ["{path}"]
store = "sqlite:///desk.db"
"""


@dataclass(frozen=True)
class Ended:
    """How a command has ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Placet:
    """A folder with the desk's application, and the command in it."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.folder / "desk.db"

    @property
    def orders(self) -> Mapping[str, Mapping[str, Any]]:
        """What the tools have done."""
        file = self.folder / "orders.json"
        return json.loads(file.read_text("utf-8")) if file.exists() else {}

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        names = ("PATH", "HOME", "PYTHONPATH", "COVERAGE_PROCESS_START")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        return {**kept, "LANG": "en", "DESK_FILE": str(self.folder / "orders.json"), **self.environment, **more}

    def __call__(self, *arguments: str, typed: str = "", **more: str) -> Ended:
        ended = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "placet", *arguments],
            cwd=self.folder,
            env=self.variables(more),
            input=typed,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def undemo(tmp_path: Path) -> Placet:
    """The desk on a store that is no demonstration."""
    (tmp_path / "placet.toml").write_text(CONFIG.format(path=HERE / "application"), "utf-8")
    return Placet(tmp_path)


@pytest.fixture
def placet(undemo: Placet) -> Placet:
    """The desk on a demonstration store."""
    secret = read_or_make_secret(undemo.folder / "desk.db.key")

    async def mark() -> None:
        store = open_store_from_url(f"sqlite:///{undemo.store}", key=Keys.of(secret).audit)
        await store.open()
        await store.mark_demo()
        await store.close()

    asyncio.run(mark())
    return undemo
