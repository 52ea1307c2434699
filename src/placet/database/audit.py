"""The audit of a role: what a login may do that a model's login should not.

The role is the boundary, so it is looked at before the first query, on the server itself: what
it is, what it owns, and every right that it has, by whichever way it got it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString, TypeAlias

from postgast import PgQueryError, parse
from psycopg import AsyncConnection, Error
from psycopg.sql import SQL, Composed, Identifier

from placet.database.relation import Relation
from placet.errors import ConfigurationError

_Connection: TypeAlias = "AsyncConnection[tuple[Any, ...]]"

_SHOWN: Final = 5
PARSER_MAJOR: Final = 18
"""Whose grammar the parser knows; what a newer server adds is refused."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that the role can do, or that it lacks.

    Attributes:
        code: The stable word.
        message: What it is, with names.
        is_severe: Whether the sandbox must not start with it.
        mend: SQL that would end it, or a word to the operator.
    """

    code: str
    message: str
    is_severe: bool
    mend: str


_POWERS: Final = {
    "rolsuper": ("superuser", "NOSUPERUSER"),
    "rolbypassrls": ("past row-level security", "NOBYPASSRLS"),
    "rolcreaterole": ("may create roles", "NOCREATEROLE"),
    "rolcreatedb": ("may create databases", "NOCREATEDB"),
    "rolreplication": ("may replicate", "NOREPLICATION"),
}

_MEMBERSHIPS: Final = """
SELECT granted.rolname FROM pg_auth_members m JOIN pg_roles granted ON granted.oid = m.roleid
JOIN pg_roles member ON member.oid = m.member WHERE member.rolname = %(role)s ORDER BY 1
"""
_OWNED: Final = """
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE pg_get_userbyid(c.relowner) = %(role)s AND n.nspname !~ '^pg_(toast|temp)'
UNION ALL SELECT format('function %%I.%%I', n.nspname, p.proname) FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace WHERE pg_get_userbyid(p.proowner) = %(role)s
UNION ALL SELECT format('schema %%I', nspname) FROM pg_namespace WHERE pg_get_userbyid(nspowner) = %(role)s
UNION ALL SELECT format('database %%I', datname) FROM pg_database WHERE pg_get_userbyid(datdba) = %(role)s
ORDER BY 1
"""
_WRITABLE: Final = """
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname !~ '^pg_(toast|temp)' AND (has_table_privilege(%(role)s, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
OR has_any_column_privilege(%(role)s, c.oid, 'INSERT, UPDATE')) ORDER BY 1
"""
_SEQUENCES: Final = """
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(%(role)s, c.oid, 'USAGE, UPDATE') ELSE false END ORDER BY 1
"""
_CREATABLE: Final = """
SELECT format('schema %%I', nspname) FROM pg_namespace
WHERE has_schema_privilege(%(role)s, oid, 'CREATE') AND nspname !~ '^pg_(toast|temp)'
UNION ALL SELECT format('temporary tables in %%I', current_database())
WHERE has_database_privilege(%(role)s, current_database(), 'TEMP')
UNION ALL SELECT format('schemas in %%I', current_database())
WHERE has_database_privilege(%(role)s, current_database(), 'CREATE') ORDER BY 1
"""
_READABLE: Final = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname !~ '^pg_(toast|temp)' AND has_schema_privilege(%(role)s, n.oid, 'USAGE')
AND (has_table_privilege(%(role)s, c.oid, 'SELECT') OR has_any_column_privilege(%(role)s, c.oid, 'SELECT'))
ORDER BY 1, 2
"""
_EXECUTABLE: Final = """
SELECT n.nspname, p.proname, e.extname, p.prosecdef FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
LEFT JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
AND has_schema_privilege(%(role)s, n.oid, 'USAGE') AND has_function_privilege(%(role)s, p.oid, 'EXECUTE') ORDER BY 1, 2
"""
_VIEWS: Final = """
SELECT n.nspname, c.relname, pg_get_viewdef(c.oid),
coalesce(c.reloptions::text[] && ARRAY['security_barrier=true', 'security_barrier=on'], false)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v'
"""
_POLICIES: Final = """
SELECT format('%%I.%%I', schemaname, tablename) FROM pg_policies
WHERE coalesce(qual, '') || coalesce(with_check, '') LIKE '%%current_setting%%' ORDER BY 1
"""
_SETTINGS: Final = """
SELECT coalesce((SELECT split_part(entry, '=', 2) FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole,
unnest(s.setconfig) entry WHERE r.rolname = %(role)s AND s.setdatabase IN (0, (SELECT oid FROM pg_database
WHERE datname = current_database())) AND entry LIKE 'temp_file_limit=%%' ORDER BY s.setdatabase DESC LIMIT 1),
(SELECT setting FROM pg_settings WHERE name = 'temp_file_limit')), current_setting('server_version_num')::int / 10000
"""
_ROW_FUNCTIONS: Final = """
SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_type t ON t.oid = p.proargtypes[0]
WHERE p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1 AND (t.typtype IN ('c', 'd') OR t.typname IN
('record', 'any', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray'))
"""


async def load_row_functions(connection: _Connection) -> frozenset[str]:
    """Return the names of functions that a dot after a row may call.

    Domains count too: a row is taken for a domain over its type.

    Raises:
        ConfigurationError: The catalog cannot be read.
    """
    return frozenset(name for (name,) in await _rows(connection, _ROW_FUNCTIONS, {}))


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
    if any(finding.code == "rolsuper" for finding in powers):
        return powers  # it may do everything; a list of it would help nobody
    findings = [
        *powers,
        *await _audit_rights(connection, role),
        *await _audit_reading(connection, role, relations),
        *await _audit_calling(connection, role, frozenset(functions)),
        *await _audit_views(connection, relations),
        *await _audit_settings(connection, role),
    ]
    return sorted(findings, key=lambda finding: not finding.is_severe)


def say(findings: Iterable[Finding]) -> str:
    """Return findings as a person reads them."""
    return "\n".join(
        f"{'refused' if finding.is_severe else 'warning'}  {finding.code}: {finding.message}\n         {finding.mend}"
        for finding in findings
    )


async def _audit_powers(connection: _Connection, role: str) -> list[Finding]:
    columns = SQL(", ").join(Identifier(name) for name in _POWERS)
    found = await _rows(
        connection, SQL("SELECT {} FROM pg_roles WHERE rolname = %(role)s").format(columns), {"role": role}
    )
    if not found:
        raise ConfigurationError(f"there is no role {role!r} on this server; `placet sql setup` says how to make it")
    quoted = Identifier(role).as_string(None)
    findings = [
        Finding(name, f"the role {role!r} is {what}" if name == "rolsuper" else f"the role {role!r}: {what}", True,
                f"ALTER ROLE {quoted} {mend};")
        for (name, (what, mend)), has in zip(_POWERS.items(), found[0], strict=True)
        if has
    ]  # fmt: skip
    groups = [name for (name,) in await _rows(connection, _MEMBERSHIPS, {"role": role})]
    if groups:
        mend = f"REVOKE {', '.join(Identifier(name).as_string(None) for name in groups)} FROM {quoted};"
        findings.append(Finding("member", f"the role {role!r} is a member of {_list(groups)}", True, mend))
    return findings


async def _audit_rights(connection: _Connection, role: str) -> list[Finding]:
    questions = (
        ("owner", _OWNED, "owns", "ALTER … OWNER TO another role;"),
        ("writes", _WRITABLE, "may write", "REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON … FROM the role and PUBLIC;"),
        ("sequences", _SEQUENCES, "may draw from", "REVOKE ALL ON SEQUENCE … FROM the role and PUBLIC;"),
        ("creates", _CREATABLE, "may create", "REVOKE CREATE ON SCHEMA …, REVOKE TEMP ON DATABASE … FROM PUBLIC;"),
    )
    findings = []
    for code, question, verb, mend in questions:
        found = [str(name) for (name,) in await _rows(connection, question, {"role": role})]
        if found:
            findings.append(Finding(code, f"the role {role!r} {verb} {_list(found)}", True, mend))
    return findings


async def _audit_reading(connection: _Connection, role: str, relations: Sequence[Relation]) -> list[Finding]:
    opened = {(relation.schema, relation.name) for relation in relations}
    schemas = {relation.schema for relation in relations}
    readable = [(str(schema), str(name)) for schema, name in await _rows(connection, _READABLE, {"role": role})]
    outside = [f"{schema}.{name}" for schema, name in readable if schema not in schemas]
    beside = [f"{schema}.{name}" for schema, name in readable if schema in schemas and (schema, name) not in opened]
    findings = []
    if outside:
        message = f"the role {role!r} may read {_list(outside)}, where nothing is open"
        findings.append(Finding("reads", message, True, "REVOKE SELECT ON … FROM the role and PUBLIC;"))
    if beside:
        message = f"the role {role!r} may read {_list(beside)}, which is not open: only the guard keeps it shut"
        findings.append(Finding("reads_more", message, False, "REVOKE SELECT ON … FROM the role and PUBLIC;"))
    return findings


async def _audit_calling(connection: _Connection, role: str, granted: frozenset[str]) -> list[Finding]:
    found = await _rows(connection, _EXECUTABLE, {"role": role})
    callable_ = [
        f"{schema}.{name}" + (f" (extension {extension})" if extension else " (SECURITY DEFINER)" if definer else "")
        for schema, name, extension, definer in found
        if f"{schema}.{name}" not in granted
    ]
    if not callable_:
        return []
    message = f"the role {role!r} may call {_list(callable_)}, which is not granted to it here"
    mend = (
        "REVOKE EXECUTE ON FUNCTION … FROM PUBLIC; ALTER DEFAULT PRIVILEGES … REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;"
    )
    return [Finding("calls", message, True, mend)]


async def _audit_views(connection: _Connection, relations: Sequence[Relation]) -> list[Finding]:
    opened = {(relation.schema, relation.name) for relation in relations}
    leaky = [
        f"{schema}.{name}"
        for schema, name, definition, has_barrier in await _rows(connection, _VIEWS, {})
        if (schema, name) in opened and not has_barrier and _filters(str(definition))
    ]
    findings = [
        Finding("leaky_view", f"the view {name} filters rows, and errors would show those that it hides", True,
                f"ALTER VIEW {name} SET (security_barrier);")
        for name in leaky
    ]  # fmt: skip
    policies = [str(name) for (name,) in await _rows(connection, _POLICIES, {})]
    if policies:
        message = (
            f"row-level security of {_list(policies)} rests on a setting, and only the guard keeps it from being set"
        )
        findings.append(
            Finding("policy_on_setting", message, False, "give each tenant a login role, or views of its own")
        )
    return findings


async def _audit_settings(connection: _Connection, role: str) -> list[Finding]:
    temp_file_limit, version = (await _rows(connection, _SETTINGS, {"role": role}))[0]
    findings = []
    if str(temp_file_limit) in ("-1", ""):
        mend = f"ALTER ROLE {Identifier(role).as_string(None)} SET temp_file_limit = '64MB';  -- as a superuser"
        message = f"the role {role!r} has no temp_file_limit: one recursion may fill the disk until its time is up"
        findings.append(Finding("temp_file_limit", message, False, mend))
    if int(version) > PARSER_MAJOR:
        message = f"the server is PostgreSQL {version}, the parser knows {PARSER_MAJOR}: what is new since is refused"
        findings.append(Finding("newer_server", message, False, "upgrade postgast"))
    return findings


def _filters(definition: str) -> bool:
    """Return whether a view leaves rows out. One that cannot be read is taken for one that does."""
    try:
        select = parse(definition).stmts[0].stmt.select_stmt
    except (PgQueryError, IndexError):
        return True
    return bool(select.HasField("where_clause") or select.HasField("having_clause") or select.op > 1)


async def _rows(
    connection: _Connection, question: LiteralString | Composed, values: dict[str, Any]
) -> list[tuple[Any, ...]]:
    try:
        cursor = await connection.execute(question, values)
        return await cursor.fetchall()
    except Error as error:
        raise ConfigurationError(
            f"the role cannot be audited: {str(error).strip()}; give a connection that may read the catalog"
        ) from error


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
