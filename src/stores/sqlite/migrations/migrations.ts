/**
 * The tables of the embedded store, as a list of migrations. Each migration is applied once, in order, and never
 * changes. Processes of the previous version may have the file open meanwhile, so a migration only adds what does not
 * disturb them: tables, indexes and columns with a default, or a table in another form with the same columns. What only the
 * previous version uses is removed by a later version.
 */
import { giveSlugs } from "./slugs.ts";

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE aggregates (
    root_id TEXT PRIMARY KEY, shard INTEGER NOT NULL, schema INTEGER NOT NULL, version INTEGER NOT NULL,
    final INTEGER NOT NULL, settled INTEGER NOT NULL, owes INTEGER NOT NULL, bound INTEGER NOT NULL,
    event_number INTEGER NOT NULL, next_due_at INTEGER, owed TEXT NOT NULL,
    pipeline_id TEXT NOT NULL, project_id TEXT NOT NULL, status TEXT NOT NULL,
    created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, origin TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX aggregates_owing ON aggregates (shard, root_id) WHERE owes = 1;
  CREATE INDEX aggregates_due ON aggregates (shard, next_due_at) WHERE next_due_at IS NOT NULL;
  CREATE INDEX aggregates_unsettled ON aggregates (shard, bound, root_id) WHERE settled = 0;
  CREATE INDEX aggregates_by_pipeline ON aggregates (pipeline_id, created_at, root_id);
  CREATE INDEX aggregates_by_time ON aggregates (created_at, root_id);

  CREATE TABLE actors (
    id TEXT PRIMARY KEY, root_id TEXT NOT NULL, shard INTEGER NOT NULL, kind TEXT NOT NULL, rank INTEGER NOT NULL,
    position INTEGER NOT NULL, job_id TEXT, status TEXT NOT NULL, attempt INTEGER NOT NULL, agent_id TEXT,
    state TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX actors_by_root ON actors (root_id, rank, job_id, position, attempt);
  CREATE INDEX actors_by_agent ON actors (agent_id, kind) WHERE agent_id IS NOT NULL;
  CREATE INDEX actors_bound ON actors (shard, id) WHERE agent_id IS NOT NULL AND kind = 'job';

  CREATE TABLE plans (run_id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE job_specs (run_id TEXT NOT NULL, job_index INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, job_index)) WITHOUT ROWID;

  CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, root_id TEXT NOT NULL, shard INTEGER NOT NULL,
    body TEXT NOT NULL, verdict TEXT
  );
  CREATE INDEX inbox_pending ON inbox (shard, root_id, seq) WHERE verdict IS NULL;

  CREATE TABLE events (run_id TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, number)) WITHOUT ROWID;

  CREATE TABLE log_heads (step_run_id TEXT PRIMARY KEY, through INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE log_chunks (step_run_id TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (step_run_id, last_line, first_line)) WITHOUT ROWID;

  CREATE TABLE shards (shard INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, redis_identity TEXT);
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE dead_letters (id TEXT PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX dead_letters_by_time ON dead_letters (at);

  CREATE TABLE projects (project_id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE pipelines (
    pipeline_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, name TEXT NOT NULL, search_name TEXT NOT NULL,
    created_at INTEGER NOT NULL, head_revision_id TEXT, body TEXT NOT NULL, UNIQUE (project_id, name)
  ) WITHOUT ROWID;
  CREATE TABLE revisions (revision_id TEXT PRIMARY KEY, pipeline_id TEXT NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX revisions_by_pipeline ON revisions (pipeline_id);

  CREATE TABLE users (user_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL,
    body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE tokens (token_id TEXT PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL,
    created_at INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX tokens_by_subject ON tokens (kind, subject, created_at);
  CREATE TABLE agents (agent_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE idempotency (key TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
  `,
  `
  CREATE TABLE step_outputs (
    step_run_id TEXT NOT NULL, token INTEGER NOT NULL, run_id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (step_run_id, token)
  ) WITHOUT ROWID;
  CREATE INDEX step_outputs_by_run ON step_outputs (run_id);
  `,
  `
  ALTER TABLE actors ADD COLUMN pipeline_id TEXT;
  ALTER TABLE actors ADD COLUMN project_id TEXT;
  ALTER TABLE actors ADD COLUMN requested_at INTEGER;
  CREATE INDEX approvals_by_time ON actors (status, requested_at, id, project_id) WHERE kind = 'approval';
  CREATE INDEX approvals_by_pipeline ON actors (pipeline_id, status, requested_at, id) WHERE kind = 'approval';
  `,
  `
  ALTER TABLE aggregates ADD COLUMN waits TEXT;
  CREATE INDEX actors_queued ON actors (shard, id) WHERE kind = 'job' AND status = 'queued';
  `,
  `
  ALTER TABLE step_outputs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX step_outputs_sizes ON step_outputs (run_id, bytes);
  `,
  `
  CREATE TABLE agent_events (
    agent_id TEXT NOT NULL, event_id TEXT NOT NULL, owner TEXT NOT NULL, received_at INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (agent_id, event_id)
  ) WITHOUT ROWID;
  CREATE INDEX agent_events_by_owner ON agent_events (owner, received_at, agent_id, event_id);
  `,
  `
  CREATE TABLE secrets (
    project_id TEXT NOT NULL, pipeline_id TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,
    key_id TEXT NOT NULL, sealed TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
    updated_at INTEGER NOT NULL, updated_by TEXT NOT NULL, PRIMARY KEY (project_id, pipeline_id, name)
  ) WITHOUT ROWID;
  CREATE INDEX secrets_by_pipeline ON secrets (pipeline_id);
  `,
  `
  CREATE TABLE artifacts (
    artifact_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, step_run_id TEXT NOT NULL, token INTEGER NOT NULL,
    name TEXT NOT NULL, state TEXT NOT NULL, bytes INTEGER NOT NULL, file_count INTEGER NOT NULL,
    created_at INTEGER NOT NULL, stored_at INTEGER, expires_at INTEGER NOT NULL, files TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX artifacts_by_run ON artifacts (run_id, created_at, artifact_id);
  CREATE INDEX artifacts_by_step ON artifacts (step_run_id);
  CREATE INDEX artifacts_by_expiry ON artifacts (expires_at, artifact_id);
  `,
  `
  CREATE TABLE plugins (
    name TEXT NOT NULL, version TEXT NOT NULL, package_id TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
    manifest TEXT NOT NULL, PRIMARY KEY (name, version)
  ) WITHOUT ROWID;
  `,
  // `..._gone` is 0 while that part of the run is there, 1 while it is being removed, and 2 once it is removed.
  `
  ALTER TABLE aggregates ADD COLUMN logs_gone INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE aggregates ADD COLUMN artifacts_gone INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE aggregates ADD COLUMN events_gone INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX aggregates_with_logs ON aggregates (pipeline_id, created_at, root_id) WHERE logs_gone < 2;
  CREATE INDEX aggregates_with_artifacts ON aggregates (pipeline_id, created_at, root_id) WHERE artifacts_gone < 2;
  CREATE INDEX aggregates_with_events ON aggregates (pipeline_id, created_at, root_id) WHERE events_gone < 2;
  CREATE INDEX aggregates_by_project ON aggregates (project_id, created_at, root_id);
  CREATE INDEX inbox_answered ON inbox (root_id, seq) WHERE verdict IS NOT NULL;
  CREATE INDEX idempotency_by_age ON idempotency (json_extract(body, '$.at')) WHERE json_extract(body, '$.bodyHash') <> '';
  CREATE TABLE removals (run_id TEXT PRIMARY KEY, at INTEGER NOT NULL, is_repeat INTEGER NOT NULL, body TEXT) WITHOUT ROWID;
  CREATE INDEX removals_unfinished ON removals (run_id) WHERE body IS NOT NULL;
  CREATE INDEX removals_by_age ON removals (at) WHERE body IS NULL AND is_repeat = 0;
  `,
  `
  CREATE TABLE caches (
    cache_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL, run_id TEXT NOT NULL,
    blob_id TEXT NOT NULL, state TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL, used_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX caches_by_time ON caches (project_id, version, created_at) WHERE state = 'stored';
  CREATE INDEX caches_by_use ON caches (project_id, used_at, bytes) WHERE state = 'stored';
  CREATE INDEX caches_by_expiry ON caches (expires_at, cache_id);
  `,
  `
  CREATE TABLE log_sizes (step_run_id TEXT PRIMARY KEY, entries INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
  `,
  `
  CREATE TABLE pipeline_deletions (
    pipeline_id TEXT PRIMARY KEY, at INTEGER NOT NULL, by_user TEXT NOT NULL, decided INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  // A table of its own: the previous version inserts chunks without naming the columns.
  `
  CREATE TABLE log_headers (
    step_run_id TEXT NOT NULL, last_line INTEGER NOT NULL, first_line INTEGER NOT NULL,
    tenant_id TEXT NOT NULL DEFAULT 'default', project_id TEXT NOT NULL DEFAULT 'default',
    lines INTEGER NOT NULL, first_stderr INTEGER, first_error INTEGER, compression TEXT NOT NULL DEFAULT 'none',
    PRIMARY KEY (step_run_id, last_line, first_line)
  ) WITHOUT ROWID;
  `,
  `
  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sessions_by_user ON sessions (user_id, created_at, session_id);
  CREATE INDEX sessions_by_expiry ON sessions (expires_at);
  CREATE TABLE vouchers (
    voucher_hash TEXT PRIMARY KEY, alias TEXT UNIQUE, kind TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL,
    expires_at INTEGER NOT NULL, facts TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX vouchers_by_subject ON vouchers (subject, kind);
  CREATE INDEX vouchers_by_expiry ON vouchers (expires_at);
  CREATE INDEX vouchers_by_kind ON vouchers (kind, expires_at);
  CREATE TABLE identities (
    issuer TEXT NOT NULL, subject TEXT NOT NULL, user_id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) WITHOUT ROWID;
  CREATE INDEX identities_by_user ON identities (user_id);
  `,
  // For lists of the runs of a pipeline that have a status.
  `
  CREATE INDEX aggregates_by_status ON aggregates (pipeline_id, status, created_at, root_id);
  `,
  `
  CREATE TABLE tenants (tenant_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE teams (
    team_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (tenant_id, name)
  ) WITHOUT ROWID;
  CREATE TABLE team_members (user_id TEXT NOT NULL, team_id TEXT NOT NULL, PRIMARY KEY (user_id, team_id)) WITHOUT ROWID;
  CREATE INDEX team_members_by_team ON team_members (team_id, user_id);
  CREATE TABLE bindings (
    subject_id TEXT NOT NULL, area TEXT NOT NULL, area_id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (subject_id, area, area_id)
  ) WITHOUT ROWID;
  CREATE INDEX bindings_by_area ON bindings (area, area_id, subject_id);
  UPDATE projects SET body = json_set(body, '$.tenantId', 'default') WHERE body ->> '$.tenantId' IS NULL;
  CREATE INDEX projects_by_tenant ON projects (coalesce(json_extract(body, '$.tenantId'), 'default'), project_id);
  CREATE INDEX users_by_area ON users (json_extract(body, '$.ownedBy'), created_at) WHERE json_extract(body, '$.ownedBy') IS NOT NULL;
  `,
  `
  CREATE TABLE documents (
    owner TEXT NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (owner, kind)
  ) WITHOUT ROWID;
  `,
  // For searches over all pipelines. The concurrency groups have no pipeline, and are not in them.
  `
  CREATE INDEX aggregates_by_user ON aggregates (json_extract(origin, '$.triggeredBy'), created_at, root_id) WHERE pipeline_id <> '';
  CREATE INDEX aggregates_by_ref ON aggregates (json_extract(origin, '$.trigger.ref'), created_at, root_id) WHERE pipeline_id <> '';
  CREATE INDEX aggregates_by_trigger ON aggregates (json_extract(origin, '$.trigger.kind'), created_at, root_id) WHERE pipeline_id <> '';
  CREATE INDEX aggregates_by_project_status ON aggregates (project_id, status, created_at, root_id) WHERE pipeline_id <> '';
  CREATE INDEX aggregates_by_any_status ON aggregates (status, created_at, root_id) WHERE pipeline_id <> '';
  CREATE INDEX pipelines_by_time ON pipelines (created_at, pipeline_id);
  CREATE INDEX pipelines_by_name ON pipelines (name, pipeline_id);
  `,
  // Runs of the previous version wait to be counted too.
  `
  CREATE TABLE statistics (
    pipeline_id TEXT NOT NULL, day INTEGER NOT NULL, job TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (pipeline_id, day, job)
  ) WITHOUT ROWID;
  CREATE INDEX statistics_by_day ON statistics (day);
  ALTER TABLE aggregates ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX aggregates_uncounted ON aggregates (ended_at, root_id) WHERE counted = 0 AND ended_at IS NOT NULL;
  `,
  `
  CREATE TABLE uploads (
    upload_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, state TEXT NOT NULL, bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL, used_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, writer TEXT NOT NULL,
    body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX uploads_by_project ON uploads (project_id, created_at, upload_id, bytes);
  CREATE INDEX uploads_by_expiry ON uploads (expires_at, upload_id);
  CREATE TABLE upload_uses (
    upload_id TEXT NOT NULL, run_id TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (upload_id, run_id)
  ) WITHOUT ROWID;
  CREATE INDEX upload_uses_by_run ON upload_uses (run_id);
  `,
  // The columns of the audit log repeat what its filters ask for.
  `
  CREATE TABLE audit (
    at INTEGER NOT NULL, audit_id TEXT NOT NULL, tenant_id TEXT, project_id TEXT, actor_id TEXT, operation TEXT NOT NULL,
    object_id TEXT, outcome TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (at, audit_id)
  ) WITHOUT ROWID;
  CREATE INDEX audit_by_tenant ON audit (tenant_id, at, audit_id) WHERE tenant_id IS NOT NULL;
  CREATE INDEX audit_by_project ON audit (project_id, at, audit_id) WHERE project_id IS NOT NULL;
  CREATE INDEX audit_by_actor ON audit (actor_id, at, audit_id) WHERE actor_id IS NOT NULL;
  CREATE INDEX audit_by_operation ON audit (operation, at, audit_id);
  CREATE INDEX audit_by_object ON audit (object_id, at, audit_id) WHERE object_id IS NOT NULL;
  CREATE INDEX audit_by_outcome ON audit (outcome, at, audit_id) WHERE outcome <> 'done';
  `,
  `
  CREATE TABLE area_deletions (owner TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
  `,
  // The index holds the runs with events that are not told. Runs of projects without receivers stay in it.
  `
  CREATE TABLE deliveries (
    delivery_id TEXT PRIMARY KEY, lane TEXT NOT NULL, project_id TEXT NOT NULL, run_id TEXT NOT NULL,
    number INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL, due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL, body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX deliveries_owed ON deliveries (lane, due_at, run_id, number) WHERE state = 'owed';
  CREATE INDEX deliveries_of_run ON deliveries (lane, run_id, number) WHERE state = 'owed';
  CREATE INDEX deliveries_by_time ON deliveries (lane, created_at, delivery_id);
  CREATE INDEX deliveries_by_project ON deliveries (project_id);
  CREATE INDEX deliveries_ended ON deliveries (due_at) WHERE state <> 'owed';
  ALTER TABLE aggregates ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX aggregates_untold ON aggregates (project_id) WHERE told < event_number;
  CREATE INDEX documents_of_webhooks ON documents (owner) WHERE kind = 'webhooks';
  `,
  `
  CREATE TABLE step_notes (
    run_id TEXT NOT NULL, kind TEXT NOT NULL, step_run_id TEXT NOT NULL, token INTEGER NOT NULL, part INTEGER NOT NULL,
    bytes INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run_id, kind, step_run_id, token, part)
  ) WITHOUT ROWID;
  CREATE INDEX step_notes_sizes ON step_notes (run_id, kind, bytes);
  CREATE INDEX step_notes_by_step ON step_notes (step_run_id, run_id);
  `,
  // Nodes of the previous version make tenants and projects without slugs.
  `
  ${giveSlugs("tenants", "tenant_id", "''", "tenant")}
  CREATE UNIQUE INDEX tenants_by_slug ON tenants (json_extract(body, '$.slug'));
  ${giveSlugs("projects", "project_id", "coalesce(json_extract(body, '$.tenantId'), 'default')", "project")}
  CREATE UNIQUE INDEX projects_by_slug
    ON projects (coalesce(json_extract(body, '$.tenantId'), 'default'), json_extract(body, '$.slug'));
  `,
  // For lists that are sorted and filtered at once.
  `
  CREATE INDEX pipelines_by_project ON pipelines (project_id, created_at, pipeline_id);
  CREATE INDEX approvals_by_project ON actors (project_id, status, requested_at, id) WHERE kind = 'approval';
  CREATE INDEX caches_by_last_use ON caches (project_id, used_at DESC, cache_id) WHERE state = 'stored';
  CREATE INDEX users_by_time ON users (created_at, user_id);
  CREATE INDEX uploads_listed ON uploads (project_id, created_at, upload_id) WHERE state <> 'deleting';
  `,
  // The bounds are those of the lanes of notifications.
  `
  CREATE INDEX notifications_of_run ON deliveries (run_id, created_at, delivery_id) WHERE lane >= 'notification/' AND lane < 'notification0';
  CREATE INDEX notifications_of_project ON deliveries (project_id, created_at, delivery_id) WHERE lane >= 'notification/' AND lane < 'notification0';
  DROP INDEX documents_of_webhooks;
  CREATE INDEX documents_by_kind ON documents (kind, owner);
  `,
  // The state is in the index, because SQLite reads the row for a condition that the index alone could answer.
  `
  DROP INDEX uploads_listed;
  CREATE INDEX uploads_listed ON uploads (project_id, created_at, upload_id, state) WHERE state <> 'deleting';
  `,
  // A table of its own for the plugins of tenants and projects: the previous version looks plugins up by name and version alone.
  `
  CREATE TABLE owned_plugins (
    owner TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, package_id TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL, manifest TEXT NOT NULL, PRIMARY KEY (owner, name, version)
  ) WITHOUT ROWID;
  CREATE INDEX owned_plugins_sizes ON owned_plugins (owner, bytes);
  ALTER TABLE plugins ADD COLUMN owner TEXT NOT NULL DEFAULT 'installation';
  `,
  `
  CREATE TABLE system_events (
    log TEXT NOT NULL, number INTEGER NOT NULL, event_id TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (log, number)
  );
  CREATE UNIQUE INDEX system_events_by_id ON system_events (log, event_id);
  `,
  `
  ALTER TABLE agent_events ADD COLUMN step_run_id TEXT;
  ALTER TABLE agent_events ADD COLUMN sequence INTEGER;
  CREATE UNIQUE INDEX agent_events_of_steps ON agent_events (step_run_id, sequence) WHERE sequence IS NOT NULL;
  `,
  `
  CREATE TABLE log_joinings (step_run_id TEXT PRIMARY KEY, from_line INTEGER NOT NULL, due_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX log_joinings_due ON log_joinings (due_at);
  `,
  `
  CREATE TABLE test_histories (
    pipeline_id TEXT NOT NULL, test_id TEXT NOT NULL, flaky INTEGER NOT NULL, failing INTEGER NOT NULL,
    mean_ms INTEGER NOT NULL, seen_at INTEGER NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (pipeline_id, test_id)
  );
  CREATE INDEX tests_flaky ON test_histories (pipeline_id, flaky, test_id) WHERE flaky > 0;
  CREATE INDEX tests_failing ON test_histories (pipeline_id, failing, test_id) WHERE failing > 0;
  CREATE INDEX tests_slowest ON test_histories (pipeline_id, mean_ms, test_id);
  CREATE INDEX tests_by_age ON test_histories (pipeline_id, seen_at, test_id);
  CREATE INDEX tests_unseen ON test_histories (seen_at);
  `,
  // The body of a delivery is the last column: lists do not read it.
  `
  CREATE TABLE hooks (
    hook_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX hooks_by_name ON hooks (project_id, name);
  CREATE TABLE hook_deliveries (
    delivery_id TEXT PRIMARY KEY, hook_id TEXT NOT NULL, project_id TEXT NOT NULL, sender_id TEXT NOT NULL,
    state TEXT NOT NULL, received_at INTEGER NOT NULL, due_at INTEGER NOT NULL, version INTEGER NOT NULL,
    record TEXT NOT NULL, body TEXT
  );
  CREATE UNIQUE INDEX hook_deliveries_by_sender ON hook_deliveries (hook_id, sender_id);
  CREATE INDEX hook_deliveries_owed ON hook_deliveries (hook_id, received_at, delivery_id, due_at) WHERE state = 'owed';
  CREATE INDEX hook_deliveries_by_time ON hook_deliveries (hook_id, received_at, delivery_id);
  CREATE INDEX hook_deliveries_by_project ON hook_deliveries (project_id);
  CREATE INDEX hook_deliveries_ended ON hook_deliveries (due_at) WHERE state <> 'owed';
  `,
  // The bounds are those of the lanes of commit statuses.
  `
  CREATE INDEX statuses_of_run ON deliveries (run_id, created_at, delivery_id) WHERE lane >= 'status/' AND lane < 'status0';
  `,
  // Jobs that deploy keep the time of their start in `requested_at`. The status is in the indexes for conditions on it.
  `
  ALTER TABLE actors ADD COLUMN environment TEXT;
  CREATE INDEX deployments_by_time ON actors (project_id, environment, requested_at, id, status) WHERE environment IS NOT NULL;
  CREATE INDEX deployments_by_pipeline ON actors (project_id, environment, pipeline_id, requested_at, id, status)
    WHERE environment IS NOT NULL;
  `,
  // For lists of deliveries that are filtered: without these a list reads every delivery of its receiver.
  `
  CREATE INDEX deliveries_by_state ON deliveries (lane, state, created_at, delivery_id);
  CREATE INDEX deliveries_by_run ON deliveries (lane, run_id, created_at, delivery_id);
  CREATE INDEX notifications_by_state ON deliveries (project_id, state, created_at, delivery_id) WHERE lane >= 'notification/' AND lane < 'notification0';
  CREATE INDEX hook_deliveries_by_state ON hook_deliveries (hook_id, state, received_at, delivery_id);
  `,
  `
  CREATE TABLE run_images (
    run_id TEXT NOT NULL, image TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run_id, image)
  ) WITHOUT ROWID;
  `,
  // Each load of a run asks for its commands that wait. Answered ones stay as long as their runs.
  `
  CREATE INDEX inbox_of_root ON inbox (root_id, seq) WHERE verdict IS NULL;
  CREATE INDEX tokens_by_expiry ON tokens (json_extract(body, '$.expiresAt'));
  `,
  // Without row numbers, whole records stand in all levels of the tree: four in a page, and eight levels for 100,000.
  `
  CREATE TABLE numbered_deliveries (
    delivery_id TEXT PRIMARY KEY, lane TEXT NOT NULL, project_id TEXT NOT NULL, run_id TEXT NOT NULL,
    number INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL, due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL, body TEXT NOT NULL
  );
  INSERT INTO numbered_deliveries SELECT * FROM deliveries ORDER BY created_at;
  DROP TABLE deliveries;
  ALTER TABLE numbered_deliveries RENAME TO deliveries;
  CREATE INDEX deliveries_owed ON deliveries (lane, due_at, run_id, number) WHERE state = 'owed';
  CREATE INDEX deliveries_of_run ON deliveries (lane, run_id, number) WHERE state = 'owed';
  CREATE INDEX deliveries_by_time ON deliveries (lane, created_at, delivery_id);
  CREATE INDEX deliveries_by_project ON deliveries (project_id);
  CREATE INDEX deliveries_ended ON deliveries (due_at) WHERE state <> 'owed';
  CREATE INDEX notifications_of_run ON deliveries (run_id, created_at, delivery_id) WHERE lane >= 'notification/' AND lane < 'notification0';
  CREATE INDEX notifications_of_project ON deliveries (project_id, created_at, delivery_id) WHERE lane >= 'notification/' AND lane < 'notification0';
  CREATE INDEX statuses_of_run ON deliveries (run_id, created_at, delivery_id) WHERE lane >= 'status/' AND lane < 'status0';
  CREATE INDEX deliveries_by_state ON deliveries (lane, state, created_at, delivery_id);
  CREATE INDEX deliveries_by_run ON deliveries (lane, run_id, created_at, delivery_id);
  CREATE INDEX notifications_by_state ON deliveries (project_id, state, created_at, delivery_id) WHERE lane >= 'notification/' AND lane < 'notification0';
  `,
];
