"""The command `placet`."""

from typing import Annotated

import typer

from placet.cli.approvals import approvals
from placet.cli.ask import add_ask
from placet.cli.audit import audit
from placet.cli.chat import add_chat
from placet.cli.policy import policy
from placet.cli.runs import runs
from placet.cli.skills import skills
from placet.cli.sql import sql
from placet.cli.tools import tools

app = typer.Typer(
    name="placet",
    help="The model proposes a call; your code decides, records, runs and answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback with local variables would show arguments to whoever looks
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - heavy, and asked for alone

        typer.echo(f"placet {version('placet')}")
        raise typer.Exit


@app.callback()
def _placet(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Name the options of the command itself."""


add_ask(app)
add_chat(app)
app.add_typer(approvals, name="approvals")
app.add_typer(runs, name="runs")
app.add_typer(audit, name="audit")
app.add_typer(tools, name="tools")
app.add_typer(policy, name="policy")
app.add_typer(skills, name="skills")
app.add_typer(sql, name="sql")


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    app(prog_name="placet")
