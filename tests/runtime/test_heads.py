import json
from datetime import UTC, datetime

import pytest

from placet.errors import StoreError
from placet.ports import AuditHead
from placet.runtime.heads import read_heads, sign_heads

KEY = b"k" * 32
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
HEADS = (AuditHead("a", 3, "f" * 64), AuditHead("b", 1, "0" * 64))


def test_heads_come_back_as_they_were_signed() -> None:
    read = read_heads(KEY, sign_heads(KEY, HEADS, NOW))

    assert read.heads == HEADS
    assert read.at == NOW


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("heads", [["a", 3, "f" * 64]]),
        ("heads", [["a", 2, "f" * 64], ["b", 1, "0" * 64]]),
        ("at", "2026-11-30T12:00:00+00:00"),
        ("version", 2),
        ("signature", "0" * 64),
        ("signature", None),
        ("more", 1),
    ],
)
def test_heads_that_were_edited_are_refused(name: str, value: object) -> None:
    edited = {**json.loads(sign_heads(KEY, HEADS, NOW)), name: value}

    with pytest.raises(StoreError):
        read_heads(KEY, json.dumps(edited))


def test_heads_of_another_store_are_refused() -> None:
    with pytest.raises(StoreError, match="another store"):
        read_heads(b"l" * 32, sign_heads(KEY, HEADS, NOW))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "no json", '{"signature": "ü"}', "[" * 100_000])
def test_what_is_no_file_of_heads_is_refused(text: str) -> None:
    with pytest.raises(StoreError):
        read_heads(KEY, text)
