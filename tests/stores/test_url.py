from pathlib import Path

import pytest

from placet.errors import ConfigurationError
from placet.parts import secret_of
from placet.stores.memory import MemoryStore
from placet.stores.postgres import PostgresStore
from placet.stores.sqlite import SqliteStore
from placet.stores.url import open_store_from_url
from placet.testing.store_samples import an_entry, entries_of

KEY = b"an audit key of thirty-two bytes"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("memory:", MemoryStore),
        ("sqlite:///placet.db", SqliteStore),
        ("postgresql://localhost/placet", PostgresStore),
        ("postgres://localhost/placet", PostgresStore),
    ],
)
def test_a_url_names_its_store(url: str, kind: type) -> None:
    assert isinstance(open_store_from_url(url, key=KEY), kind)


@pytest.mark.parametrize("url", ["", "placet.db", "sqlite://placet.db", "mysql://localhost/placet", "memory:x"])
def test_what_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        open_store_from_url(url, key=KEY)


@pytest.mark.parametrize("url", ["placet.db", "sqlite://placet.db", "mysql://localhost/placet"])
def test_an_agent_says_so_before_it_asks_for_a_secret(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"not the URL of a store: .*sqlite:///"):
        secret_of(url)
    with pytest.raises(ConfigurationError, match="needs secret="):
        secret_of("postgresql://localhost/placet")


async def test_four_slashes_are_an_absolute_path(tmp_path: Path) -> None:
    store = open_store_from_url(f"sqlite:///{tmp_path / 'placet.db'}", key=KEY)
    await store.open()
    await store.append(an_entry())
    assert await entries_of(store) == [an_entry()]
    await store.close()

    assert (tmp_path / "placet.db").exists()
