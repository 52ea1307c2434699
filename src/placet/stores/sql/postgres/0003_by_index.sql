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
