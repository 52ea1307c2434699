"""An outside proof, run in its own environment as `make` makes it."""

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def run(name: str, *options: str) -> list[dict[str, Any]]:
    """Return the rows that a proof prints as JSON."""
    environment = f".bench/{name}"
    subprocess.run(["make", f"{environment}/.ready"], cwd=ROOT, check=True, timeout=400)  # noqa: S603, S607 - our own Makefile
    command = [f"{environment}/bin/python", "-m", f"bench.{name}", "--json", *options]
    done = subprocess.run(command, cwd=ROOT, check=True, timeout=300, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own program
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows
