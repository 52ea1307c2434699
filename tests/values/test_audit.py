"""The seal of a record is an HMAC, however it is worked out."""

import hmac
from datetime import UTC, datetime

import pytest

from placet.values.audit import START, AuditEntry, AuditKind, seal

AT = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("length", [1, 32, 63, 64, 65, 200])
@pytest.mark.parametrize("body", ["{}", '{"text":"olá"}', '"\ud800"', "x" * 10_000])
def test_a_seal_is_the_hmac_of_all_fields_each_led_by_its_length(length: int, body: str) -> None:
    entry = AuditEntry(at=AT, kind=AuditKind.CALL, run_id="r", body=body)
    fields = [START, "w", "7", str(round(AT.timestamp() * 1_000_000)), "call", "r", "", "", "", "", "", body]
    text = "".join(f"{len(part)}:{part}" for part in fields).encode("utf-8", "surrogatepass")

    for key in (b"k" * length, b"l" * length, b"k" * length):  # one key leaves nothing to the next
        assert seal(key, "w", 7, entry, START) == hmac.digest(key, text, "sha256").hex()
