"""Public test suites, downloaded by the tests that need them and kept in pytest's cache."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def download(request: pytest.FixtureRequest, requirement: str, *, source: bool = False) -> Path:
    """The folder of an unpacked package, downloaded from the package index once.

    Args:
        request: Of the test that asks.
        requirement: A pinned one, as `"jsonschema==4.26.0"`.
        source: Whether its source distribution is wanted.
    """
    cache = request.config.cache
    assert cache is not None, "pytest's cache plugin is on"
    folder = Path(cache.mkdir(requirement.replace("==", "-")))
    if not (folder / "whole").exists():
        name = requirement.partition("==")[0]
        form = ["--no-binary", name] if source else ["--only-binary", name]
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *form, "-d", str(folder), requirement]
        subprocess.run(command, check=True)  # noqa: S603 - pip, with a pinned requirement of ours
        (archive,) = (path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
        shutil.unpack_archive(archive, folder, "zip" if archive.suffix == ".whl" else "gztar")
        (folder / "whole").touch()
    return folder
