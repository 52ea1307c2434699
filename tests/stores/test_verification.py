"""Verification alone, over records made by hand: no store lies between."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from placet.ports import AuditHead
from placet.stores.chain import Chain, known_heads, named_heads, unnamed_heads, writer_entry
from placet.stores.verification import Verification
from placet.testing.store_samples import NOW, an_entry
from placet.values.audit import (
    START,
    AuditEntry,
    AuditFault,
    AuditKind,
    AuditRecord,
    AuditVerification,
    microseconds,
    seal,
)

KEY = b"an audit key of thirty-two bytes"


def chain_of(writer: str, *entries: AuditEntry, frontier: Sequence[AuditHead] = ()) -> list[AuditRecord]:
    chain = Chain(KEY, writer)
    placed = (writer_entry(NOW, frontier), *entries)
    return [
        AuditRecord(writer=writer, sequence=place, entry=entry, seal=chain.place(entry))
        for place, entry in enumerate(placed, start=1)
    ]


def head_of(records: Sequence[AuditRecord]) -> AuditHead:
    return AuditHead(records[-1].writer, records[-1].sequence, records[-1].seal)


def look_at(records: Sequence[AuditRecord], heads: Sequence[AuditHead] = (), key: bytes = KEY) -> AuditVerification:
    beginnings = [record.entry for record in records if record.sequence == 1]
    verification = Verification(key, known_heads(beginnings, heads), anchored=bool(heads))
    for record in records:
        verification.look(record)
    return verification.result()


def fault_of(records: Sequence[AuditRecord], heads: Sequence[AuditHead] = ()) -> AuditFault:
    fault = look_at(records, heads).fault
    assert fault is not None
    return fault


ONE = chain_of("writer_1", an_entry(decision="a"), an_entry(decision="b"), an_entry(decision="c"))
TWO = chain_of("writer_2", an_entry(decision="d"), frontier=[head_of(ONE)])


def test_the_seal_of_a_record_is_the_same_in_every_version() -> None:
    entry = an_entry(AuditKind.OUTCOME, rule="10 of amount/day", body='{"note":"\u00f6\ud800"}')
    sealed = seal(KEY, "writer_1", 12, entry, START)

    assert sealed == "66f1452550dc7b9739f9e406a178760d9a3feebbb3c3a035f3b3bb226ba47ce5"
    assert seal(KEY, "writer_1", 12, entry, START, microseconds(entry.at)) == sealed


def test_chains_as_they_were_written_are_well() -> None:
    shown = look_at([*ONE, *TWO])

    assert (shown.records, shown.chains, shown.fault, shown.anchored) == (6, 2, None, False)


@pytest.mark.parametrize(
    "change",
    [
        {"at": NOW + timedelta(microseconds=1)},
        {"kind": AuditKind.OUTCOME},
        {"run_id": "run_2"},
        {"call_key": "run_1:1.1"},
        {"principal_id": "c18"},
        {"tool": "pay"},
        {"decision": "deny"},
        {"rule": "another"},
        {"body": '{"euro":6}'},
        {"run_id": "run_1r", "call_key": "un_1:1.0"},
    ],
    ids="+".join,
)
def test_an_edit_of_any_field_shows_at_its_place(change: dict[str, Any]) -> None:
    edited = [
        replace(record, entry=replace(record.entry, **change)) if record.sequence == 3 else record for record in ONE
    ]

    fault = fault_of(edited)

    assert (fault.writer, fault.sequence) == ("writer_1", 3)


def test_an_edited_seal_shows_at_its_place() -> None:
    edited = [replace(record, seal="f" * 64) if record.sequence == 3 else record for record in ONE]

    assert fault_of(edited).sequence == 3


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_gap_shows_where_it_begins(missing: int) -> None:
    fault = fault_of([record for record in ONE if record.sequence != missing])

    assert (fault.writer, fault.sequence) == ("writer_1", missing)


def test_a_gap_that_is_closed_up_shows_too() -> None:
    closed = [*ONE[:2], replace(ONE[3], sequence=3)]

    assert fault_of(closed).sequence == 3


def test_two_records_that_have_changed_places_show() -> None:
    swapped = [*ONE[:1], replace(ONE[2], sequence=2), replace(ONE[1], sequence=3), *ONE[3:]]

    assert fault_of(swapped).sequence == 2


def test_a_record_under_another_writer_shows() -> None:
    moved = [*TWO, replace(ONE[2], writer="writer_2", sequence=3)]

    assert fault_of(moved).sequence == 3


def test_a_record_forged_without_the_key_shows() -> None:
    forger = Chain(b"a key that the forger has made up", "writer_1")
    forger.sequence, forger.last = 4, ONE[-1].seal
    entry = an_entry(decision="forged")
    forged = AuditRecord(writer="writer_1", sequence=5, entry=entry, seal=forger.place(entry))

    assert fault_of([*ONE, forged]).sequence == 5


def test_another_key_fits_nothing() -> None:
    fault = look_at(ONE, key=b"another key of thirty-two bytes.").fault

    assert fault is not None
    assert fault.sequence == 1


def test_a_cut_tail_shows_only_against_a_head_from_outside() -> None:
    assert look_at(ONE[:-1]).fault is None

    shown = look_at(ONE[:-1], [head_of(ONE)])

    assert shown.anchored
    assert shown.fault is not None
    assert (shown.fault.writer, shown.fault.sequence) == ("writer_1", 4)


def test_a_tail_that_a_later_writer_names_shows_without_a_head() -> None:
    assert fault_of([*ONE[:-1], *TWO]).writer == "writer_1"


def test_a_whole_chain_that_a_later_writer_names_is_missed() -> None:
    fault = fault_of(TWO)

    assert fault.writer == "writer_1"
    assert "missing whole" in fault.message


def test_a_whole_chain_is_missed_by_a_head_from_outside() -> None:
    assert fault_of(ONE, [head_of(ONE), head_of(TWO)]).writer == "writer_2"


def test_a_tail_that_was_cut_and_written_anew_does_not_fit_what_was_named() -> None:
    rewritten = chain_of("writer_1", an_entry(decision="a"), an_entry(decision="b"), an_entry(decision="z"))

    fault = fault_of([*rewritten, *TWO])

    assert (fault.writer, fault.sequence) == ("writer_1", 4)


def test_a_chain_without_the_record_of_its_writer_shows() -> None:
    chain = Chain(KEY, "writer_3")
    entry = an_entry()

    fault = fault_of([AuditRecord(writer="writer_3", sequence=1, entry=entry, seal=chain.place(entry))])

    assert "begin" in fault.message


def test_heads_that_contradict_each_other_are_a_fault() -> None:
    assert "contradict" in fault_of(ONE, [head_of(ONE), replace(head_of(ONE), seal="f" * 64)]).message


def test_the_first_fault_is_told() -> None:
    edited = [replace(record, seal="f" * 64) for record in ONE]

    assert fault_of(edited).sequence == 1


def test_the_frontier_leaves_out_what_is_named_as_it_stands() -> None:
    named = [record.entry for record in (ONE[0], TWO[0])]
    grown = replace(head_of(ONE), sequence=9)

    assert unnamed_heads([head_of(ONE), head_of(TWO)], named) == (head_of(TWO),)
    assert unnamed_heads([grown, head_of(TWO)], named) == (grown, head_of(TWO))


@pytest.mark.parametrize("body", ["", "{}", "[]", '{"chains":[["w"]]}', '{"chains":[["w","x","s"]]}', '{"chains":7}'])
def test_a_body_that_names_no_heads_names_none(body: str) -> None:
    assert named_heads(an_entry(AuditKind.WRITER, body=body)) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    list(pairwise(["run_id", "call_key", "principal_id", "tool", "decision", "rule", "body"])),
)
def test_no_text_moves_from_one_field_into_the_next_under_the_same_seal(first: str, second: str) -> None:
    here: dict[str, Any] = {first: "ab", second: "c"}
    there: dict[str, Any] = {first: "a", second: "bc"}

    assert seal(KEY, "w", 1, an_entry(**here), START) != seal(KEY, "w", 1, an_entry(**there), START)
