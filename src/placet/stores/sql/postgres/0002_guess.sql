-- What a batch has changed, where its writer has rightly guessed what it would find: one round trip
-- instead of two. Nothing is stored, and false returned, where a guess is wrong; the batch then
-- looks first. Each query of a volatile function sees what was committed before it began, so the
-- guesses are checked against what stands once every lock is held.
CREATE FUNCTION placet.store_as_guessed(
    locks json, absent_runs json, owned_runs json, absent_effects json, running_effects json, alike json,
    new_runs json, changed_runs json, ended_runs json, journals json, new_approvals json, changed_approvals json,
    new_effects json, changed_effects json, taken json, principals json, records json
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- The keys stand in the one order in which everybody takes them.
    PERFORM pg_advisory_xact_lock(value::bigint)
    FROM json_array_elements_text(locks) WITH ORDINALITY AS wanted (value, place);

    IF absent_runs IS NOT NULL AND EXISTS (
        SELECT FROM placet.run WHERE id IN (SELECT json_array_elements_text(absent_runs))
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
        SELECT FROM placet.effect WHERE key IN (SELECT json_array_elements_text(absent_effects))
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
        SELECT FROM json_to_recordset(alike) AS wanted (principal_id text, tool text, digest text)
        JOIN placet.effect USING (principal_id, tool, digest)
        WHERE state IN ('running', 'unknown')
            AND key NOT IN (SELECT known.key FROM json_to_recordset(running_effects) AS known (key text))
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
