-- As before, by index alone and with a guess more: that windows have room for all that is taken from
-- them. Workers that were begun before this migration go on with the function that knows no windows.
CREATE FUNCTION placet.store_as_guessed(
    locks json, absent_runs json, owned_runs json, absent_effects json, running_effects json, alike json, rooms json,
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

    IF rooms IS NOT NULL AND EXISTS (
        SELECT FROM json_to_recordset(rooms) AS wanted (key text, per bigint, since bigint, room numeric), LATERAL (
            SELECT sum(amount) AS used FROM placet.taken
            WHERE taken.key = wanted.key AND taken.per = wanted.per AND at > since
        ) AS taken_before
        WHERE used > room
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
