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
