"""The audit of a role: what a login may do that a model's login should not.

The role is the boundary, so it is looked at before the first query, on the server itself: what
it is, what it owns, and every right that it has, by whichever way it got it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from psycopg import AsyncConnection, Error
from psycopg.sql import Identifier

from placet.database.finding import Finding
from placet.database.relation import Relation
from placet.database.views import Name, View, is_leaky, read_view
from placet.errors import ConfigurationError

_Connection: TypeAlias = "AsyncConnection[tuple[Any, ...]]"

_NAME: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_SHOWN: Final = 5
PARSER_MAJOR: Final = 18
"""Whose grammar the parser knows; what a newer server adds is refused."""
_PARAMETERS: Final = 150_000
"""The version from which on parameters are granted."""
_MAINTAIN: Final = 170_000
"""The version from which on maintaining is granted."""
_ENGLISH: Final = re.compile(r"(c|posix|en|english)?([_.].*)?", re.IGNORECASE)

_POWERS: Final = {
    "rolsuper": ("is superuser", "give the sandbox a login of its own: `placet sql setup` prints how it is made"),
    "rolbypassrls": ("goes past row-level security", "ALTER ROLE {role} NOBYPASSRLS;"),
    "rolcreaterole": ("may create roles", "ALTER ROLE {role} NOCREATEROLE;"),
    "rolcreatedb": ("may create databases", "ALTER ROLE {role} NOCREATEDB;"),
    "rolreplication": ("may replicate", "ALTER ROLE {role} NOREPLICATION;"),
}


def speaks_english(lc_messages: str) -> bool:
    """Return whether a server with this setting says what `placet.database.tellable` knows."""
    return _ENGLISH.fullmatch(lc_messages) is not None


async def load_dotted(connection: _Connection, role: str, search_path: Sequence[str]) -> frozenset[str]:
    """Return the names that a dot calls: of functions that take one value, and of types.

    Domains count too: a row is taken for a domain over its type.

    Args:
        connection: One that may read the catalog.
        role: Who calls.
        search_path: The schemas in which a bare name is looked up.

    Raises:
        ConfigurationError: The catalog cannot be read.
    """
    values = {"role": role, "search_path": list(search_path)}
    return frozenset(name for (name,) in await _rows(connection, "dotted", values))


async def load_shadowed(
    connection: _Connection, role: str, relations: Iterable[Relation], search_path: Sequence[str]
) -> frozenset[str]:
    """Return the names of open relations that stand for another one when they are written bare.

    Args:
        connection: One that may read the catalog.
        role: Who reads.
        relations: What is open.
        search_path: The schemas in which a bare name is looked up, in this order.

    Raises:
        ConfigurationError: The catalog cannot be read.
    """
    opened = {(relation.schema, relation.name) for relation in relations}
    values = {"role": role, "search_path": list(search_path), "names": [name for _, name in opened]}
    return frozenset(
        str(name) for schema, name in await _rows(connection, "first_found", values) if (schema, name) not in opened
    )


async def load_views(connection: _Connection) -> dict[Name, View]:
    """Return the views of the database, by schema and name.

    Raises:
        ConfigurationError: The catalog cannot be read.
    """
    return {
        (str(schema), str(name)): read_view(str(definition), has_barrier=bool(has_barrier))
        for schema, name, definition, has_barrier in await _rows(connection, "views", {})
    }


async def audit_role(
    connection: _Connection, role: str, relations: Sequence[Relation], functions: Iterable[str] = ()
) -> list[Finding]:
    """Return what the role can do that it should not, the severe first.

    Args:
        connection: One that may read the catalog; the role's own will do.
        role: The login that the sandbox uses.
        relations: What is open.
        functions: Functions of your own that are granted, as `schema.name`.

    Raises:
        ConfigurationError: The catalog cannot be read, or there is no such role.
    """
    powers = await _audit_powers(connection, role)
    if strongest := [finding for finding in powers if finding.code == "rolsuper"]:
        return strongest  # it may do everything; a list of it would help nobody
    findings = [
        *powers,
        *await _audit_rights(connection, role),
        *await _audit_defaults(connection, role, relations),
        *await _audit_reading(connection, role, relations),
        *await _audit_calling(connection, role, frozenset(functions)),
        *await _audit_views(connection, relations),
        *await _audit_settings(connection, role),
    ]
    return sorted(findings, key=lambda finding: not finding.is_severe)


async def _audit_powers(connection: _Connection, role: str) -> list[Finding]:
    found = await _rows(connection, "powers", {"role": role})
    if not found:
        raise ConfigurationError(f"there is no role {role!r} on this server; `placet sql setup` says how to make it")
    quoted = Identifier(role).as_string(None)
    findings = [
        Finding(name, f"the role {role!r} {what}", True, mend.format(role=quoted))
        for (name, (what, mend)), has in zip(_POWERS.items(), found[0], strict=True)
        if has
    ]  # fmt: skip
    groups = [name for (name,) in await _rows(connection, "memberships", {"role": role})]
    if groups:
        mend = f"REVOKE {', '.join(Identifier(name).as_string(None) for name in groups)} FROM {quoted};"
        findings.append(Finding("member", f"the role {role!r} is a member of {_list(groups)}", True, mend))
    return findings


async def _audit_rights(connection: _Connection, role: str) -> list[Finding]:
    who = f"{Identifier(role).as_string(None)}, PUBLIC"
    role_alone = Identifier(role).as_string(None)
    questions = [
        ("owner", "owned", "owns", f"REASSIGN OWNED BY {role_alone} TO another role;"),
        (
            "writes",
            "writable",
            "may write",
            "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON {found} FROM {who};",
        ),
        ("sequences", "sequences", "may draw from", "REVOKE ALL ON SEQUENCE {found} FROM {who};"),
        ("large_objects", "large_objects", "may use large objects:", "REVOKE ALL ON LARGE OBJECT {found} FROM {who};"),
    ]
    if connection.info.server_version >= _PARAMETERS:
        mend = "REVOKE SET, ALTER SYSTEM ON PARAMETER {found} FROM {who};"
        questions.append(("parameters", "parameters", "may set what only a superuser may:", mend))
    if connection.info.server_version >= _MAINTAIN:
        questions.append(("maintains", "maintained", "may maintain", "REVOKE MAINTAIN ON {found} FROM {who};"))
    created = [str(right) for (right,) in await _rows(connection, "creatable", {"role": role})]
    findings: list[Finding] = []
    if created:
        mend = " ".join(f"REVOKE {right} FROM {who};" for right in created)
        findings.append(Finding("creates", f"the role {role!r} has the right to {_list(created)}", True, mend))
    for code, question, verb, mend in questions:
        found = [str(name) for (name,) in await _rows(connection, question, {"role": role})]
        if found:
            message = f"the role {role!r} {verb} {_list(found)}"
            findings.append(Finding(code, message, True, mend.format(found=", ".join(found), who=who)))
    return findings


async def _audit_defaults(connection: _Connection, role: str, relations: Sequence[Relation]) -> list[Finding]:
    schemas = {relation.schema for relation in relations}
    found = [
        (str(mend), not (is_read and schema in schemas))
        for schema, is_read, mend in await _rows(connection, "defaults", {"role": role})
    ]
    message = f"the role {role!r} will have rights to what is not made yet, by default privileges"
    return [
        Finding("defaults", message, is_severe, " ".join(mends))
        for is_severe in (True, False)
        if (mends := [mend for mend, severe in found if severe is is_severe])
    ]


async def _audit_reading(connection: _Connection, role: str, relations: Sequence[Relation]) -> list[Finding]:
    opened = {(relation.schema, relation.name) for relation in relations}
    schemas = {relation.schema for relation in relations}
    readable = await _rows(connection, "readable", {"role": role})
    outside = [str(shown) for schema, _, shown in readable if schema not in schemas]
    beside = [str(shown) for schema, name, shown in readable if schema in schemas and (schema, name) not in opened]
    mend = "REVOKE SELECT ON TABLE {found} FROM {who}, PUBLIC;"
    who = Identifier(role).as_string(None)
    findings: list[Finding] = []
    if outside:
        message = f"the role {role!r} may read {_list(outside)}, where nothing is open"
        findings.append(Finding("reads", message, True, mend.format(found=", ".join(outside), who=who)))
    if beside:
        message = f"the role {role!r} may read {_list(beside)}, which is not open: only the guard keeps it shut"
        findings.append(Finding("reads_more", message, False, mend.format(found=", ".join(beside), who=who)))
    return findings


async def _audit_calling(connection: _Connection, role: str, granted: frozenset[str]) -> list[Finding]:
    found = await _rows(connection, "executable", {"role": role})
    callable_ = [
        f"{schema}.{name}" + (f" (extension {extension})" if extension else " (SECURITY DEFINER)" if definer else "")
        for schema, name, extension, definer, _ in found
        if f"{schema}.{name}" not in granted
    ]
    if not callable_:
        return []
    message = f"the role {role!r} may call {_list([*dict.fromkeys(callable_)])}, which is not granted to it here"
    signatures = ", ".join(
        str(signature) for schema, name, _, _, signature in found if f"{schema}.{name}" not in granted
    )
    mend = f"REVOKE EXECUTE ON ROUTINE {signatures} FROM {Identifier(role).as_string(None)}, PUBLIC;"
    return [Finding("calls", message, True, mend)]


async def _audit_views(connection: _Connection, relations: Sequence[Relation]) -> list[Finding]:
    opened = {(relation.schema, relation.name) for relation in relations}
    views = await load_views(connection)
    leaky = [
        f"{schema}.{name}" for schema, name in views if (schema, name) in opened and is_leaky((schema, name), views)
    ]
    findings = [
        Finding("leaky_view", f"the view {name} filters rows, and errors would show those that it hides", True,
                f"ALTER VIEW {name} SET (security_barrier);")
        for name in leaky
    ]  # fmt: skip
    policies = [str(name) for (name,) in await _rows(connection, "policies", {})]
    if policies:
        message = (
            f"row-level security of {_list(policies)} rests on a setting, and only the guard keeps it from being set"
        )
        findings.append(
            Finding("policy_on_setting", message, False, "give each tenant a login role, or views of its own")
        )
    return findings


async def _audit_settings(connection: _Connection, role: str) -> list[Finding]:
    temp_file_limit, language, version = (await _rows(connection, "settings", {"role": role}))[0]
    findings: list[Finding] = []
    if str(temp_file_limit) in ("-1", ""):
        mend = f"ALTER ROLE {Identifier(role).as_string(None)} SET temp_file_limit = '64MB';  -- as a superuser"
        message = f"the role {role!r} has no temp_file_limit: one recursion may fill the disk until its time is up"
        findings.append(Finding("temp_file_limit", message, False, mend))
    if not speaks_english(str(language)):
        mend = f"ALTER ROLE {Identifier(role).as_string(None)} SET lc_messages = 'C';  -- as a superuser"
        message = f"the server speaks {language}: what it says of a value is not told to the model, which learns less"
        findings.append(Finding("lc_messages", message, False, mend))
    if int(version) > PARSER_MAJOR:
        message = f"the server is PostgreSQL {version}, the parser knows {PARSER_MAJOR}: what is new since is refused"
        findings.append(Finding("newer_server", message, False, "upgrade postgast"))
    return findings


async def _rows(connection: _Connection, question: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    try:
        cursor = await connection.execute(_questions()[question], values)
        return await cursor.fetchall()
    except Error as error:
        raise ConfigurationError(
            f"the role cannot be audited: {str(error).strip()}; give a connection that may read the catalog"
        ) from error


@cache
def _questions() -> dict[str, bytes]:
    """Return the questions to the catalog, by the names that they have in `sql/audit.sql`."""
    text = files("placet.database").joinpath("sql", "audit.sql").read_text(encoding="utf-8")
    _, *parts = _NAME.split(text)
    return {name: sql.encode() for name, sql in zip(parts[::2], parts[1::2], strict=True)}


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
