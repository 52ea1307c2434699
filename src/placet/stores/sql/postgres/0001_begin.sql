-- Times are microseconds since 1970, UTC. JSON stands in its one canonical text.

CREATE TABLE placet.mark (
    name  text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE placet.principal (
    id         text PRIMARY KEY,
    roles      text NOT NULL,
    attributes text NOT NULL
);

-- A run without its texts, so that renewing a lease rewrites some hundred bytes.
CREATE TABLE placet.run (
    number       bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           text    NOT NULL UNIQUE,
    agent        text    NOT NULL,
    principal_id text    NOT NULL,
    status       text    NOT NULL CHECK (status IN ('running', 'waiting', 'ready', 'done', 'stopped')),
    parent       text    NOT NULL,
    owner        text    NOT NULL,
    fence        bigint  NOT NULL,
    lease_until  bigint,
    woken        boolean NOT NULL DEFAULT false,  -- a request was decided while the run was running
    created_at   bigint  NOT NULL,
    updated_at   bigint  NOT NULL
);

CREATE TABLE placet.run_snapshot (
    run_id   text PRIMARY KEY REFERENCES placet.run (id),
    snapshot text NOT NULL
);

CREATE TABLE placet.run_journal (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text   NOT NULL REFERENCES placet.run (id),
    entry  text   NOT NULL
);

CREATE INDEX run_journal_run ON placet.run_journal (run_id, number);

CREATE TABLE placet.approval (
    number         bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id             text    NOT NULL UNIQUE,
    token_hash     text    NOT NULL,
    run_id         text    NOT NULL,
    call_key       text    NOT NULL,
    principal_id   text    NOT NULL,
    tool           text    NOT NULL,
    arguments      text    NOT NULL,
    digest         text    NOT NULL,
    schema_digest  text    NOT NULL,
    policy_digest  text    NOT NULL,
    rule           text    NOT NULL,
    yes            text    NOT NULL CHECK (yes IN ('confirm', 'approve')),
    approvers      text    NOT NULL,
    preview        text,
    provenance     text    NOT NULL,
    created_at     bigint  NOT NULL,
    expires_at     bigint  NOT NULL,
    status         text    NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'used', 'void')),
    decided_by     text,
    decided_at     bigint,
    note           text,
    note_for_model integer NOT NULL
);

CREATE INDEX approval_token ON placet.approval (token_hash);
CREATE INDEX approval_run ON placet.approval (run_id);
CREATE INDEX approval_pending ON placet.approval (expires_at) WHERE status = 'pending';

CREATE TABLE placet.effect (
    key          text   PRIMARY KEY,
    principal_id text   NOT NULL,
    tool         text   NOT NULL,
    digest       text   NOT NULL,
    run_id       text   NOT NULL,
    state        text   NOT NULL CHECK (state IN ('running', 'done', 'failed', 'unknown')),
    deadline     bigint NOT NULL,
    result       text,
    approval_id  text,
    began_at     bigint NOT NULL
);

CREATE INDEX effect_in_doubt ON placet.effect (principal_id, tool, digest) WHERE state IN ('running', 'unknown');

-- What was taken from which window, in millionths.
CREATE TABLE placet.taken (
    key    text   NOT NULL,
    per    bigint NOT NULL,
    at     bigint NOT NULL,
    amount bigint NOT NULL,
    PRIMARY KEY (key, per, at)
);

-- `number` grows with every record, over all writers; records of one writer keep their order.
CREATE TABLE placet.audit_record (
    number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    writer       text   NOT NULL,
    sequence     bigint NOT NULL,
    at           bigint NOT NULL,
    kind         text   NOT NULL,
    run_id       text   NOT NULL,
    call_key     text   NOT NULL,
    principal_id text   NOT NULL,
    tool         text   NOT NULL,
    decision     text   NOT NULL,
    rule         text   NOT NULL,
    body         text   NOT NULL,
    seal         text   NOT NULL,
    UNIQUE (writer, sequence)
);

CREATE INDEX audit_run ON placet.audit_record (run_id, number) WHERE run_id <> '';

CREATE FUNCTION placet.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END
$$;

CREATE TRIGGER audit_record_stays BEFORE UPDATE OR DELETE ON placet.audit_record
    FOR EACH ROW EXECUTE FUNCTION placet.refuse_change();

CREATE TRIGGER audit_record_is_kept BEFORE TRUNCATE ON placet.audit_record
    FOR EACH STATEMENT EXECUTE FUNCTION placet.refuse_change();

-- What a batch of verbs touches, as it stands once every lock is held: each query of a
-- volatile function sees what was committed before it began. Rows are arrays of columns.
CREATE FUNCTION placet.load(locks json, runs json, approvals json, effects json, alike json, windows json)
RETURNS TABLE (kind text, item json) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- The keys stand in the one order in which everybody takes them.
    PERFORM pg_advisory_xact_lock(value::bigint)
    FROM json_array_elements_text(locks) WITH ORDINALITY AS wanted (value, place);

    IF runs IS NOT NULL THEN
        RETURN QUERY
        SELECT 'run', json_build_array(id, agent, principal_id, status, '', parent, owner, fence, lease_until,
                                       created_at, updated_at, woken)
        FROM placet.run WHERE id IN (SELECT json_array_elements_text(runs));
    END IF;

    IF approvals IS NOT NULL THEN
        RETURN QUERY
        SELECT 'approval', json_build_array(id, token_hash, run_id, call_key, principal_id, tool, arguments, digest,
                                            schema_digest, policy_digest, rule, yes, approvers, preview, provenance,
                                            created_at, expires_at, status, decided_by, decided_at, note,
                                            note_for_model)
        FROM placet.approval WHERE id IN (SELECT json_array_elements_text(approvals));
    END IF;

    IF effects IS NOT NULL THEN
        RETURN QUERY
        SELECT 'effect', json_build_array(key, principal_id, tool, digest, run_id, state, deadline, result, approval_id)
        FROM placet.effect WHERE key IN (SELECT json_array_elements_text(effects));
    END IF;

    IF alike IS NOT NULL THEN
        RETURN QUERY
        SELECT 'effect', json_build_array(effect.key, effect.principal_id, effect.tool, effect.digest, run_id, state,
                                          deadline, result, approval_id)
        FROM json_to_recordset(alike) AS wanted (principal_id text, tool text, digest text)
        JOIN placet.effect USING (principal_id, tool, digest) WHERE state IN ('running', 'unknown');
    END IF;

    IF windows IS NOT NULL THEN
        RETURN QUERY
        SELECT 'taken', json_build_array(taken.key, taken.per, taken.at, amount)
        FROM json_to_recordset(windows) AS wanted (key text, per bigint, since bigint)
        JOIN placet.taken ON taken.key = wanted.key AND taken.per = wanted.per AND taken.at > since
        ORDER BY taken.at;
    END IF;
END
$$;

-- What a batch has changed, each kind of change as an array of rows, NULL when there is none.
CREATE FUNCTION placet.store(
    new_runs json, changed_runs json, ended_runs json, journals json, new_approvals json, changed_approvals json,
    new_effects json, changed_effects json, taken json, principals json, records json
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF new_runs IS NOT NULL THEN
        INSERT INTO placet.run
            (id, agent, principal_id, status, parent, owner, fence, lease_until, created_at, updated_at)
        SELECT id, agent, principal_id, status, parent, owner, fence, lease_until, created_at, updated_at
        FROM json_populate_recordset(NULL::placet.run, new_runs) WITH ORDINALITY AS new ORDER BY ordinality;
        INSERT INTO placet.run_snapshot (run_id, snapshot)
        SELECT id, snapshot FROM json_to_recordset(new_runs) AS new (id text, snapshot text);
    END IF;

    IF changed_runs IS NOT NULL THEN
        UPDATE placet.run
        SET status = new.status, owner = new.owner, lease_until = new.lease_until, updated_at = new.updated_at,
            woken = run.woken AND new.status = 'running'
        FROM json_populate_recordset(NULL::placet.run, changed_runs) AS new WHERE run.id = new.id;
    END IF;

    IF ended_runs IS NOT NULL THEN
        UPDATE placet.run_snapshot SET snapshot = new.snapshot
        FROM json_populate_recordset(NULL::placet.run_snapshot, ended_runs) AS new
        WHERE run_snapshot.run_id = new.run_id;
        DELETE FROM placet.run_journal
        WHERE run_id IN (SELECT new.run_id FROM json_populate_recordset(NULL::placet.run_snapshot, ended_runs) AS new);
    END IF;

    IF journals IS NOT NULL THEN
        INSERT INTO placet.run_journal (run_id, entry)
        SELECT run_id, entry
        FROM json_populate_recordset(NULL::placet.run_journal, journals) WITH ORDINALITY AS new ORDER BY ordinality;
    END IF;

    IF new_approvals IS NOT NULL THEN
        INSERT INTO placet.approval
            (id, token_hash, run_id, call_key, principal_id, tool, arguments, digest, schema_digest, policy_digest,
             rule, yes, approvers, preview, provenance, created_at, expires_at, status, decided_by, decided_at, note,
             note_for_model)
        SELECT id, token_hash, run_id, call_key, principal_id, tool, arguments, digest, schema_digest, policy_digest,
               rule, yes, approvers, preview, provenance, created_at, expires_at, status, decided_by, decided_at, note,
               note_for_model
        FROM json_populate_recordset(NULL::placet.approval, new_approvals) WITH ORDINALITY AS new ORDER BY ordinality;
    END IF;

    IF changed_approvals IS NOT NULL THEN
        UPDATE placet.approval SET status = new.status
        FROM json_populate_recordset(NULL::placet.approval, changed_approvals) AS new WHERE approval.id = new.id;
    END IF;

    IF new_effects IS NOT NULL THEN
        INSERT INTO placet.effect
            (key, principal_id, tool, digest, run_id, state, deadline, result, approval_id, began_at)
        SELECT key, principal_id, tool, digest, run_id, state, deadline, result, approval_id, began_at
        FROM json_populate_recordset(NULL::placet.effect, new_effects);
    END IF;

    IF changed_effects IS NOT NULL THEN
        UPDATE placet.effect
        SET run_id = new.run_id, state = new.state, deadline = new.deadline, result = new.result,
            approval_id = new.approval_id, began_at = coalesce(new.began_at, effect.began_at)
        FROM json_populate_recordset(NULL::placet.effect, changed_effects) AS new WHERE effect.key = new.key;
    END IF;

    IF taken IS NOT NULL THEN
        DELETE FROM placet.taken AS old
        USING json_populate_recordset(NULL::placet.taken, taken) AS new
        WHERE old.key = new.key AND old.per = new.per AND old.at <= new.at - new.per;
        INSERT INTO placet.taken AS old (key, per, at, amount)
        SELECT key, per, at, amount FROM json_populate_recordset(NULL::placet.taken, taken)
        ON CONFLICT (key, per, at) DO UPDATE SET amount = old.amount + excluded.amount;
    END IF;

    IF principals IS NOT NULL THEN
        INSERT INTO placet.principal AS old (id, roles, attributes)
        SELECT id, roles, attributes FROM json_populate_recordset(NULL::placet.principal, principals)
        ON CONFLICT (id) DO UPDATE SET roles = excluded.roles, attributes = excluded.attributes
        WHERE old.roles <> excluded.roles OR old.attributes <> excluded.attributes;
    END IF;

    IF records IS NOT NULL THEN
        INSERT INTO placet.audit_record
            (writer, sequence, at, kind, run_id, call_key, principal_id, tool, decision, rule, body, seal)
        SELECT writer, sequence, at, kind, run_id, call_key, principal_id, tool, decision, rule, body, seal
        FROM json_populate_recordset(NULL::placet.audit_record, records) AS new ORDER BY new.sequence;
    END IF;
END
$$;
