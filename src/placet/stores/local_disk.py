"""Local disk: whether a file lies where SQLite's locks hold. Over a network file system they do not."""

import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_NETWORK: Final = frozenset(
    {
        "afs", "beegfs", "ceph", "cifs", "coda", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs",
        "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb2", "smb3", "smbfs",
    }
)  # fmt: skip
"""File systems that several machines write, or whose locks are another machine's."""
_ESCAPE: Final = re.compile(r"\\(\d{3})")


def network_file_system(path: Path) -> str | None:
    """Return the kind of network file system on which a path lies; None on a local disk, or where nobody can tell."""
    try:
        mounts = _MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:  # not Linux
        return None
    kind = kind_of(path.resolve(), mounts)
    return kind if kind in _NETWORK else None


def kind_of(path: Path, mounts: str) -> str:
    """Return the kind of file system on which an absolute path lies, or empty.

    Args:
        path: Absolute, without links.
        mounts: As in `/proc/self/mountinfo` (proc(5)): fields parted by blanks, the mount point the
            fifth, the kind the first after a lone hyphen. What is mounted later covers what was before.
    """
    found, kind = Path(), ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = Path(_ESCAPE.sub(lambda octal: chr(int(octal[1], 8)), fields[4]))
        if path.is_relative_to(point) and (not kind or point.is_relative_to(found)):
            found, kind = point, after.split()[0]
    return kind
