"""`placet skills`: make a skill that passes, check skills, accept what they tell the model."""

from pathlib import Path
from typing import Annotated

import typer

from placet.cli.exits import Exit
from placet.errors import SkillError
from placet.skills.check import check_skills
from placet.skills.index import load_index, write_lock
from placet.skills.scaffold import new_skill

skills = typer.Typer(help="Tools in folders of their own, which prove themselves.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Where index.toml lies.")]


@skills.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    folder: Annotated[Path, typer.Option("--in", metavar="FOLDER", help="Where skills lie.")] = Path("skills"),
) -> None:
    """Make a skill that passes its own check."""
    try:
        typer.echo(new_skill(folder, name))
    except SkillError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(Exit.ERROR) from error


@skills.command("check")
def check(
    folder: Folder = Path("skills"),
    accept: Annotated[
        bool, typer.Option("--accept", help="Pin what the skills tell the model now, when all else is right.")
    ] = False,
    tests: Annotated[bool, typer.Option("--tests/--no-tests", help="Run the skills' own tests.")] = True,
) -> None:
    """Check names, schemas, docs and declared effects, run the skills' tests, and compare with the lock."""
    if accept:
        try:
            write_lock(folder, load_index(folder))
        except SkillError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(Exit.ERROR) from error
    findings = check_skills(folder, run_tests=tests)
    for finding in findings:
        kind = "fault" if finding.is_fault else "warning"
        typer.echo(f"{kind}: {finding.skill + ': ' if finding.skill else ''}{finding.message}", err=True)
    if any(finding.is_fault for finding in findings):
        raise typer.Exit(Exit.ERROR)
    typer.echo("skills are as they should be")
