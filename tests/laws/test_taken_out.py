"""Each rule of the house is taken out of a copy, and the tests that hold it are seen to fail.

A test that has never failed proves nothing. `taken_out.toml` says of each rule in which text of
the source it stands, what stands there without it, and which tests must fail then.
"""

import pytest

from tests.laws.taken_out import (
    ALL_TESTS,
    BROKEN,
    PATIENCE,
    TakenOut,
    copied,
    read_table,
    take_out,
    try_tests,
    unknown_names,
)

ENTRIES = read_table()
EACH = pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in ENTRIES])


@EACH
def test_a_rule_stands_where_the_table_says(entry: TakenOut) -> None:
    source = entry.source()

    assert source.count(entry.find) == 1, f"{entry.find!r} stands {source.count(entry.find)} times in {entry.file}"
    assert entry.without(source) != source
    assert entry.tests
    if entry.file.endswith(".py"):
        assert unknown_names(entry.without(source)) == unknown_names(source)


def test_every_rule_that_closes_a_known_hole_and_every_answer_to_an_attack_is_taken_out() -> None:
    rules = {entry.rule for entry in ENTRIES}

    assert rules >= {f"DESIGN {number}" for number in range(1, 20)}
    assert rules >= {f"ATTACKS {number}" for number in range(1, 25)}
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.slow
def test_with_every_rule_in_its_place_all_of_their_tests_pass() -> None:
    tests = sorted({test for entry in ENTRIES for test in entry.tests})

    with copied() as copy:
        tried = try_tests(tests, copy, ALL_TESTS)

    assert tried.placet == str(copy), tried.said
    assert tried.code == 0, tried.said
    assert all("passed" in tried.cases(test) for test in tests), tried.said


@pytest.mark.slow
@EACH
def test_without_its_rule_a_test_fails(entry: TakenOut) -> None:
    with copied() as copy:
        take_out(entry, copy)
        tried = try_tests(entry.tests, copy, PATIENCE)

    assert tried.placet == str(copy), tried.said
    assert tried.code == 1, tried.said
    for test in entry.tests:
        ended = tried.cases(test)
        failed = [end for end in ended if end not in ("passed", "skipped")]
        assert failed, f"{test} does not notice that the rule is gone: {ended}"
        assert not BROKEN.intersection(failed), f"{test} has met broken code: {tried.said}"
        assert not entry.doors or len(failed) == len(ended), f"{test} does not notice it in every case: {tried.ended}"
