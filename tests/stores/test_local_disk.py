"""A SQLite file lies on a local disk, or is not opened."""

from pathlib import Path

import pytest

from placet.errors import StoreError
from placet.stores import local_disk
from placet.stores.sqlite import SqliteStore

MOUNTS = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /proc rw,nosuid shared:2 - proc proc rw
41 22 0:50 / /srv rw shared:3 - nfs4 files:/srv rw,vers=4.2
42 41 254:1 / /srv/local rw shared:4 - xfs /dev/vdb rw
43 22 0:51 / /mnt/two\040words rw - cifs //files/share rw
44 22 0:52 / /covered rw - nfs files:/x rw
45 44 254:2 / /covered rw - ext4 /dev/vdc rw
a line that is none
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ana/placet.db", "ext4"),
        ("/srv/placet.db", "nfs4"),
        ("/srvlocal/placet.db", "ext4"),
        ("/srv/local/placet.db", "xfs"),
        ("/mnt/two words/placet.db", "cifs"),
        ("/covered/placet.db", "ext4"),
    ],
)
def test_the_nearest_mount_says_what_a_path_lies_on(path: str, kind: str) -> None:
    assert local_disk.kind_of(Path(path), MOUNTS.replace("\\\\", "\\")) == kind


async def test_a_store_on_a_network_file_system_is_not_opened_and_no_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"{MOUNTS}50 22 0:60 / {tmp_path} rw - nfs4 files:/home rw\n", "utf-8")
    monkeypatch.setattr(local_disk, "_MOUNTS", mounts)
    store = SqliteStore(tmp_path / "placet.db", key=b"k" * 32)

    with pytest.raises(StoreError, match=r"network file system \(nfs4\)"):
        await store.open()

    assert not (tmp_path / "placet.db").exists()


def test_where_nobody_can_tell_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_disk, "_MOUNTS", tmp_path / "none")

    assert local_disk.network_file_system(tmp_path / "placet.db") is None
