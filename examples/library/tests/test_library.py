"""The library's day: asked, borrowed with the reader's own yes, brought back with the librarian's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from library.app import HOME_VARIABLE, make_agent
from library.people import PEOPLE
from library.shelf import Shelf
from placet import Agent, Answer, Outcome, PendingApproval, Reason, Refused, Waiting
from placet.config import AppOptions

ANA, IOANA, CLARA = PEOPLE["r1"], PEOPLE["r2"], PEOPLE["l1"]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    return make_agent(AppOptions(store="memory:"))


def pending(outcome: Outcome) -> PendingApproval:
    assert isinstance(outcome, Waiting), outcome
    (found,) = outcome.approvals
    return found


def text(outcome: Outcome) -> str:
    assert isinstance(outcome, Answer), outcome
    return outcome.text


async def borrow(agent: Agent) -> str:
    asked = pending(await agent.ask("Quero o Dom Casmurro emprestado", principal=ANA))
    return text(await agent.confirm(asked.token, by=ANA))


async def test_whether_a_book_is_there_is_answered_in_the_reader_s_language(agent: Agent) -> None:
    question = "A Dom Casmurro está disponível?"

    assert text(await agent.ask(question, principal=ANA)) == (
        "Dom Casmurro, de Machado de Assis: 2 de 2 exemplares disponíveis."
    )
    assert text(await agent.ask("Este Middlemarch disponibilă?", principal=IOANA)) == (
        "Middlemarch, de George Eliot: 3 din 3 exemplare disponibile."
    )


async def test_a_loan_waits_for_the_reader_s_own_yes(agent: Agent, tmp_path: Path) -> None:
    asked = pending(await agent.ask("Quero o Dom Casmurro emprestado", principal=ANA))
    assert asked.preview is not None
    assert asked.preview.text == "Dom Casmurro: 2 → 1"
    assert isinstance(await agent.confirm(asked.token, by=IOANA), Refused)

    assert text(await agent.confirm(asked.token, by=ANA)) == "Dom Casmurro é seu por duas semanas."

    book = Shelf(tmp_path / "library.db").find("dom casmurro")
    assert book is not None
    assert (book.available, sorted(book.readers)) == (1, ["r1"])


async def test_a_return_waits_for_the_librarian(agent: Agent, tmp_path: Path) -> None:
    await borrow(agent)
    asked = pending(await agent.ask("Quero devolver o Dom Casmurro", principal=ANA))
    refused = await agent.approve(asked.token, by=ANA)
    assert isinstance(refused, Refused)
    assert refused.reason is Reason.NOT_PERMITTED

    assert text(await agent.approve(asked.token, by=CLARA)) == "Dom Casmurro foi devolvido. Obrigado."

    book = Shelf(tmp_path / "library.db").find("Dom Casmurro")
    assert book is not None
    assert book.available == 2


async def test_nobody_returns_what_somebody_else_has_borrowed(agent: Agent) -> None:
    await borrow(agent)

    assert isinstance(await agent.ask("Quero devolver o Dom Casmurro", principal=IOANA), Answer)
    assert await agent.approvals() == []


async def test_a_yes_for_a_copy_that_has_gone_meanwhile_is_asked_anew(agent: Agent, tmp_path: Path) -> None:
    asked = pending(await agent.ask("Quero o Dom Casmurro emprestado", principal=ANA))
    shelf = Shelf(tmp_path / "library.db")
    book = shelf.find("Dom Casmurro")
    assert book is not None
    assert shelf.lend(book, "r2", "another call")

    again = pending(await agent.confirm(asked.token, by=ANA))

    assert again.id != asked.id
    assert again.preview is not None
    assert again.preview.text == "Dom Casmurro: 1 → 0"


def test_one_key_lends_once_and_the_last_copy_is_lent_once(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "library.db")
    star = shelf.find("A hora da estrela")
    assert star is not None

    assert [shelf.lend(star, "r1", "k1"), shelf.lend(star, "r1", "k1"), shelf.lend(star, "r2", "k2")] == [
        True, True, False
    ]  # fmt: skip


def test_the_command_of_the_readme_answers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "placet", "ask", "A Dom Casmurro está disponível?", "--as", "r1"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    done = subprocess.run(  # noqa: S603 - our own command
        command,
        cwd=Path(__file__).parents[1],
        env={**kept, HOME_VARIABLE: str(tmp_path), "LANG": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )

    assert done.stdout.strip() == "Dom Casmurro, de Machado de Assis: 2 de 2 exemplares disponíveis."
    assert done.returncode == 0
