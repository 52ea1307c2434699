-- Times are microseconds since 1970, UTC. JSON stands in its one canonical text.
-- Few columns are indexed: each index is one more page in every commit.

CREATE TABLE mark (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO mark (name, value) VALUES ('checkpoints', '0');

CREATE TABLE principal (
    id         TEXT PRIMARY KEY,
    roles      TEXT NOT NULL,
    attributes TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A run without its texts, so that renewing a lease rewrites some hundred bytes.
CREATE TABLE run (
    number       INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    agent        TEXT    NOT NULL,
    principal_id TEXT    NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('running', 'waiting', 'ready', 'done', 'stopped')),
    parent       TEXT    NOT NULL,
    owner        TEXT    NOT NULL,
    fence        INTEGER NOT NULL,
    lease_until  INTEGER,
    woken        INTEGER NOT NULL DEFAULT 0,  -- a request was decided while the run was running
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE run_snapshot (
    run      INTEGER PRIMARY KEY REFERENCES run (number),
    snapshot TEXT NOT NULL
) STRICT;

CREATE TABLE run_journal (
    run   INTEGER NOT NULL REFERENCES run (number),
    place INTEGER NOT NULL,
    entry TEXT    NOT NULL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE approval (
    number         INTEGER PRIMARY KEY,
    id             TEXT    NOT NULL UNIQUE,
    token_hash     TEXT    NOT NULL,
    run_id         TEXT    NOT NULL,
    call_key       TEXT    NOT NULL,
    principal_id   TEXT    NOT NULL,
    tool           TEXT    NOT NULL,
    arguments      TEXT    NOT NULL,
    digest         TEXT    NOT NULL,
    schema_digest  TEXT    NOT NULL,
    policy_digest  TEXT    NOT NULL,
    rule           TEXT    NOT NULL,
    yes            TEXT    NOT NULL CHECK (yes IN ('confirm', 'approve')),
    approvers      TEXT    NOT NULL,
    preview        TEXT,
    provenance     TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    status         TEXT    NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'used', 'void')),
    decided_by     TEXT,
    decided_at     INTEGER,
    note           TEXT,
    note_for_model INTEGER NOT NULL
) STRICT;

CREATE INDEX approval_token ON approval (token_hash);
CREATE INDEX approval_run ON approval (run_id);
CREATE INDEX approval_pending ON approval (expires_at) WHERE status = 'pending';

CREATE TABLE effect (
    key          TEXT    PRIMARY KEY,
    principal_id TEXT    NOT NULL,
    tool         TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('running', 'done', 'failed', 'unknown')),
    deadline     INTEGER NOT NULL,
    result       TEXT,
    approval_id  TEXT,
    began_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX effect_in_doubt ON effect (principal_id, tool, digest) WHERE state IN ('running', 'unknown');

-- What was taken from which window, in millionths.
CREATE TABLE taken (
    key    TEXT    NOT NULL,
    per    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (key, per, at)
) STRICT, WITHOUT ROWID;

-- `number` is the order of the commits over all writers.
CREATE TABLE audit_record (
    number       INTEGER PRIMARY KEY,
    writer       TEXT    NOT NULL,
    sequence     INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    call_key     TEXT    NOT NULL,
    principal_id TEXT    NOT NULL,
    tool         TEXT    NOT NULL,
    decision     TEXT    NOT NULL,
    rule         TEXT    NOT NULL,
    body         TEXT    NOT NULL,
    seal         TEXT    NOT NULL,
    UNIQUE (writer, sequence)
) STRICT;

CREATE INDEX audit_run ON audit_record (run_id) WHERE run_id <> '';

CREATE TRIGGER audit_record_stays BEFORE UPDATE ON audit_record
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_record_is_kept BEFORE DELETE ON audit_record
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
