from collections.abc import Collection, Mapping

import pytest

from placet.values.approval import ApprovalStatus
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import EffectState
from placet.values.provenance import Origin
from placet.values.run import RunStatus, StopReason
from placet.values.tool import Effect
from placet.words.language import LANGUAGES
from placet.words.messages import (
    APPROVAL_STATUSES,
    EFFECT_STATES,
    EFFECTS,
    KINDS,
    LAST_WORDS,
    ORIGINS,
    REFUSALS,
    RUN_STATUSES,
    YES_WORDS,
    is_yes,
)


@pytest.mark.parametrize(
    ("words", "table"),
    [
        pytest.param(StopReason, LAST_WORDS, id="stop reasons"),
        pytest.param(Reason, REFUSALS, id="refusals"),
        pytest.param(RunStatus, RUN_STATUSES, id="runs"),
        pytest.param(ApprovalStatus, APPROVAL_STATUSES, id="approvals"),
        pytest.param(EffectState, EFFECT_STATES, id="effect states"),
        pytest.param(Effect, EFFECTS, id="effects"),
        pytest.param(AuditKind, KINDS, id="records"),
        pytest.param(Origin, ORIGINS, id="origins"),
    ],
)
def test_every_word_that_a_person_may_meet_has_a_message(words: Collection[str], table: Mapping[str, str]) -> None:
    assert set(table) == set(words)


@pytest.mark.parametrize(
    ("answer", "language"),
    [("y", "en"), (" YES ", "en"), ("s", "pt-BR"), ("Sim", "pt-BR"), ("da", "ro"), ("d", "ro"), ("y", "ro")],
)
def test_a_yes_in_the_persons_language_or_in_english_is_one(answer: str, language: str) -> None:
    assert is_yes(answer, language)


@pytest.mark.parametrize(
    "answer", ["", " ", "n", "no", "não", "nu", "yeah", "yes please", "1", "ok", "да", "y\u200b", "s\u0131m"]
)
@pytest.mark.parametrize("language", ["en", "pt-BR", "ro", "xx"])
def test_silence_and_everything_else_is_a_no(answer: str, language: str) -> None:
    assert not is_yes(answer, language)


def test_one_languages_yes_is_not_anothers() -> None:
    assert not is_yes("da", "pt-BR")
    assert not is_yes("s", "en")


def test_every_language_has_its_yes() -> None:
    assert set(YES_WORDS) == set(LANGUAGES)
