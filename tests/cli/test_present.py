from datetime import UTC, datetime, timedelta

import pytest

from placet.cli.present import time_left

NOW = datetime(2026, 11, 14, 12, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(minutes=15), "15 min"),
        (timedelta(minutes=14, seconds=1), "15 min"),
        (timedelta(minutes=119), "119 min"),
        (timedelta(hours=2), "2 h"),
        (timedelta(hours=23, minutes=1), "24 h"),
        (timedelta(hours=47), "47 h"),
        (timedelta(days=2), "2 d"),
        (timedelta(days=7, seconds=-1), "7 d"),
    ],
)
def test_how_long_something_still_waits_is_said_in_the_unit_that_a_person_would_take(
    left: timedelta, words: str
) -> None:
    assert time_left(NOW + left, NOW) == words
