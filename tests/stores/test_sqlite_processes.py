"""The SQLite store among processes and threads: one file, many writers, and what a crash leaves."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from placet.stores.sqlite import SqliteStore
from placet.testing.store_samples import NOW, a_claim, a_take, an_effect, an_entry, entries_of
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import Claimed, ClaimRefused, EffectState

KEY = b"an audit key of thirty-two bytes"
INTENT = an_entry(AuditKind.INTENT)

PRELUDE = """
import asyncio, os, signal, sys
from decimal import Decimal
from pathlib import Path
from placet.stores.sqlite import SqliteStore
from placet.testing.store_samples import *
from placet.values.effect import Claimed

async def opened():
    store = SqliteStore(sys.argv[1], key=b"an audit key of thirty-two bytes")
    await store.open()
    return store
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "placet.db"


def start(path: Path, script: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-c", PRELUDE + script, str(path), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own script


def finish(processes: Sequence["subprocess.Popen[str]"]) -> list[Any]:
    """Return what each of them has printed, as JSON."""
    said = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return [json.loads(out) for out, _ in said]


async def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path, key=KEY)
    await store.open()
    return store


def test_processes_that_open_a_new_file_at_once_make_one_store(path: Path) -> None:
    script = """
async def main():
    store = await opened()
    await store.append(an_entry())
    await store.close()
    print(1)
asyncio.run(main())
"""
    finish([start(path, script) for _ in range(6)])

    async def look() -> None:
        store = await opened(path)
        shown = await store.verify()
        await store.close()
        assert (shown.records, shown.chains, shown.fault) == (12, 6, None)

    asyncio.run(look())


def test_fifty_claims_of_five_processes_on_a_limit_of_ten_take_ten(path: Path) -> None:
    script = """
async def main():
    store = await opened()
    intent = an_entry() if int(sys.argv[2]) % 2 else None
    claim = a_claim(takes=(a_take(at_most=Decimal(10)),), intent=intent)
    answers = [await store.claim(claim) for _ in range(5)]
    answers += await asyncio.gather(*(store.claim(claim) for _ in range(5)))
    await store.close()
    print(answers.count(Claimed()))
asyncio.run(main())
"""
    taken = finish([start(path, script, str(number)) for number in range(5)])

    assert sum(taken) == 10


def test_threads_with_a_store_each_take_no_more_than_there_is(path: Path) -> None:
    claim = a_claim(takes=(a_take(at_most=Decimal(10)),), intent=INTENT)
    taken: list[int] = []

    async def work() -> None:
        store = await opened(path)
        answers = await asyncio.gather(*(store.claim(claim) for _ in range(10)))
        await store.close()
        taken.append(answers.count(Claimed()))

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(taken) == 10
    assert len(taken) == 5


async def test_a_claim_survives_the_process_that_is_killed_right_after_it(path: Path) -> None:
    script = """
async def main():
    store = await opened()
    assert await store.claim(a_claim(an_effect(), intent=an_entry())) == Claimed()
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    process = start(path, script)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL

    store = await opened(path)
    assert await store.find_effect(an_effect().key) == an_effect()
    early = await store.claim(a_claim(an_effect("run_2:1.0"), at=NOW + timedelta(seconds=59)))
    late = await store.claim(a_claim(an_effect("run_2:1.0"), at=an_effect().deadline))
    effect = await store.find_effect(an_effect().key)
    shown = await store.verify()
    await store.close()

    assert isinstance(early, ClaimRefused)
    assert early.reason is Reason.EFFECT_RUNNING
    assert isinstance(late, ClaimRefused)
    assert late.reason is Reason.EFFECT_UNKNOWN
    assert effect is not None
    assert effect.state is EffectState.UNKNOWN
    assert (shown.records, shown.fault) == (2, None)


async def test_processes_killed_at_any_moment_leave_a_log_that_verifies(path: Path) -> None:
    script = """
said = open(sys.argv[2], "w")

async def worker(store, number):
    for place in range(100000):
        key = f"run_{os.getpid()}:{number}.{place}"
        effect = an_effect(key, digest=key)
        assert await store.claim(a_claim(effect, intent=an_entry(call_key=key))) == Claimed()
        said.write(key + "\\n")
        said.flush()

async def main():
    store = await opened()
    await asyncio.gather(*(worker(store, number) for number in range(8)))
asyncio.run(main())
"""
    files = [path.with_name(f"said_{number}") for number in range(2)]
    processes = [start(path, script, str(file)) for file in files]
    while any(not file.exists() or file.stat().st_size < 1_000 for file in files):
        if any(process.poll() is not None for process in processes):
            break
        await asyncio.sleep(0.01)
    for process in processes:
        process.kill()
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [-signal.SIGKILL] * 2, errors
    said = [line for file in files for line in file.read_text().splitlines(keepends=True)]

    store = await opened(path)
    shown = await store.verify()
    recorded = {entry.call_key for entry in await entries_of(store)}
    effects = {effect.key for effect in await store.list_effects(limit=1_000_000)}
    await store.close()

    assert shown.fault is None
    assert {line.strip() for line in said if line.endswith("\n")} <= effects
    assert effects == recorded


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
async def test_a_forked_child_writes_a_chain_of_its_own_and_leaves_its_parents_queue(path: Path) -> None:
    store = await opened(path)
    await store.append(an_entry(decision="before"))
    store.queue(an_entry(decision="queued by the parent"))
    child = os.fork()
    if not child:
        # The running loop cannot be used here; a thread of the child has none yet.
        failures: list[BaseException] = []

        def work() -> None:
            try:
                asyncio.run(store.append(an_entry(decision="child")))
            except BaseException as error:  # noqa: BLE001 - the parent reads the exit code
                failures.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        os._exit(len(failures))
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    assert status == 0
    await store.append(an_entry(decision="after"))

    shown = await store.verify()
    decisions = [entry.decision for entry in await entries_of(store)]
    await store.close()

    assert decisions == ["before", "child", "queued by the parent", "after"]
    assert (shown.chains, shown.fault) == (2, None)


async def test_another_process_goes_on_where_one_has_closed(path: Path) -> None:
    script = """
async def main():
    store = await opened()
    await open_and_suspend(store, a_request())
    await approve(store)
    await store.close()
    print(1)
asyncio.run(main())
"""
    finish([start(path, script)])

    store = await opened(path)
    claimed = await store.claim_run("run_1", "worker_2", NOW, timedelta(minutes=1))
    answer = await store.claim(a_claim(approval_id="apr_1", approval_digest="digest_1"))
    await store.close()

    assert claimed is not None
    assert answer == Claimed()


async def test_a_process_that_holds_the_lock_and_dies_holds_nobody_up(path: Path) -> None:
    script = """
import sqlite3, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("INSERT INTO mark (name, value) VALUES ('half', 'written')")
print("1", flush=True)
time.sleep(60)
"""
    store = await opened(path)
    process = start(path, script)
    assert process.stdout is not None
    said = await asyncio.to_thread(process.stdout.readline)
    append = asyncio.ensure_future(store.append(an_entry()))
    await asyncio.sleep(0.05)
    held_up = not append.done()
    process.kill()
    _, errors = process.communicate(timeout=60)
    await append
    await store.close()

    assert said == "1\n", errors
    assert held_up
