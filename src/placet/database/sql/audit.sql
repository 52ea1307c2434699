-- What the audit of a role asks of the catalog. `%(role)s` is the role; a percent sign is doubled.

-- name: powers
-- In the order of _POWERS.
SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles WHERE rolname = %(role)s;

-- name: memberships
SELECT granted.rolname FROM pg_auth_members m JOIN pg_roles granted ON granted.oid = m.roleid
JOIN pg_roles member ON member.oid = m.member WHERE member.rolname = %(role)s ORDER BY 1;

-- name: owned
SELECT (pg_identify_object(classid, objid, objsubid)).type || ' ' || (pg_identify_object(classid, objid, objsubid)).identity
FROM pg_shdepend WHERE deptype = 'o' AND refclassid = 'pg_authid'::regclass AND pg_get_userbyid(refobjid) = %(role)s
AND dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())) ORDER BY 1;

-- name: writable
-- Everybody may update pg_settings: it is another word for SET.
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid <> 'pg_catalog.pg_settings'::regclass
AND n.nspname !~ '^pg_(toast|temp)'
AND (has_table_privilege(%(role)s, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
OR has_any_column_privilege(%(role)s, c.oid, 'INSERT, UPDATE, REFERENCES')) ORDER BY 1;

-- name: maintained
-- PostgreSQL 17 and later; has_table_privilege knows no such word before.
SELECT DISTINCT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
aclexplode(c.relacl) granted JOIN pg_roles r ON r.rolname = %(role)s
WHERE granted.privilege_type = 'MAINTAIN' AND granted.grantee IN (0, r.oid) ORDER BY 1;

-- name: sequences
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(%(role)s, c.oid, 'USAGE, UPDATE') ELSE false END ORDER BY 1;

-- name: creatable
SELECT format('CREATE ON SCHEMA %%I', nspname) FROM pg_namespace
WHERE has_schema_privilege(%(role)s, oid, 'CREATE') AND nspname !~ '^pg_(toast|temp)'
UNION ALL SELECT format('%%s ON DATABASE %%I', granted, current_database()) FROM (VALUES ('CREATE'), ('TEMP')) of(granted)
WHERE has_database_privilege(%(role)s, current_database(), granted) ORDER BY 1;

-- name: large_objects
SELECT DISTINCT o.oid FROM pg_largeobject_metadata o, aclexplode(o.lomacl) granted JOIN pg_roles r ON r.rolname = %(role)s
WHERE granted.grantee IN (0, r.oid) ORDER BY 1;

-- name: parameters
-- PostgreSQL 15 and later.
SELECT DISTINCT p.parname FROM pg_parameter_acl p, aclexplode(p.paracl) granted JOIN pg_roles r ON r.rolname = %(role)s
WHERE granted.grantee IN (0, r.oid) ORDER BY 1;

-- name: defaults
-- What will be granted with what is not made yet. PUBLIC may call functions and use types in any case.
SELECT coalesce(n.nspname, ''), d.defaclobjtype = 'r' AND granted.privilege_type = 'SELECT',
format('ALTER DEFAULT PRIVILEGES FOR ROLE %%I%%s REVOKE %%s ON %%s FROM %%s;', pg_get_userbyid(d.defaclrole),
' IN SCHEMA ' || quote_ident(n.nspname), granted.privilege_type,
CASE d.defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'FUNCTIONS' WHEN 'T' THEN 'TYPES'
WHEN 'n' THEN 'SCHEMAS' ELSE 'LARGE OBJECTS' END,
CASE granted.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END)
FROM pg_default_acl d LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace, aclexplode(d.defaclacl) granted
JOIN pg_roles r ON r.rolname = %(role)s
WHERE granted.grantee = r.oid OR (granted.grantee = 0 AND d.defaclobjtype NOT IN ('f', 'T')) ORDER BY 1, 3;

-- name: readable
SELECT n.nspname, c.relname, format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname !~ '^pg_(toast|temp)' AND has_schema_privilege(%(role)s, n.oid, 'USAGE')
AND (has_table_privilege(%(role)s, c.oid, 'SELECT') OR has_any_column_privilege(%(role)s, c.oid, 'SELECT'))
UNION ALL -- the part of the catalog that not everybody may read on a new server
SELECT n.nspname, c.relname, format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_init_privs i ON i.objoid = c.oid AND i.classoid = 'pg_class'::regclass AND i.objsubid = 0
WHERE n.nspname IN ('pg_catalog', 'information_schema')
AND NOT EXISTS (SELECT FROM aclexplode(i.initprivs) first WHERE first.grantee = 0 AND first.privilege_type = 'SELECT')
AND has_table_privilege(%(role)s, c.oid, 'SELECT') ORDER BY 1, 2;

-- name: executable
-- Not of PostgreSQL itself (their oids are below 16384), or not for everybody on a new server. An operator or a cast
-- reaches a function in a schema that the role may not use.
SELECT n.nspname, p.proname, e.extname, p.prosecdef, p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
LEFT JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
WHERE n.nspname !~ '^pg_(toast|temp)' AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')
AND CASE WHEN p.oid < 16384 THEN EXISTS (SELECT FROM pg_init_privs i WHERE i.objoid = p.oid AND i.classoid = 'pg_proc'::regclass
AND NOT EXISTS (SELECT FROM aclexplode(i.initprivs) first WHERE first.grantee = 0))
ELSE has_schema_privilege(%(role)s, n.oid, 'USAGE')
OR (e.extname IS NULL AND (p.oid IN (SELECT castfunc FROM pg_cast)
OR p.oid IN (SELECT oprcode FROM pg_operator WHERE has_schema_privilege(%(role)s, oprnamespace, 'USAGE')))) END ORDER BY 1, 2;

-- name: views
SELECT n.nspname, c.relname, pg_get_viewdef(c.oid),
coalesce(c.reloptions::text[] && ARRAY['security_barrier=true', 'security_barrier=on'], false)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v';

-- name: policies
SELECT format('%%I.%%I', schemaname, tablename) FROM pg_policies
WHERE coalesce(qual, '') || coalesce(with_check, '') LIKE '%%current_setting%%' ORDER BY 1;

-- name: settings
WITH own AS (SELECT split_part(entry, '=', 1) AS name, substr(entry, strpos(entry, '=') + 1) AS value, s.setdatabase
FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) entry WHERE r.rolname = %(role)s
AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())))
SELECT coalesce((SELECT value FROM own WHERE name = 'temp_file_limit' ORDER BY setdatabase DESC LIMIT 1),
current_setting('temp_file_limit')),
coalesce((SELECT value FROM own WHERE name = 'lc_messages' ORDER BY setdatabase DESC LIMIT 1), current_setting('lc_messages')),
current_setting('server_version_num')::int / 10000;

-- name: dotted
-- Of rows, whatever the schema. Of other values, what PostgreSQL has itself (what takes an `internal` is called by nobody)
-- and what the role may call where a bare name is looked up.
SELECT p.proname FROM pg_proc p JOIN pg_type t ON t.oid = p.proargtypes[0] JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1 AND (t.typtype IN ('c', 'd') OR t.typname IN
('record', 'any', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray')
OR (n.nspname = 'pg_catalog' AND t.typname <> 'internal')
OR (n.nspname = ANY (%(search_path)s) AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')))
UNION SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typrelid = 0 AND typtype <> 'p';

-- name: first_found
-- What a bare name stands for. Whether it may be read is not asked before it is found.
SELECT DISTINCT ON (c.relname) n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY (%(search_path)s) AND c.relname = ANY (%(names)s) AND has_schema_privilege(%(role)s, n.oid, 'USAGE')
ORDER BY c.relname, array_position(%(search_path)s::text[], n.nspname::text);
