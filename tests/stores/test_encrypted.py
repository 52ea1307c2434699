"""A store in which nobody can read what runs, approvals and the ledger hold."""

import json
import secrets
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from placet.errors import ConfigurationError, StoreError
from placet.ports import Store
from placet.stores.cipher import Cipher
from placet.stores.encrypted import EncryptedStore
from placet.stores.memory import MemoryStore
from placet.stores.postgres import PostgresStore
from placet.stores.sqlite import SqliteStore
from placet.testing.store_contract import LAWS, SHARED_LAWS, Law, OpenStore, SharedLaw
from placet.testing.store_samples import (
    NOW,
    a_claim,
    a_decision,
    a_lease,
    a_request,
    a_run,
    an_effect,
    an_entry,
)
from placet.values.approval import ApprovalRequest
from placet.values.audit import AuditKind
from placet.values.effect import EffectState

KEY = b"an audit key of thirty-two bytes"
OLD, NEW = secrets.token_bytes(32), secrets.token_bytes(32)


@pytest.fixture(params=["sqlite", "postgres"])
async def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenStore]:
    stores: list[Store] = []
    dsn = request.getfixturevalue("postgres") if request.param == "postgres" else ""

    async def opened() -> Store:
        inner: Store = PostgresStore(dsn, key=KEY) if dsn else SqliteStore(tmp_path / "placet.db", key=KEY)
        store = EncryptedStore(inner, [NEW])
        stores.append(store)
        await store.open()
        return store

    yield opened
    for store in stores:
        await store.close()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
async def test_an_encrypted_memory_store_keeps(law: Law) -> None:
    await law(EncryptedStore(MemoryStore(key=KEY), [NEW]))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
async def test_an_encrypted_store_keeps(law: Law, open_store: OpenStore) -> None:
    await law(await open_store())


@pytest.mark.parametrize("law", SHARED_LAWS, ids=lambda law: law.__name__)
async def test_encrypted_stores_of_one_database_keep(law: SharedLaw, open_store: OpenStore) -> None:
    await law(open_store)


async def write_secrets(store: Store) -> None:
    """Write the word hunter2 wherever a store keeps what was said."""
    lease = a_lease()
    store.open_run(a_run(snapshot='{"said":"hunter2"}'), lease)
    store.journal(lease, '{"answer":"hunter2"}')
    await store.claim(a_claim(an_effect(), lease=lease))
    await store.settle(an_effect().key, EffectState.DONE, '"hunter2"', an_entry(AuditKind.OUTCOME))
    request = a_request(arguments={"password": "hunter2"})
    assert request.preview is not None
    request = replace(request, preview=replace(request.preview, text="to hunter2", binds={"to": "hunter2"}))
    await store.suspend_run(lease, '{"said":"hunter2","again":"hunter2"}', [request], [], NOW)
    decision = a_decision(note="because of hunter2", arguments={"password": "hunter2", "edited": True}, digest="d")
    await store.decide_approval(decision, an_entry(AuditKind.APPROVAL))


async def test_no_secret_stands_in_the_file(tmp_path: Path) -> None:
    for name, keys in (("plain.db", None), ("sealed.db", [NEW])):
        inner = SqliteStore(tmp_path / name, key=KEY)
        store: Store = EncryptedStore(inner, keys) if keys else inner
        await store.open()
        await write_secrets(store)
        await store.close()

    def holds(name: str) -> bool:
        return any(b"hunter2" in path.read_bytes() for path in tmp_path.glob(f"{name}*"))

    assert (holds("plain.db"), holds("sealed.db")) == (True, False)


async def test_what_was_sealed_comes_back_as_it_was(open_store: OpenStore) -> None:
    store = await open_store()

    await write_secrets(store)

    (request,) = await store.list_approvals()
    effect, run = await store.find_effect(an_effect().key), await store.load_run("run_1")
    assert effect is not None
    assert run is not None
    assert (effect.result, run.snapshot) == ('"hunter2"', '{"said":"hunter2","again":"hunter2"}')
    assert request.arguments == {"password": "hunter2", "edited": True}
    assert request.preview is not None
    assert (request.preview.text, request.preview.binds) == ("to hunter2", {"to": "hunter2"})
    assert request.note == "because of hunter2"


async def test_an_older_key_still_opens_and_a_missing_one_does_not(tmp_path: Path) -> None:
    async def find(keys: list[bytes]) -> str | None:
        store = EncryptedStore(SqliteStore(tmp_path / "placet.db", key=KEY), keys)
        await store.open()
        try:
            effect = await store.find_effect(an_effect().key)
            return None if effect is None else effect.result
        finally:
            await store.close()

    old = EncryptedStore(SqliteStore(tmp_path / "placet.db", key=KEY), [OLD])
    await old.open()
    await write_secrets(old)
    await old.close()

    assert await find([NEW, OLD]) == '"hunter2"'
    with pytest.raises(StoreError, match="cannot be decrypted"):
        await find([NEW])


async def test_what_was_moved_to_another_row_does_not_open(tmp_path: Path) -> None:
    store = EncryptedStore(SqliteStore(tmp_path / "placet.db", key=KEY), [NEW])
    await store.open()
    await write_secrets(store)
    other = an_effect("other", digest="other")
    await store.claim(a_claim(other))
    await store.settle(other.key, EffectState.DONE, '"public"', an_entry(AuditKind.OUTCOME))
    connection = sqlite3.connect(tmp_path / "placet.db", isolation_level=None)
    (stolen,) = connection.execute("SELECT result FROM effect WHERE key = ?", (an_effect().key,)).fetchone()
    connection.execute("UPDATE effect SET result = ? WHERE key = 'other'", (stolen,))
    connection.close()

    with pytest.raises(StoreError, match="cannot be decrypted"):
        await store.find_effect("other")
    await store.close()


async def test_what_was_stored_before_there_was_a_key_is_read_as_it_is(tmp_path: Path) -> None:
    plain = SqliteStore(tmp_path / "placet.db", key=KEY)
    await plain.open()
    await write_secrets(plain)
    await plain.close()
    store = EncryptedStore(SqliteStore(tmp_path / "placet.db", key=KEY), [NEW])
    await store.open()

    (request,) = await store.list_approvals()
    await store.close()

    assert isinstance(request, ApprovalRequest)
    assert request.arguments["password"] == "hunter2"


@pytest.mark.parametrize("text", ["", "a", "ș — ü", "\ud800", json.dumps({"x": "\x00"})])
def test_every_text_comes_back(text: str) -> None:
    cipher = Cipher([NEW])

    assert cipher.open(cipher.seal(text, "here"), "here") == text


@pytest.mark.parametrize("change", [lambda text: text[:-4] + "AAA=", lambda text: text + "?", lambda text: text[:12]])
def test_what_was_changed_does_not_open(change: object) -> None:
    assert callable(change)
    cipher = Cipher([NEW])

    with pytest.raises(StoreError, match="cannot be decrypted"):
        cipher.open(change(cipher.seal("hunter2", "here")), "here")


@pytest.mark.parametrize("keys", [[], [b"short"], [NEW, b""]])
def test_keys_of_another_length_are_refused(keys: list[bytes]) -> None:
    with pytest.raises(ConfigurationError, match="32 bytes"):
        Cipher(keys)


def read_all(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_no_secret_stands_in_the_file_while_a_run_goes_on(tmp_path: Path) -> None:
    """What is journalled is gone once its run ends, and what a transaction's tool gives back is written elsewhere."""
    store = EncryptedStore(SqliteStore(tmp_path / "sealed.db", key=KEY), [NEW])
    await store.open()
    lease = a_lease()
    store.open_run(a_run(journal=('{"first":"hunter2"}',)), lease)
    store.journal(lease, '{"answer":"hunter2"}')
    await store.claim(a_claim(an_effect(), lease=lease))
    await store.commit_effect(an_effect().key, '"hunter2"', (), an_entry(AuditKind.OUTCOME))
    run, effect = await store.load_run("run_1"), await store.find_effect(an_effect().key)
    written = read_all(tmp_path)
    await store.close()

    assert run is not None
    assert effect is not None
    assert (run.journal, effect.result) == (('{"first":"hunter2"}', '{"answer":"hunter2"}'), '"hunter2"')
    assert b"run_1" in written
    assert b"hunter2" not in written
