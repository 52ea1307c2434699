"""Audit sinks: who else is told what the audit log records. They observe; the store is the log."""

import sys
from dataclasses import field
from typing import TextIO

from placet.values.audit import AuditEntry
from placet.values.construction import dataclass
from placet.words.escape import escape_for_person


@dataclass(frozen=True, slots=True)
class ConsoleSink:
    """Prints one line for each entry, with everything invisible made visible.

    Attributes:
        stream: Where to; standard error by default, as standard output is for data.
    """

    stream: TextIO | None = None

    def __call__(self, entry: AuditEntry) -> None:
        """Print an entry."""
        words = (entry.at.strftime("%H:%M:%S"), entry.kind, entry.principal_id, entry.tool, entry.decision, entry.rule)
        line = "  ".join(word for word in words if word)
        print(f"audit  {escape_for_person(line).text}", file=self.stream or sys.stderr)


@dataclass(frozen=True, slots=True)
class ListSink:
    """Keeps the entries in a list, for tests.

    Attributes:
        entries: What was told so far.
    """

    entries: list[AuditEntry] = field(default_factory=list[AuditEntry])

    def __call__(self, entry: AuditEntry) -> None:
        """Keep an entry."""
        self.entries.append(entry)
