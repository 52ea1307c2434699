-- A function keeps the plans that it has made at its first calls on a connection, for the size that
-- the tables had then. In tables that are nearly empty, reading all of it is cheaper than looking
-- up; the same plan, kept while they grow, costs more with each row. So these functions look up by
-- indexes alone: the settings leave no other way, and where a table could yet be read before what is
-- wanted of it is known, `LATERAL` with `OFFSET 0` keeps the order.

CREATE OR REPLACE FUNCTION placet.load(locks json, runs json, approvals json, effects json, alike json, windows json)
RETURNS TABLE (kind text, item json) LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
AS $$
BEGIN
    -- The keys stand in the one order in which everybody takes them.
    PERFORM pg_advisory_xact_lock(value::bigint)
    FROM json_array_elements_text(locks) WITH ORDINALITY AS wanted (value, place);

    IF runs IS NOT NULL THEN
        RETURN QUERY
        SELECT 'run', json_build_array(id, agent, principal_id, status, '', parent, owner, fence, lease_until,
                                       created_at, updated_at, woken)
        FROM placet.run WHERE id = ANY (ARRAY(SELECT json_array_elements_text(runs)));
    END IF;

    IF approvals IS NOT NULL THEN
        RETURN QUERY
        SELECT 'approval', json_build_array(id, token_hash, run_id, call_key, principal_id, tool, arguments, digest,
                                            schema_digest, policy_digest, rule, yes, approvers, preview, provenance,
                                            created_at, expires_at, status, decided_by, decided_at, note,
                                            note_for_model)
        FROM placet.approval WHERE id = ANY (ARRAY(SELECT json_array_elements_text(approvals)));
    END IF;

    IF effects IS NOT NULL THEN
        RETURN QUERY
        SELECT 'effect', json_build_array(key, principal_id, tool, digest, run_id, state, deadline, result, approval_id)
        FROM placet.effect WHERE key = ANY (ARRAY(SELECT json_array_elements_text(effects)));
    END IF;

    IF alike IS NOT NULL THEN
        RETURN QUERY
        SELECT 'effect', like_it.item
        FROM json_to_recordset(alike) AS wanted (principal_id text, tool text, digest text), LATERAL (
            SELECT json_build_array(key, effect.principal_id, effect.tool, effect.digest, run_id, state, deadline,
                                    result, approval_id) AS item
            FROM placet.effect
            WHERE effect.principal_id = wanted.principal_id AND effect.tool = wanted.tool
                AND effect.digest = wanted.digest AND state IN ('running', 'unknown')
            OFFSET 0
        ) AS like_it;
    END IF;

    IF windows IS NOT NULL THEN
        RETURN QUERY
        SELECT 'taken', used.item
        FROM json_to_recordset(windows) AS wanted (key text, per bigint, since bigint), LATERAL (
            SELECT json_build_array(taken.key, taken.per, at, amount) AS item, at
            FROM placet.taken
            WHERE taken.key = wanted.key AND taken.per = wanted.per AND at > since
            OFFSET 0
        ) AS used
        ORDER BY used.at;
    END IF;
END
$$;

ALTER FUNCTION placet.store
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off;

CREATE OR REPLACE FUNCTION placet.store_as_guessed(
    locks json, absent_runs json, owned_runs json, absent_effects json, running_effects json, alike json,
    new_runs json, changed_runs json, ended_runs json, journals json, new_approvals json, changed_approvals json,
    new_effects json, changed_effects json, taken json, principals json, records json
) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
AS $$
BEGIN
    -- The keys stand in the one order in which everybody takes them.
    PERFORM pg_advisory_xact_lock(value::bigint)
    FROM json_array_elements_text(locks) WITH ORDINALITY AS wanted (value, place);

    IF absent_runs IS NOT NULL AND EXISTS (
        SELECT FROM placet.run WHERE id = ANY (ARRAY(SELECT json_array_elements_text(absent_runs)))
    ) THEN
        RETURN false;
    END IF;

    IF owned_runs IS NOT NULL AND EXISTS (
        SELECT FROM json_to_recordset(owned_runs) AS wanted (id text, owner text, fence bigint)
        WHERE NOT EXISTS (
            SELECT FROM placet.run
            WHERE run.id = wanted.id AND run.owner = wanted.owner AND run.fence = wanted.fence AND status = 'running'
        )
    ) THEN
        RETURN false;
    END IF;

    IF absent_effects IS NOT NULL AND EXISTS (
        SELECT FROM placet.effect WHERE key = ANY (ARRAY(SELECT json_array_elements_text(absent_effects)))
    ) THEN
        RETURN false;
    END IF;

    IF running_effects IS NOT NULL AND EXISTS (
        SELECT FROM json_to_recordset(running_effects) AS wanted (key text, run_id text, deadline bigint)
        WHERE NOT EXISTS (
            SELECT FROM placet.effect
            WHERE effect.key = wanted.key AND effect.run_id = wanted.run_id AND effect.deadline = wanted.deadline
                AND state = 'running'
        )
    ) THEN
        RETURN false;
    END IF;

    IF alike IS NOT NULL AND EXISTS (
        SELECT FROM json_to_recordset(alike) AS wanted (principal_id text, tool text, digest text), LATERAL (
            SELECT key FROM placet.effect
            WHERE effect.principal_id = wanted.principal_id AND effect.tool = wanted.tool
                AND effect.digest = wanted.digest AND state IN ('running', 'unknown')
            OFFSET 0
        ) AS like_it
        WHERE like_it.key NOT IN (SELECT known.key FROM json_to_recordset(running_effects) AS known (key text))
    ) THEN
        RETURN false;
    END IF;

    PERFORM placet.store(
        new_runs, changed_runs, ended_runs, journals, new_approvals, changed_approvals, new_effects, changed_effects,
        taken, principals, records
    );
    RETURN true;
END
$$;
