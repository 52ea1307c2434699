"""`placet ask`: one question, and what comes of it."""

from typing import Annotated

import typer

from placet.cli.command import Ended, Identity, command
from placet.cli.door import Door
from placet.cli.inline import confirm_inline
from placet.cli.present import present
from placet.cli.progress import watch


def add_ask(app: typer.Typer) -> None:
    """Add the command to the application."""

    @command(app, "ask", identity=Identity.REQUIRED, asks_model=True)
    def ask(door: Door, question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you ask.")]) -> Ended:
        """Ask the agent one question, on somebody's behalf.

        The answer goes to standard output, what happens meanwhile to standard error. Exit code 6
        says that a person has to decide first.
        """
        door.listen(question)
        outcome = watch(
            door, lambda emit: door.agent.ask(question, principal=door.who, language=door.language, emit=emit)
        )
        return present(door, confirm_inline(door, outcome))
