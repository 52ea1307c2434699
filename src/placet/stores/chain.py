"""A writer's chain: which place an entry gets, and how the first record names the chains before.

Every store object that writes is one writer with one chain. Its first record is of kind
WRITER, and its body names the last record of every chain that no such record names as it
stands. So a chain that vanishes whole leaves its name behind.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from placet.ports import AuditHead
from placet.stores.rows import storable
from placet.values.audit import START, AuditEntry, AuditKind, microseconds, seal
from placet.values.json import canonical


class Chain:
    """Where one writer stands in its chain.

    Attributes:
        key: The audit key, from outside the store.
        writer: Which chain.
        sequence: The last place, 0 before the first.
        last: The seal there, or `START`.
    """

    __slots__ = ("key", "last", "sequence", "writer")

    def __init__(self, key: bytes, writer: str) -> None:
        self.key = key
        self.writer = writer
        self.sequence = 0
        self.last = START

    def place(self, entry: AuditEntry) -> str:
        """Give an entry the next place and return its seal."""
        self.sequence += 1
        self.last = last = seal(self.key, self.writer, self.sequence, entry, self.last)
        return last

    def rows(self, entries: Sequence[AuditEntry], frontier: Iterable[AuditHead]) -> list[tuple[Any, ...]]:
        """Give entries the next places, and return their records as rows of `AUDIT_COLUMNS`.

        Args:
            entries: In order. What no database takes as text is written as escapes (see `storable`).
            frontier: What the first record of the chain names, which is made when there is none yet.
        """
        if entries and not self.sequence:
            entries = (writer_entry(entries[0].at, frontier), *entries)
        key, writer, sequence, last = self.key, self.writer, self.sequence, self.last
        rows: list[tuple[Any, ...]] = []
        for given in entries:
            entry = storable(given)
            at = microseconds(entry.at)
            sequence += 1
            last = seal(key, writer, sequence, entry, last, at)
            rows.append(
                (
                    writer, sequence, at, entry.kind._value_, entry.run_id, entry.call_key, entry.principal_id,
                    entry.tool, entry.decision, entry.rule, entry.body, last,
                )
            )  # fmt: skip
        self.sequence, self.last = sequence, last
        return rows


def writer_entry(at: datetime, frontier: Iterable[AuditHead]) -> AuditEntry:
    """Return the entry with which a writer begins its chain."""
    named = [[head.writer, head.sequence, head.seal] for head in frontier]
    return AuditEntry(at=at, kind=AuditKind.WRITER, decision="opened", body=canonical({"chains": named}))


def named_heads(entry: AuditEntry) -> tuple[AuditHead, ...]:
    """Return the heads that a WRITER record names; none when its body says no such thing.

    Whether the record itself is genuine is its seal's matter.
    """
    try:
        chains = json.loads(entry.body)["chains"]
        return tuple(AuditHead(str(writer), int(sequence), str(mark)) for writer, sequence, mark in chains)
    except (ValueError, KeyError, TypeError):
        return ()


def unnamed_heads(heads: Iterable[AuditHead], beginnings: Iterable[AuditEntry]) -> tuple[AuditHead, ...]:
    """Return those heads that no WRITER record names as they stand.

    Args:
        heads: The last record of every chain.
        beginnings: The first record of every chain.
    """
    named: dict[str, int] = {}
    for entry in beginnings:
        for head in named_heads(entry):
            named[head.writer] = max(head.sequence, named.get(head.writer, 0))
    return tuple(head for head in heads if head.sequence > named.get(head.writer, 0))


def known_heads(beginnings: Iterable[AuditEntry], anchors: Iterable[AuditHead]) -> Mapping[str, tuple[AuditHead, ...]]:
    """Return by writer what must stand in its chain: what WRITER records and exported heads name."""
    known: dict[str, tuple[AuditHead, ...]] = {}
    for head in (*anchors, *(head for entry in beginnings for head in named_heads(entry))):
        known[head.writer] = (*known.get(head.writer, ()), head)
    return known
