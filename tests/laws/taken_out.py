"""Rules taken out: what stands in `taken_out.toml`, and what comes of placet without one of them."""

import ast
import builtins
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

HOUSE: Final = Path(__file__).parents[2]
SOURCE: Final = HOUSE / "src" / "placet"
TABLE: Final = Path(__file__).with_suffix(".toml")

PATIENCE: Final = 120.0
"""Seconds that the tests of one entry may take on a busy machine."""
ALL_TESTS: Final = 600.0
"""Seconds that the tests of all entries may take together."""

BROKEN: Final = frozenset(
    {"broken", "NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "SyntaxError"}
)
"""How a test ends that has met broken code, rather than code without a rule."""


@dataclass(frozen=True, slots=True)
class TakenOut:
    """One rule, and how it is taken out.

    Attributes:
        rule: Where it is written: `DESIGN 5`, `ATTACKS 7`, or the name of a law.
        part: What is held, in words; unique with the rule.
        file: In which file of the package it stands.
        find: The text that holds it, which stands there once.
        instead: What stands there without the rule.
        tests: Each of which fails then, in one of its cases at least.
        doors: Whether they fail in every one of their cases, as where a rule holds at every door.
        needs: An import that `instead` needs.
    """

    rule: str
    part: str
    file: str
    find: str
    instead: str
    tests: tuple[str, ...]
    doors: bool = False
    needs: str = ""

    @property
    def id(self) -> str:
        """Its name among the tests."""
        return f"{self.rule}: {self.part}"

    def source(self) -> str:
        """Return the file as it stands."""
        return (SOURCE / self.file).read_text("utf-8")

    def without(self, source: str) -> str:
        """Return the file without the rule."""
        changed = source.replace(self.find, self.instead)
        return f"{changed}\n{self.needs}\n" if self.needs else changed


def read_table() -> tuple[TakenOut, ...]:
    """Return every entry of the table."""
    entries = tomllib.loads(TABLE.read_text("utf-8"))["entry"]
    return tuple(TakenOut(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries)


@dataclass(frozen=True, slots=True)
class Tried:
    """What has come of a run of tests.

    Attributes:
        placet: Where the package stood that they have imported, or empty when they did not come to an end.
        ended: How each has ended, by its id.
        said: What pytest has said.
        code: Its exit code.
    """

    placet: str
    ended: Mapping[str, str]
    said: str
    code: int

    def cases(self, test: str) -> list[str]:
        """Return how the cases of a test have ended."""
        return [end for node, end in self.ended.items() if node == test or node.startswith(f"{test}[")]


@contextmanager
def copied() -> Iterator[Path]:
    """Give a copy of the package, in a folder of its own that is gone afterwards: a link to each file as it stands."""
    with TemporaryDirectory(prefix="placet-without-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "placet"
        shutil.copytree(SOURCE, copy, copy_function=os.symlink)
        yield copy


def take_out(entry: TakenOut, copy: Path) -> None:
    """Take a rule out of a copy: the file that holds it becomes one of its own."""
    file = copy / entry.file
    without = entry.without(file.read_text("utf-8"))
    file.unlink()
    file.write_text(without, "utf-8")
    if file.suffix == ".py":
        Path(importlib.util.cache_from_source(file)).unlink(missing_ok=True)


def try_tests(tests: Iterable[str], copy: Path, seconds: float) -> Tried:
    """Return what comes of tests that import a copy of the package."""
    report = copy.parent / "witness.json"
    environment = {
        **os.environ, "PYTHONPATH": str(copy.parent), "PLACET_WITNESS": str(report),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }  # fmt: skip
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
        environment.pop(name, None)
    plugins = ["-p", "pytest_asyncio.plugin", "-p", "tests.laws.witness", "-p", "no:cacheprovider"]
    said, code = _run([sys.executable, "-m", "pytest", *plugins, "--tb=native", *tests], environment, seconds)
    if not report.exists():
        return Tried("", {}, said, code)
    written = json.loads(report.read_text("utf-8"))
    return Tried(written["placet"], written["ended"], said, code)


def _run(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> tuple[str, int]:
    process = subprocess.Popen(  # noqa: S603 - our own tests, by this interpreter
        command, cwd=HOUSE, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        return f"{said}\nnot at its end after {seconds:g} s", -1
    return said, process.returncode


def unknown_names(source: str) -> frozenset[str]:
    """Return the names that a module uses and nobody gives it."""
    known, used = set(dir(builtins)), set[str]()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                known.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                known.add(name)
            case ast.alias(name=name, asname=asname):
                known.add(asname or name.partition(".")[0])
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                known.add(name)
            case _:
                pass
    return frozenset(used - known)
