"""The WAL of a store: synced for whoever needs it on the disk, and written back into the file."""

import logging
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from placet.stores.sqlite_connection import PATIENCE, connect, patiently

_CHECKPOINT: Final = "PRAGMA wal_checkpoint(PASSIVE)"
"""It leaves the WAL as long as it is, to be written over: a file that does not grow is synced sooner."""
_CHECKPOINTED: Final = "UPDATE mark SET value = value + 1 WHERE name = 'checkpoints'"
_PART: Final = 1 << 20

_sync: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)
"""What SQLite syncs with where there is such a call, and what there is everywhere."""

_log = logging.getLogger("placet")


class WalFile:
    """The WAL of an open connection, as a file that can be synced beside it.

    Nothing of SQLite's is locked in this file, so opening and closing it lets go of no lock.

    Args:
        connection: It has read something, so its WAL is there; and it stays there as long as the
            connection is open.
        lock: Who holds it may use the connection.

    Raises:
        sqlite3.Error: The connection cannot say where its file lies.
        OSError: The WAL cannot be opened.
    """

    def __init__(self, connection: sqlite3.Connection, lock: threading.Lock) -> None:
        self._connection = connection
        self._lock = lock
        self._is_doubtful = False
        connection.text_factory = os.fsdecode  # a path need not be UTF-8
        try:
            _, _, path = connection.execute("PRAGMA database_list").fetchone()
        finally:
            connection.text_factory = str
        self._file = os.open(f"{path}-wal", os.O_RDWR | getattr(os, "O_CLOEXEC", 0))

    def sync(self) -> None:
        """Return when all that was committed is on the disk, as SQLite itself syncs it. Blocks its thread.

        Raises:
            OSError: The disk has refused; whether it is there is not known.
            sqlite3.Error: It has refused before, and others are in the way of writing again what it may lack.
        """
        self.write_again()
        try:
            _sync(self._file)
        except OSError:
            self.doubt()
            raise

    def doubt(self) -> None:
        """Take it that a sync has failed: before anything relies on the next one, the WAL is written again.

        What the system could not write it reports once, and takes for written from then on: a
        later sync succeeds without it (https://wiki.postgresql.org/wiki/Fsync_Errors), and the
        frames after it are worth nothing. SQLite's FULL takes back a commit whose sync has
        failed, and so writes it again; here it stands already, and others may have read it.
        """
        with self._lock:
            self._is_doubtful = True
        # At once, as long as the system has in memory what the disk may lack.
        with suppress(OSError, sqlite3.Error):
            self.write_again()

    def write_again(self) -> None:
        """Write what is in the WAL once more if it is in doubt, so that the next sync speaks of all of it.

        Raises:
            OSError: It could not be written.
            sqlite3.Error: Others are in the way.
        """
        if not self._is_doubtful:
            return
        with self._lock:
            # Nobody else may add to it, or begin it anew, meanwhile.
            patiently(lambda: self._connection.execute("BEGIN IMMEDIATE"))
            try:
                with open(self._file, "r+b", closefd=False) as file:
                    file.seek(0)
                    while part := file.read(_PART):
                        file.seek(-len(part), os.SEEK_CUR)
                        file.write(part)
            finally:
                self._connection.execute("ROLLBACK")
            self._is_doubtful = False

    def close(self) -> None:
        """Close the file, not the connection."""
        os.close(self._file)


class Checkpointer:
    """Writes the WAL back into the file, on a thread of its own, so that no answer waits for it.

    Most of it goes beside the writers; what they have added meanwhile goes alone, in a moment.
    Whoever writes first when all of it is back syncs the WAL's new header, even under
    `synchronous=NORMAL`. That is this thread or the writer's, for the loop's writes only when this
    one is idle; but where another process writes back, too, it may be whoever comes first.

    Args:
        path: The file.
        connection: The writing one.
        lock: Who holds it may use the connection.
        wal: Its WAL.

    Raises:
        sqlite3.Error: The file cannot be opened.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: threading.Lock, wal: WalFile) -> None:
        self._path = path
        self._connection = connection
        self._lock = lock
        self._wal = wal
        self._beside = connect(path, writes=True, patience=PATIENCE)
        self._goes_on: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._asked = 0
        self._done = 0
        self._thread = threading.Thread(target=self._work, name="placet-sqlite-checkpoint", daemon=True)
        self._thread.start()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being written back, so that a commit does not find the WAL about to begin anew."""
        return self._asked == self._done

    def write_back(self) -> None:
        """Have the WAL written back soon. Returns at once. For whoever holds the lock."""
        self._ask(goes_on=True)

    def close(self) -> None:
        """Write the WAL back and end the thread. Blocks its caller's."""
        self._ask(goes_on=False)
        self._thread.join()
        self._beside.close()

    def _ask(self, *, goes_on: bool) -> None:
        self._asked += 1
        self._goes_on.put(goes_on)

    def _work(self) -> None:
        goes_on = True
        while goes_on:
            goes_on = self._goes_on.get()
            try:
                self._wal.write_again()
                if goes_on:
                    self._write_back_beside()
                self._write_back_alone()
            except (sqlite3.Error, OSError) as error:
                # It may have been a sync of the WAL.
                self._wal.doubt()
                path = str(self._path)
                _log.warning("the WAL of %r could not be written back, it is tried again: %s", path, error)
            self._done += 1

    def _write_back_beside(self) -> None:
        # Whatever SQLite was built with: a checkpoint syncs the WAL, and then the file.
        self._beside.execute("PRAGMA synchronous=NORMAL")
        self._beside.execute(_CHECKPOINT).fetchall()

    def _write_back_alone(self) -> None:
        with self._lock:
            self._connection.execute(_CHECKPOINT).fetchall()
            patiently(lambda: self._connection.execute(_CHECKPOINTED))
