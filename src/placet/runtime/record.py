"""What the audit log is told of a call, redacted and in few words."""

import json
from datetime import datetime
from typing import Final

from pydantic_core import PydanticSerializationError, to_json

from placet.redaction.redact import Redactor
from placet.tools.text import cut
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolCall, Wire
from placet.values.construction import dataclass, made_quickly, maker

SHOWN_RESULT: Final = 2_000
"""Characters of a result, or of arguments that could not be read, that the audit log keeps."""
SHOWN_DETAIL: Final = 4_000
"""Bytes of what only the audit log is told: the beginning and the end of an exception's text."""


def json_text(value: object) -> str:
    """Return a value as JSON text; what is no JSON becomes its `repr`, and halves of characters U+FFFD."""
    try:
        return to_json(value, fallback=repr, inf_nan_mode="null").decode("utf-8", "replace")
    except PydanticSerializationError:
        text = json.dumps(value, ensure_ascii=False, default=repr)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def quote(text: str) -> str:
    """Return a text as a JSON string; lone surrogates become U+FFFD."""
    try:
        return to_json(text).decode()
    except ValueError:
        return to_json(text.encode("utf-8", "replace").decode()).decode()


_new_entry: Final = maker(AuditEntry)

_WIRES: Final = {wire: f',"wire":"{wire.value}"' for wire in Wire}


@made_quickly
@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call on its way, and the entries that tell of it.

    Attributes:
        run_id: Its run.
        key: Its key.
        principal_id: On whose behalf.
        tool: The tool's name; as the model wrote it, when there is no such tool.
        arguments: JSON text, redacted.
        wire: How it came in.
        note: What else is worth knowing: the name as written, what was unwrapped.
    """

    run_id: str
    key: str
    principal_id: str
    tool: str
    arguments: str
    wire: Wire
    note: str = ""

    def entry(self, at: datetime, kind: AuditKind, decision: str, rule: str, body: str) -> AuditEntry:
        """Return an entry of this call."""
        return _new_entry(
            at=at,
            kind=kind,
            run_id=self.run_id,
            call_key=self.key,
            principal_id=self.principal_id,
            tool=self.tool,
            decision=decision,
            rule=rule,
            body=body,
        )

    def body(self, *, code: str, ms: float, result: str = "", detail: str = "", more: str = "") -> str:
        """Return the body of an entry: arguments and how it ended, all of it redacted before.

        Args:
            code: The code of the result.
            ms: From the proposal to the result.
            result: What the model was told, redacted.
            detail: What only the audit log is told, redacted.
            more: Further members, as JSON text that begins with a comma.
        """
        note = f',"note":{quote(self.note)}' if self.note else ""
        why = f',"detail":{quote(cut(detail, SHOWN_DETAIL)[0])}' if detail else ""
        said = f',"result":{quote(result[:SHOWN_RESULT])}' if result else ""
        told = f"{said}{why}{_WIRES[self.wire]}{note}{more}"
        return f'{{"arguments":{self.arguments},"code":"{code}","ms":{ms:.2f}{told}}}'


def proposed(run_id: str, key: str, principal_id: str, call: ToolCall, redactor: Redactor) -> CallRecord:
    """Return the record of a call of which nothing but the wish is known: its arguments may be anything."""
    return CallRecord(
        run_id, key, principal_id, call.name[:200], quote(redactor.text(call.arguments)[:SHOWN_RESULT]), call.wire,
        call.note or "",
    )  # fmt: skip
