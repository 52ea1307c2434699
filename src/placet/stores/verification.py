"""Looking at every record of every chain: the same laws, whichever store keeps them."""

import hmac
from collections.abc import Mapping, Sequence

from placet.ports import AuditHead
from placet.values.audit import START, AuditFault, AuditKind, AuditRecord, AuditVerification, seal


class Verification:
    """Takes records chain by chain, in the order of their places, and finds the first fault.

    Args:
        key: The audit key, from outside the store.
        known: By writer, the heads that must stand in its chain.
        anchored: Whether some of those came from outside the store.
    """

    def __init__(self, key: bytes, known: Mapping[str, Sequence[AuditHead]], *, anchored: bool) -> None:
        self._key = key
        self._known = known
        self._anchored = anchored
        self._marks: dict[int, str] = {}
        self._writer: str | None = None
        self._seen: set[str] = set()
        self._sequence = 0
        self._last = START
        self._records = 0
        self._fault: AuditFault | None = None

    def look(self, record: AuditRecord) -> None:
        """Look at the next record."""
        self._enter(record.writer)
        if self._fault is None:
            self._compare(record)

    def look_at_unreadable(self, writer: str, sequence: int) -> None:
        """Look at a record whose row no longer says what a record says."""
        self._enter(writer)
        self._sequence += 1
        self._find(writer, sequence, "edited: the row cannot be read as a record")

    def result(self) -> AuditVerification:
        """Return what looking has shown, once every record has been looked at."""
        self._end_chain()
        for writer in sorted(self._known.keys() - self._seen):
            self._find(writer, 1, f"the chain of writer {writer!r} is named elsewhere and is missing whole")
        return AuditVerification(
            records=self._records, chains=len(self._seen), fault=self._fault, anchored=self._anchored
        )

    def _enter(self, writer: str) -> None:
        self._records += 1
        if writer != self._writer:
            self._end_chain()
            self._begin_chain(writer)

    def _begin_chain(self, writer: str) -> None:
        self._writer = writer
        self._seen.add(writer)
        self._sequence = 0
        self._last = START
        self._marks = {}
        for head in self._known.get(writer, ()):
            if self._marks.setdefault(head.sequence, head.seal) != head.seal:
                self._find(writer, head.sequence, "two heads of this place contradict each other")

    def _end_chain(self) -> None:
        if self._writer is None:
            return
        cut = [sequence for sequence in self._marks if sequence > self._sequence]
        if cut:
            self._find(self._writer, self._sequence + 1, f"the tail is cut: a record of place {max(cut)} is known")

    def _compare(self, record: AuditRecord) -> None:
        self._sequence += 1
        if record.sequence != self._sequence:
            self._find(record.writer, self._sequence, "a gap: the record of this place is missing")
            return
        expected = seal(self._key, record.writer, record.sequence, record.entry, self._last)
        if not hmac.compare_digest(expected.encode(), record.seal.encode("utf-8", "replace")):
            self._find(record.writer, record.sequence, "edited, swapped or forged: the seal does not fit")
            return
        self._last = record.seal
        if record.sequence == 1 and record.entry.kind != AuditKind.WRITER:
            self._find(record.writer, 1, "the chain does not begin with a record of its writer")
        if self._marks.get(record.sequence, record.seal) != record.seal:
            self._find(record.writer, record.sequence, "another record stood here: a known head does not match")

    def _find(self, writer: str, sequence: int, message: str) -> None:
        if self._fault is None:
            self._fault = AuditFault(writer, sequence, message)
