"""`placet skills`: make a skill that passes, check skills, accept what they tell the model."""

from pathlib import Path
from typing import Annotated

import typer

from placet.cli.exits import Exit
from placet.errors import SkillError

skills = typer.Typer(help="Tools in folders of their own, which prove themselves.", no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Argument(metavar="FOLDER", help="Where index.toml lies; by default here, or in the folder skills."),
]


def default_folder(here: Path) -> Path:
    """Return where skills lie when nobody says it: in this folder, if it has an index, else in `skills`."""
    from placet.skills.index import INDEX  # noqa: PLC0415 - it needs YAML, and the other commands do not

    return here if (here / INDEX).is_file() else here / "skills"


@skills.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    folder: Annotated[
        Path | None, typer.Option("--in", metavar="FOLDER", help="Where skills lie; by default as for check.")
    ] = None,
) -> None:
    """Make a skill that passes its own check."""
    from placet.skills.scaffold import new_skill  # noqa: PLC0415 - as above

    try:
        typer.echo(new_skill(folder or default_folder(Path()), name))
    except SkillError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(Exit.ERROR) from error


@skills.command("check")
def check(
    folder: Folder = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Pin what the skills tell the model now, when all else is right.")
    ] = False,
    tests: Annotated[bool, typer.Option("--tests/--no-tests", help="Run the skills' own tests.")] = True,
) -> None:
    """Check names, schemas, docs and declared effects, run the skills' tests, and compare with the lock."""
    from placet.skills.check import check_skills  # noqa: PLC0415 - as above

    findings = check_skills(folder or default_folder(Path()), run_tests=tests, accept=accept)
    for finding in findings:
        kind = "fault" if finding.is_fault else "warning"
        typer.echo(f"{kind}: {finding.skill + ': ' if finding.skill else ''}{finding.message}", err=True)
    if any(finding.is_fault for finding in findings):
        raise typer.Exit(Exit.ERROR)
    typer.echo("skills are as they should be")
