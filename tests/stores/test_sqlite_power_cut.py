"""After a power cut at any moment a SQLite store holds all that a durable verb has answered.

A process is traced while it writes. Its system calls are played to a disk that keeps for certain
what was synced: of what was written since, any sectors, and of files whose folder was not synced
since they came or went, either state. A sync that fails has lost what it should have kept, and
the next one knows nothing of it, as on Linux. Whatever the disk leaves is opened and looked at.
"""

import os
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("strace") is None, reason="the proof reads system calls, and strace shows them"),
]

SECTOR: Final = 512
CUTS: Final = 200
CHANGES: Final = ("pwrite64", "write", "lseek", "ftruncate", "fsync", "fdatasync")
PROGRAM = """
import asyncio, os, sys
from placet.errors import StoreError
from placet.stores import sqlite_wal, sqlite_writer
from placet.stores.sqlite import SqliteStore
from placet.testing.store_samples import a_claim, an_effect, an_entry
from placet.values.effect import Claimed, EffectState

path, name, workers, claims, syncs = sys.argv[1:]
sqlite_writer.CHECKPOINT_AFTER = 12
said = os.open(path + ".said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
asked = 0

def sync_some(file):
    global asked
    asked += 1
    if asked % 5 == 0:
        os.write(said, b"refused")
        raise OSError("the disk refuses")
    os.fdatasync(file)

if syncs != "all":
    sqlite_wal._sync = sync_some if syncs == "some" else lambda file: None

async def work(store, worker):
    for number in range(int(claims)):
        key = f"{name}:{worker}.{number}"
        claim = a_claim(an_effect(key, digest=key), intent=an_entry(call_key=key))
        try:
            assert await store.claim(claim) == Claimed()
            os.write(said, key.encode())
            if number % 3:
                await store.settle(key, EffectState.DONE, "{}", an_entry(body="x" * (number % 7) * 700))
        except StoreError as error:
            assert "the disk refuses" in str(error)

async def main():
    store = SqliteStore(path, key=b"an audit key of thirty-two bytes")
    await store.open()
    await asyncio.gather(*(work(store, worker) for worker in range(int(workers))))
    await store.close()

asyncio.run(main())
"""


# ── what the process did ──────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Call:
    """A system call: what it was given as text, what it returned, and when it began and ended."""

    name: str
    given: str
    returned: int
    began: float
    ended: float

    def texts(self) -> list[bytes]:
        """Return what stands in quotes or, as the path of a descriptor, in angles."""
        found = re.findall(r'["<]((?:\\x[0-9a-f]{2})*)[">]', self.given)
        return [bytes.fromhex(text.replace("\\x", "")) for text in found]

    def last_number(self) -> int:
        return int(self.given.rpartition(", ")[2])

    @property
    def is_sync(self) -> bool:
        return self.name in ("fsync", "fdatasync")


def traced(folder: Path, *processes: str, syncs: str = "all") -> list[Call]:
    """Return what processes do, one after the other or, joined by `&`, at once: name, workers, claims."""
    (folder / "program.py").write_text(PROGRAM)
    start = shlex.join([sys.executable, str(folder / "program.py"), str(folder / "placet.db")])
    lines = [" & ".join(f"{start} {one} {syncs}" for one in line.split("&")) + "; wait" for line in processes]
    calls = "pwrite64,write,lseek,fdatasync,fsync,ftruncate,unlink,openat"
    trace = ["strace", "-f", "-ttt", "-y", "-xx", "-s", "4194304", "-e", f"trace={calls}", "-o", str(folder / "trace")]
    subprocess.run([*trace, "sh", "-ec", "; ".join(lines)], check=True, timeout=300)  # noqa: S603 - our own program
    lines = (folder / "trace").read_text("latin-1").splitlines()
    assert not [line for line in lines if re.search(r"exited with [^0]|killed by", line)]
    return list(read(lines))


def read(lines: Iterable[str]) -> Iterator[Call]:
    begun: dict[str, tuple[float, str]] = {}
    for line in lines:
        process, time, text = line.split(maxsplit=2)
        began = float(time)
        if text.endswith("<unfinished ...>"):
            begun[process] = began, text.removesuffix("<unfinished ...>")
            continue
        if text.startswith("<... "):
            began, first = begun.pop(process)
            text = first + text.partition("resumed>")[2]
        if found := re.match(r"(\w+)\((.*)\) += (\d+)", text):
            yield Call(found[1], found[2], int(found[3]), began, float(time))


# ── what the disk kept ────────────────────────────────────────────────────────────────


@dataclass
class File:
    """What of a file is certain, and what was done to it since."""

    certain: bytes = b""
    since: list[tuple[float, int, bytes | None]] = field(default_factory=list)
    """When, where, and what was written there; None: it was cut there."""
    is_entered: bool = False
    place: int = 0
    """Where what is written without a place goes."""

    def sync(self, began: float) -> None:
        for time, place, data in self.since:
            if time < began:
                self.certain = changed(self.certain, place, data)
        self.lose(began)

    def lose(self, began: float) -> None:
        self.since = [change for change in self.since if change[0] >= began]

    def after_a_cut(self, chance: random.Random) -> bytes:
        content, kept = self.certain, chance.choice((0, 0.5, 0.9, 1))
        for _, place, data in self.since:
            if data is None:
                content = changed(content, place, None) if chance.random() < kept else content
                continue
            for start in range(place // SECTOR * SECTOR, place + len(data), SECTOR):
                first, last = max(start, place), min(start + SECTOR, place + len(data))
                if chance.random() < kept:
                    content = changed(content, first, data[first - place : last - place])
        return content


def changed(content: bytes, place: int, data: bytes | None) -> bytes:
    if data is None:
        return content[:place].ljust(place, b"\0")
    return content[:place].ljust(place, b"\0") + data + content[place + len(data) :]


class Disk:
    """A folder with a store, as certain as it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, File] = {}
        self.gone: dict[str, File] = {}

    def do(self, call: Call) -> None:
        texts = call.texts()
        path = Path(os.fsdecode(texts[1] if call.name == "openat" else texts[0]))
        if path == self.folder and call.is_sync:
            self.gone.clear()
            for file in self.files.values():
                file.is_entered = True
        if not re.fullmatch(r"placet\.db(-wal|-journal)?", path.name):
            return
        if call.name == "openat" and "O_CREAT" in call.given:
            self.files.setdefault(path.name, File())
        elif call.name == "unlink":
            self.gone[path.name] = self.files.pop(path.name)
        elif call.name in CHANGES:
            self.change(self.files[path.name], call, texts[1] if texts[1:] else None)

    def change(self, file: File, call: Call, data: bytes | None) -> None:
        if call.is_sync:
            file.sync(call.began)
        elif call.name == "lseek":
            file.place = call.returned
        elif call.name == "write":
            file.since.append((call.began, file.place, data))
            file.place += call.returned
        else:
            file.since.append((call.began, call.last_number(), data))

    def cut(self, folder: Path, chance: random.Random) -> None:
        """Write into a folder what a power cut may leave."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in {*self.files, *self.gone}:
            file, before = self.files.get(name), self.gone.get(name)
            if (file is None or not file.is_entered) and chance.random() < 0.5:
                file = before
            if file is not None:
                (folder / name).write_bytes(file.after_a_cut(chance))


def power_cuts(calls: Iterable[Call], folder: Path, seed: int) -> Iterator[tuple[list[str], Path]]:
    """Yield what the process had said when the power was cut, and what was left in a folder."""
    # A sync counts when it has ended, anything else from its beginning on.
    in_order = sorted(calls, key=lambda call: call.ended if call.is_sync else call.began)
    assert len(in_order) > 500
    chance = random.Random(seed)  # noqa: S311 - guards nothing
    disk, said = Disk(folder), list[str]()
    for call in in_order:
        if call.name == "write" and call.texts()[0].endswith(b".said"):
            said.append(call.texts()[1].decode())
            if said[-1] == "refused":
                said.pop()
                disk.files["placet.db-wal"].lose(call.began)
        disk.do(call)
        if said and chance.random() < CUTS / len(in_order):
            disk.cut(folder / f"cut_{seed}", chance)
            yield said, folder / f"cut_{seed}"
    assert said


def look(folder: Path) -> tuple[str, set[str]]:
    """Return what SQLite says of a file, and the keys of the effects in it."""
    with closing(sqlite3.connect(folder / "placet.db")) as connection:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
        return sound, {key for (key,) in connection.execute("SELECT key FROM effect")}


@pytest.mark.parametrize(
    "processes",
    [
        pytest.param(["a 1 60"], id="in sequence"),
        pytest.param(["a 8 20"], id="at once"),
        pytest.param(["a 1 12", "b 1 12", "c 1 12", "d 1 12"], id="four processes in sequence"),
        pytest.param(["a 2 30 & b 1 12", "c 1 12 & d 1 30"], id="two processes at once"),
    ],
)
def test_what_was_said_to_be_durable_is_there_after_a_power_cut(tmp_path: Path, processes: list[str]) -> None:
    calls = traced(tmp_path, *processes)

    for seed in range(4):
        for said, left in power_cuts(calls, tmp_path, seed):
            sound, kept = look(left)
            assert sound == "ok"
            assert set(said) <= kept


def test_what_was_said_on_a_disk_that_refuses_now_and_then_is_there_after_a_power_cut(tmp_path: Path) -> None:
    calls = traced(tmp_path, "a 1 30", syncs="some")

    for seed in range(2):
        for said, left in power_cuts(calls, tmp_path, seed):
            assert not is_lost(said, left)


def is_lost(said: list[str], left: Path) -> bool:
    try:
        sound, kept = look(left)
    except sqlite3.Error:
        return True
    return sound != "ok" or not set(said) <= kept


def test_without_the_sync_before_an_answer_a_power_cut_takes_what_was_said(tmp_path: Path) -> None:
    calls = traced(tmp_path, "a 1 60", syncs="no")

    assert any(is_lost(said, left) for said, left in power_cuts(calls, tmp_path, seed=0))


@pytest.mark.parametrize("of", ["", "placet.db", "placet.db-wal"], ids=["the folder", "the file", "the WAL"])
def test_each_sync_is_needed(tmp_path: Path, of: str) -> None:
    calls = traced(tmp_path, "a 1 60")
    without = [call for call in calls if not (call.is_sync and call.texts()[0] == os.fsencode(tmp_path / of))]

    assert len(without) < len(calls)
    assert any(is_lost(said, left) for said, left in power_cuts(without, tmp_path, seed=0))
