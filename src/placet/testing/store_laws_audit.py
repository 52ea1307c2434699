"""Laws of the store contract: the audit log, principals and the mark of a demo."""

# ruff: noqa: S101 - a law asserts

import asyncio
import json
from dataclasses import replace

from placet.ports import AuditHead, Store
from placet.testing.store_samples import (
    NOW,
    a_claim,
    a_lease,
    a_run,
    an_effect,
    an_entry,
    entries_of,
    records_of,
)
from placet.values.audit import AuditKind
from placet.values.effect import Claimed
from placet.values.principal import Principal


async def records_come_back_in_order_as_they_were(store: Store) -> None:
    """Every field of every kind, whatever script it is written in."""
    entries = [an_entry(kind, rule=f"Regel „{place}“ — 規則") for place, kind in enumerate(AuditKind)]
    await store.append(*entries)
    records = [record async for record in store.read()]
    assert [record.entry for record in records[1:]] == entries
    assert [record.sequence for record in records] == list(range(1, len(entries) + 2))
    assert len({record.writer for record in records}) == 1


async def a_chain_begins_with_a_record_of_its_writer(store: Store) -> None:
    """Written with the first real record and not before; a first chain names none before it."""
    assert await store.heads() == ()
    await store.append(an_entry())
    (first, _) = [record async for record in store.read()]
    assert first.entry.kind is AuditKind.WRITER
    assert json.loads(first.entry.body) == {"chains": []}


async def an_empty_log_verifies(store: Store) -> None:
    """Nothing is wrong with nothing."""
    shown = await store.verify()
    assert (shown.records, shown.chains, shown.fault, shown.anchored) == (0, 0, None, False)


async def what_is_queued_comes_before_what_is_appended(store: Store) -> None:
    """In the order of the calls, whichever verb."""
    store.queue(an_entry(decision="1"))
    await asyncio.gather(store.append(an_entry(decision="2"), an_entry(decision="3")), store.append())
    store.queue(an_entry(decision="4"))
    store.queue(an_entry(decision="5"))
    assert await store.claim(a_claim(an_effect(), intent=an_entry(decision="6"))) == Claimed()
    store.queue(an_entry(decision="7"))
    assert [entry.decision for entry in await entries_of(store)] == list("1234567")


async def records_are_selected(store: Store) -> None:
    """By run, principal and tool together, and the newest so many, oldest first."""
    for place in range(30):
        store.queue(
            an_entry(
                run_id=f"run_{place % 2}", principal_id=f"c{place % 3}", tool=f"tool_{place % 5}", decision=str(place)
            )
        )
    assert [entry.decision for entry in await entries_of(store, last=3)] == ["27", "28", "29"]
    assert await entries_of(store, last=0) == []
    assert len(await entries_of(store, run_id="run_1")) == 15
    assert len(await entries_of(store, principal_id="c1", last=100)) == 10
    one = await entries_of(store, run_id="run_1", principal_id="c1", tool="tool_2")
    assert [entry.decision for entry in one] == ["7"]
    two = await entries_of(store, run_id="run_0", last=2)
    assert [entry.decision for entry in two] == ["26", "28"]


async def a_long_log_is_read_whole(store: Store) -> None:
    """More than any reader takes at a time, in order, and it verifies."""
    await store.append(*(an_entry(decision=str(place)) for place in range(1_201)))
    records = await records_of(store)
    assert [record.entry.decision for record in records] == [str(place) for place in range(1_201)]
    shown = await store.verify()
    assert (shown.records, shown.chains, shown.fault) == (1_202, 1, None)


async def texts_that_cannot_be_text_are_recorded_nevertheless(store: Store) -> None:
    """A model may send anything as a tool's name: what it sent is recorded, and its run with it."""
    odd = ("\ud800", "a\0b", "\udfff\ud800 ok")
    await store.append(an_entry(decision="before"))
    await asyncio.gather(*(store.append(an_entry(tool=tool, decision=str(place))) for place, tool in enumerate(odd)))
    await store.claim(a_claim(an_effect(), intent=an_entry(AuditKind.INTENT, tool="\ud800", decision="intent")))
    await store.append(an_entry(decision="after"))
    decisions = [entry.decision for entry in await entries_of(store)]
    assert decisions == ["before", "0", "1", "2", "intent", "after"]
    assert (await store.verify()).fault is None


async def a_head_that_was_exported_anchors(store: Store) -> None:
    """Now and later; a head that never was is a fault."""
    await store.append(an_entry())
    heads = await store.heads()
    await store.append(an_entry(), an_entry())
    shown = await store.verify(heads)
    assert (shown.fault, shown.anchored, shown.records) == (None, True, 4)
    assert (await store.verify(await store.heads())).fault is None
    (head,) = heads
    shown = await store.verify([replace(head, sequence=9)])
    assert shown.fault is not None
    assert (shown.fault.writer, shown.fault.sequence) == (head.writer, 5)
    shown = await store.verify([replace(head, seal="f" * 64)])
    assert shown.fault is not None
    assert shown.fault.sequence == head.sequence
    shown = await store.verify([AuditHead("another writer", 1, "f" * 64)])
    assert shown.fault is not None
    assert shown.fault.writer == "another writer"


async def heads_name_the_last_record(store: Store) -> None:
    """Its writer, its place and its seal."""
    await store.append(an_entry(), an_entry())
    (last,) = [record async for record in store.read(last=1)]
    assert list(await store.heads()) == [AuditHead(last.writer, last.sequence, last.seal)]


async def a_principal_is_what_was_last_said(store: Store) -> None:
    """Roles and attributes; an unknown one is None."""
    store.state_principal(Principal("c17", {"support"}, {"tenant": 1, "plan": {"name": "Größe"}}))
    store.state_principal(Principal("c18"))
    store.state_principal(Principal("c17", {"support", "supervisor"}, {"tenant": 1}))
    found = await store.find_principal("c17")
    assert found is not None
    assert (found.id, found.roles) == ("c17", frozenset({"support", "supervisor"}))
    assert dict(found.attributes) == {"tenant": 1}
    assert await store.find_principal("c18") == Principal("c18")
    assert await store.find_principal("c19") is None


async def a_store_is_a_demo_only_when_it_is_marked(store: Store) -> None:
    """And then it stays one."""
    assert not await store.is_demo()
    await store.mark_demo()
    await store.mark_demo()
    assert await store.is_demo()


async def what_is_queued_is_seen_by_whoever_asks(store: Store) -> None:
    """A read comes after everything that was asked for before it."""
    store.open_run(a_run(), a_lease())
    assert await store.load_run("run_1") is not None
    store.queue(an_entry())
    assert len(await store.heads()) == 1
    store.queue(an_entry(at=NOW))
    assert (await store.verify()).records == 3


LAWS = (
    records_come_back_in_order_as_they_were,
    a_chain_begins_with_a_record_of_its_writer,
    an_empty_log_verifies,
    what_is_queued_comes_before_what_is_appended,
    records_are_selected,
    a_long_log_is_read_whole,
    texts_that_cannot_be_text_are_recorded_nevertheless,
    a_head_that_was_exported_anchors,
    heads_name_the_last_record,
    a_principal_is_what_was_last_said,
    a_store_is_a_demo_only_when_it_is_marked,
    what_is_queued_is_seen_by_whoever_asks,
)
"""Each is tried on a store of its own, open and empty."""
