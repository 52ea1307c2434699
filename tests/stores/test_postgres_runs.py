"""Reading runs in PostgreSQL: each with what was queued in it, as of one moment."""

import asyncio
from datetime import timedelta

import pytest

from placet.errors import StoreError
from placet.ports import StoredRun
from placet.stores.postgres import PostgresStore
from placet.testing.store_samples import NOW, a_lease, a_run, an_entry
from placet.values.run import RunStatus


async def test_each_of_the_runs_that_are_asked_for_at_once_is_told_apart(store: PostgresStore) -> None:
    for number in range(3):
        store.open_run(a_run(f"run_{number}"), a_lease(f"run_{number}"))
        store.journal(a_lease(f"run_{number}"), f"entry {number}")
    await store.append(an_entry())
    found = await asyncio.gather(*(store.load_run(f"run_{number}") for number in (2, 0, 7, 1, 2)))

    assert [run and (run.id, run.journal) for run in found] == [
        ("run_2", ("entry 2",)), ("run_0", ("entry 0",)), None, ("run_1", ("entry 1",)), ("run_2", ("entry 2",)),
    ]  # fmt: skip


async def test_a_run_is_read_with_what_was_queued_in_it(store: PostgresStore) -> None:
    store.open_run(a_run(), a_lease())
    store.journal(a_lease(), "one")
    opened = await store.load_run("run_1")
    store.journal(a_lease(), "two")
    went_on = await store.load_run("run_1")

    assert opened is not None
    assert went_on is not None
    assert (opened.journal, went_on.journal) == (("one",), ("one", "two"))


async def test_what_is_queued_in_other_runs_is_not_waited_for(store: PostgresStore) -> None:
    store.open_run(a_run(), a_lease())
    await store.append(an_entry())
    store.open_run(a_run("run_2"), a_lease("run_2"))
    assert await store.load_run("run_1") is not None

    assert store._open is not None
    assert not store._open.writer.is_idle


async def test_runs_in_which_nothing_is_queued_any_more_are_forgotten(store: PostgresStore) -> None:
    for number in range(5):
        store.open_run(a_run(f"run_{number}"), a_lease(f"run_{number}"))
    await store.append(an_entry())
    store.journal(a_lease("run_3"), "entry")

    assert store._open is not None
    assert list(store._open.runs._queued) == ["run_3"]


@pytest.mark.parametrize("odd", ["a\0b", "\ud800"])
async def test_an_id_that_is_no_text_is_nobody_elses_fault(store: PostgresStore, odd: str) -> None:
    store.open_run(a_run(), a_lease())
    await store.append(an_entry())
    bad, good = await asyncio.gather(store.load_run(odd), store.load_run("run_1"), return_exceptions=True)

    assert isinstance(bad, StoreError)
    assert isinstance(good, StoredRun)


async def test_a_run_that_ends_is_read_with_all_of_its_journal_or_with_its_end(store: PostgresStore) -> None:
    """One look: a snapshot from before with a journal from after would be a run that nobody had."""
    for number in range(20):
        run_id = f"run_{number}"
        store.open_run(a_run(run_id), a_lease(run_id))
        store.journal(a_lease(run_id), "entry")
        await store.append(an_entry())
        close = store.close_run(a_lease(run_id), RunStatus.DONE, '{"turn":9}', (), NOW + timedelta(minutes=1))
        run, _ = await asyncio.gather(store.load_run(run_id), close)

        assert run is not None
        assert (run.snapshot, run.journal) in {('{"turn":0}', ("entry",)), ('{"turn":9}', ())}
