import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from placet.errors import ConfigurationError
from placet.parts import secret_of
from placet.runtime.clock import SystemIds
from placet.runtime.keys import Keys, call_digest, read_or_make_secret
from placet.stores.url import open_store_from_url
from placet.values.json import Json


def test_the_key_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "placet.db.key"

    first = read_or_make_secret(path)

    assert read_or_make_secret(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_many_that_come_at_once_get_the_same_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        secrets = set(threads.map(lambda _: read_or_make_secret(tmp_path / "key"), range(64)))

    assert len(secrets) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


async def test_a_store_whose_key_file_is_gone_gets_no_other_key(tmp_path: Path) -> None:
    url, key = f"sqlite:///{tmp_path / 'placet.db'}", tmp_path / "placet.db.key"
    secret = secret_of(url)
    store = open_store_from_url(url, key=Keys.of(secret).audit)
    await store.open()
    await store.close()
    kept = key.rename(tmp_path / "elsewhere")

    with pytest.raises(ConfigurationError, match=r"its key file .* is not: bring it back"):
        secret_of(url)
    assert not key.exists()

    kept.rename(key)
    assert secret_of(url) == secret


def test_an_empty_file_and_one_of_something_else_are_no_store_yet(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    (tmp_path / "other.db").write_text("something else" * 100)

    assert secret_of(f"sqlite:///{tmp_path / 'empty.db'}")
    assert secret_of(f"sqlite:///{tmp_path / 'other.db'}")


@pytest.mark.parametrize("content", ["", "zz", "00" * 16])
def test_a_key_file_that_holds_no_key_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "key"
    path.write_text(content)
    path.chmod(0o600)

    with pytest.raises(ConfigurationError):
        read_or_make_secret(path)


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    read_or_make_secret(path)
    path.chmod(0o644)

    with pytest.raises(ConfigurationError, match="chmod 600"):
        read_or_make_secret(path)


def test_a_number_has_one_digest_however_it_is_written() -> None:
    key = Keys.of(b"s" * 32).digest
    whole = call_digest(key, "pay", {"amount": 50, "parts": [1, {"n": -2}]})

    assert call_digest(key, "pay", {"amount": 50.0, "parts": [1.0, {"n": -2.0}]}) == whole
    amounts: list[Json] = [50.5, "50", True, 1, 2.0**60]
    assert len({call_digest(key, "pay", {"amount": amount}) for amount in amounts}) == len(amounts)


def test_the_digest_of_a_call_does_not_depend_on_the_order_of_its_arguments_but_on_all_else() -> None:
    key = Keys.of(b"s" * 32).digest
    digest = call_digest(key, "pay", {"to": "a", "amount": 10})

    assert digest == call_digest(key, "pay", {"amount": 10, "to": "a"})
    others = {
        call_digest(key, "pay", {"to": "a", "amount": 11}),
        call_digest(key, "pay", {"to": "a", "amount": "10"}),
        call_digest(key, "refund", {"to": "a", "amount": 10}),
        call_digest(Keys.of(b"t" * 32).digest, "pay", {"to": "a", "amount": 10}),
    }
    assert digest not in others
    assert len(others) == 4


def test_ids_are_unique_and_sort_by_age() -> None:
    ids = [SystemIds().new("run") for _ in range(1000)]

    assert len(set(ids)) == 1000
    assert [one[:13] for one in ids] == sorted(one[:13] for one in ids)


def test_an_id_is_25_signs_of_its_time_and_of_chance() -> None:
    before = time.time_ns() // 1_000_000
    signs = SystemIds().new("run").removeprefix("run_")
    number = sum("0123456789abcdefghjkmnpqrstvwxyz".index(sign) << 5 * place for place, sign in enumerate(signs[::-1]))

    assert len(signs) == 25
    assert before <= number >> 77 <= time.time_ns() // 1_000_000
    assert number % 2**77
