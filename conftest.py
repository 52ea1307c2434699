"""What all tests have in common: the marker `local`."""

import os
import signal

import pytest

from placet.models.local import LocalModel


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the embedded model where there is none, and say why; with PLACET_REQUIRE_LOCAL=1 fail."""
    if item.get_closest_marker("local") is None or (why := LocalModel.available()) is None:
        return
    if os.environ.get("PLACET_REQUIRE_LOCAL") == "1":
        pytest.fail(f"PLACET_REQUIRE_LOCAL is set, and {why}", pytrace=False)
    pytest.skip(why)


def pytest_configure() -> None:
    """Hear Ctrl-C as at a terminal, also where the tests are run in the background of a script, which ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
