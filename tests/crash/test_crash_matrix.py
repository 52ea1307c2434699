"""Kill -9 at every point between a proposal and its outcome: nothing twice, nothing unrecorded, nothing lost."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash import inside
from tests.crash.office import WAYS, Place
from tests.crash.points import VERBS
from tests.crash.story import STORIES, Story, die, freeze, trace, verify

MakePlace = Callable[[str, str], Place]

SQLITE, POSTGRES = "sqlite", "postgres"
TAKING_A_YES, GOING_ON, CALLING_DIRECTLY = (STORIES[number] for number in (1, 5, 6))
HEART = ("claim #", "settle", "inside pay")
NOT_ON_THE_WAY = {
    "purge_runs": "an operator's, of runs that have ended long ago",
    "renew_lease": "a timer's, twenty seconds after a segment began",
    "list_effects": "for a person who looks",
    "read": "for a person who looks",
    "heads": "for a person who looks",
    "verify": "for a person who looks",
    "is_demo": "the command's alone",
    "mark_demo": "the command's alone",
}


@pytest.fixture
def make_place(request: pytest.FixtureRequest, tmp_path: Path) -> MakePlace:
    def make(store: str, way: str) -> Place:
        where = str(tmp_path / f"{way}.db") if store == SQLITE else request.getfixturevalue("postgres")
        made = Place(store=where, outside=str(tmp_path / f"{way}.outside"), way=way)
        asyncio.run(inside.make(made))
        return made

    return make


@pytest.fixture
def place(make_place: MakePlace, store: str, way: str) -> Place:
    return make_place(store, way)


@pytest.mark.slow
@pytest.mark.parametrize("store", [SQLITE, POSTGRES])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("story", STORIES, ids=str)
def test_whoever_is_killed_wherever_nothing_is_done_twice_unrecorded_or_lost(place: Place, story: Story) -> None:
    points = trace(story, place, 0)

    faults = {point: die(story, place, case, point) for case, point in enumerate(points, 1)}

    assert len(points) > 10
    assert {point: found for point, found in faults.items() if found} == {}
    assert asyncio.run(verify(place)) is None


@pytest.mark.slow
@pytest.mark.parametrize("store", [SQLITE, POSTGRES])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("story", [TAKING_A_YES, GOING_ON, CALLING_DIRECTLY], ids=str)
def test_who_wakes_when_others_have_gone_on_begins_nothing_again(place: Place, story: Story) -> None:
    points = trace(story, place, 0)

    faults = {point: freeze(story, place, case, point) for case, point in enumerate(points, 1)}

    assert len(points) > 10
    assert {point: found for point, found in faults.items() if found} == {}
    assert asyncio.run(verify(place)) is None


@pytest.mark.parametrize(("store", "way"), [(SQLITE, "once")])
def test_who_is_killed_between_intent_and_outcome_leaves_what_others_can_go_on_with(place: Place) -> None:
    """The heart of the matrix, quick enough for every day."""
    points = [point for point in trace(TAKING_A_YES, place, 0) if any(word in point for word in HEART)]

    faults = {point: die(TAKING_A_YES, place, case, point) for case, point in enumerate(points, 1)}

    assert len(points) == 6
    assert {point: found for point, found in faults.items() if found} == {}
    assert asyncio.run(verify(place)) is None


def test_every_verb_of_the_store_is_on_the_way_of_some_story(make_place: MakePlace) -> None:
    """So that a verb that is added later is not forgotten here."""
    once, transaction = make_place(SQLITE, "once"), make_place(SQLITE, "transaction")
    passed = {point for case, story in enumerate(STORIES) for point in trace(story, once, case)}
    passed |= set(trace(TAKING_A_YES, transaction, 0))

    verbs = {verb for verb in VERBS if f"before {verb} #1" in passed}
    assert verbs == VERBS - set(NOT_ON_THE_WAY)
