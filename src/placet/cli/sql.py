"""`placet sql`: the SQL that makes a sandbox's plan true, and whether a live database is as the plan says.

These commands need no application and no store: they look at a plan, and at a database.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from placet.cli.command import Ended, environment_locale, failure_of
from placet.cli.exits import Exit, Failure
from placet.cli.layout import GAP
from placet.cli.screen import Screen, open_screen
from placet.config import read_settings
from placet.errors import ConfigurationError, PlacetError
from placet.values.json import Json
from placet.words.catalog import say
from placet.words.escape import escape_for_person
from placet.words.language import normalise_language

if TYPE_CHECKING:
    from placet.database.finding import Finding
    from placet.database.plan import SandboxPlan

sql = typer.Typer(help="A database for a model's own queries: set it up, and check it.", no_args_is_help=True)

Plan = Annotated[Path, typer.Argument(metavar="PLAN", help="The sandbox's plan, a YAML file.")]
Language = Annotated[str | None, typer.Option("--lang", metavar="TAG", help="The person's language: en, pt-BR or ro.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@sql.command("setup")
def setup(
    plan: Plan,
    again: Annotated[
        bool, typer.Option("--again", help="The plan has changed: the roles stay, the views are made anew.")
    ] = False,
    lang: Language = None,
    as_json: AsJson = False,
) -> None:
    """Print the SQL that makes the login and the views of a plan. Nothing is run.

    A superuser runs it once, in the plan's database: `placet sql setup plan.yaml | psql -v ON_ERROR_STOP=1 shop`.
    """
    from placet.database.plan import load_plan  # noqa: PLC0415 - it needs YAML, and the other commands do not

    _carry_out(lang, as_json, lambda screen, language: _set_up(screen, language, load_plan(plan), again=again))


@sql.command("check")
def check(
    plan: Plan,
    database: Annotated[
        str,
        typer.Argument(
            metavar="DATABASE",
            envvar="PLACET_SQL",
            help="postgresql://LOGIN@HOST/NAME, the login of the sandbox; or a SQLite file.",
        ),
    ],
    audit_as: Annotated[
        str | None,
        typer.Option(
            "--audit-as",
            metavar="URL",
            envvar="PLACET_SQL_AUDIT",
            help="A login that may read the catalog, where the sandbox's own may not.",
        ),
    ] = None,
    lang: Language = None,
    as_json: AsJson = False,
) -> None:
    """Look whether a live database is as the plan says, and whether its login may do too much.

    Ends with 1 when the sandbox would not start. Nothing is changed.
    """
    from placet.database.check import check as check_plan  # noqa: PLC0415 - as above
    from placet.database.plan import load_plan  # noqa: PLC0415 - as above

    def look(screen: Screen, language: str) -> Ended:
        stated = load_plan(plan)
        findings = asyncio.run(check_plan(database, stated, audit_url=audit_as))
        return _report(screen, language, stated, database, findings)

    _carry_out(lang, as_json, look)


def _carry_out(lang: str | None, as_json: bool, work: Callable[[Screen, str], Ended]) -> None:
    """Do a command's work, say what went wrong, and end with its code."""
    screen = open_screen(as_json=as_json, quiet=False)
    language = normalise_language(lang) or normalise_language(environment_locale()) or "en"
    try:
        language = read_settings(os.environ, Path.cwd(), {"language": lang}).language or language
        ended = work(screen, language)
    except PlacetError as error:
        ended = failure_of(error, language)
    if isinstance(ended, Failure):
        screen.fail(ended)
        raise typer.Exit(ended.exit)
    raise typer.Exit(ended)


def _set_up(screen: Screen, language: str, plan: "SandboxPlan", *, again: bool) -> Ended:
    if not _is_for_postgres(plan):
        hint = say("SQLite has no logins, so there is nothing to set up. The file is only ever read.", language)
        if screen.as_json:
            screen.data({"sql": ""})
        else:
            screen.note(_dim(hint))
        return Exit.OK
    try:
        from placet.database.setup import setup_sql  # noqa: PLC0415 - needs the extra `postgres`
    except ImportError as error:
        from placet.database.sandbox import NEEDS_EXTRA  # noqa: PLC0415 - as above

        raise ConfigurationError(NEEDS_EXTRA) from error
    text = setup_sql(plan, again=again)
    if screen.as_json:
        screen.data({"sql": text})
        return Exit.OK
    screen.out.file.write(text)  # for psql, so exactly as it is
    screen.out.file.flush()
    if again:
        hint = say("Run it as a superuser in {database}, then look: placet sql check", language, database=plan.database)
    else:
        hint = say(
            "Run it once as a superuser in {database}, give {role} a password, then look: placet sql check",
            language,
            database=plan.database,
            role=plan.role,
        )
    screen.note(_dim(hint))
    return Exit.OK


def _is_for_postgres(plan: "SandboxPlan") -> bool:
    stated = {"database", "role", "owner", "api_schema"} & plan.model_fields_set
    return bool(stated) or any(relation.source or relation.where for relation in plan.relations.values())


def _report(screen: Screen, language: str, plan: "SandboxPlan", database: str, findings: "list[Finding]") -> Ended:
    from placet.database.sandbox import is_postgres  # noqa: PLC0415 - as above

    is_severe = any(finding.is_severe for finding in findings)
    if screen.as_json:
        shown: list[Json] = [
            {"code": found.code, "message": found.message, "severe": found.is_severe, "mend": found.mend}
            for found in findings
        ]
        screen.data({"ok": not is_severe, "findings": shown})
        return Exit.ERROR if is_severe else Exit.OK
    for found in findings:
        mark, style = ("✗", "red") if found.is_severe else ("!", "yellow")
        message, mend = (escape_for_person(text, lines=True).text for text in (found.message, found.mend))
        screen.prose(Text(f"{GAP}{mark} {found.code}: {message}", style=style), 2 * len(GAP))
        screen.prose(_dim(mend, 2), 2 * len(GAP))
    names = ", ".join(plan.relations)
    if is_severe:
        text = say("The sandbox does not start like this.", language)
    elif is_postgres(database):
        text = say("The login may read what the plan opens, and nothing else: {relations}", language, relations=names)
    else:
        text = say("The file holds what the plan opens: {relations}", language, relations=names)
    screen.line(Text(f"{GAP}{text}", style="bold"))
    return Exit.ERROR if is_severe else Exit.OK


def _dim(text: str, depth: int = 1) -> Text:
    return Text(f"{GAP * depth}{text}", style="dim")
