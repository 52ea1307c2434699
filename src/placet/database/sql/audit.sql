-- What the audit of a role asks of the catalog. `%(role)s` is the role; a percent sign is doubled.

-- name: powers
-- In the order of _POWERS.
SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles WHERE rolname = %(role)s;

-- name: memberships
SELECT granted.rolname FROM pg_auth_members m JOIN pg_roles granted ON granted.oid = m.roleid
JOIN pg_roles member ON member.oid = m.member WHERE member.rolname = %(role)s ORDER BY 1;

-- name: owned
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE pg_get_userbyid(c.relowner) = %(role)s AND n.nspname !~ '^pg_(toast|temp)'
UNION ALL SELECT format('function %%I.%%I', n.nspname, p.proname) FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace WHERE pg_get_userbyid(p.proowner) = %(role)s
UNION ALL SELECT format('schema %%I', nspname) FROM pg_namespace WHERE pg_get_userbyid(nspowner) = %(role)s
UNION ALL SELECT format('database %%I', datname) FROM pg_database WHERE pg_get_userbyid(datdba) = %(role)s
ORDER BY 1;

-- name: writable
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname !~ '^pg_(toast|temp)' AND (has_table_privilege(%(role)s, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
OR has_any_column_privilege(%(role)s, c.oid, 'INSERT, UPDATE')) ORDER BY 1;

-- name: sequences
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(%(role)s, c.oid, 'USAGE, UPDATE') ELSE false END ORDER BY 1;

-- name: creatable
SELECT format('schema %%I', nspname) FROM pg_namespace
WHERE has_schema_privilege(%(role)s, oid, 'CREATE') AND nspname !~ '^pg_(toast|temp)'
UNION ALL SELECT format('temporary tables in %%I', current_database())
WHERE has_database_privilege(%(role)s, current_database(), 'TEMP')
UNION ALL SELECT format('schemas in %%I', current_database())
WHERE has_database_privilege(%(role)s, current_database(), 'CREATE') ORDER BY 1;

-- name: readable
SELECT n.nspname, c.relname, format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname !~ '^pg_(toast|temp)' AND has_schema_privilege(%(role)s, n.oid, 'USAGE')
AND (has_table_privilege(%(role)s, c.oid, 'SELECT') OR has_any_column_privilege(%(role)s, c.oid, 'SELECT'))
ORDER BY 1, 2;

-- name: executable
SELECT n.nspname, p.proname, e.extname, p.prosecdef, p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
LEFT JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
AND has_schema_privilege(%(role)s, n.oid, 'USAGE') AND has_function_privilege(%(role)s, p.oid, 'EXECUTE') ORDER BY 1, 2;

-- name: views
SELECT n.nspname, c.relname, pg_get_viewdef(c.oid),
coalesce(c.reloptions::text[] && ARRAY['security_barrier=true', 'security_barrier=on'], false)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v';

-- name: policies
SELECT format('%%I.%%I', schemaname, tablename) FROM pg_policies
WHERE coalesce(qual, '') || coalesce(with_check, '') LIKE '%%current_setting%%' ORDER BY 1;

-- name: settings
SELECT coalesce((SELECT split_part(entry, '=', 2) FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole,
unnest(s.setconfig) entry WHERE r.rolname = %(role)s AND s.setdatabase IN (0, (SELECT oid FROM pg_database
WHERE datname = current_database())) AND entry LIKE 'temp_file_limit=%%' ORDER BY s.setdatabase DESC LIMIT 1),
(SELECT setting FROM pg_settings WHERE name = 'temp_file_limit')), current_setting('server_version_num')::int / 10000;

-- name: row_functions
SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_type t ON t.oid = p.proargtypes[0]
WHERE p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1 AND (t.typtype IN ('c', 'd') OR t.typname IN
('record', 'any', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray'));
