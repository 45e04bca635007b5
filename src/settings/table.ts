/**
 * The table of all settings that the program reads from its environment, with their defaults and meanings. `npm run
 * generate` writes docs/configuration.md from this table. `config.ts` checks the values, and reads only variables that
 * have a row here.
 */
import { GIT_SETTING_ROWS } from "./git.ts";
import { MAIL_SETTING_ROWS } from "./mail.ts";
import { OBJECT_STORAGE_SETTING_ROWS } from "./object-storage.ts";
import { PROGRAM_SETTINGS } from "./program.ts";
import type { Setting } from "./setting.ts";
import { TRACE_SETTING_ROWS } from "./traces.ts";

export const SETTINGS = {
  MILLRACE_ROLES: {
    group: "Roles and addresses",
    standard: "edge,gateway,worker",
    meaning: "The roles of a node, separated by commas.",
  },
  MILLRACE_HTTP_ADDRESS: {
    group: "Roles and addresses",
    standard: null,
    without: "`:8080`; embedded `127.0.0.1:8080`",
    meaning: "Where the edge listens, `host:port`. An empty host is every interface, port 0 a free port.",
  },
  MILLRACE_TRUSTED_PROXIES: {
    group: "Roles and addresses",
    standard: null,
    without: "none",
    meaning:
      "Networks of proxies before the edge, such as `10.0.0.0/8,fd00::1`. The address of a caller is read from their `X-Forwarded-For`; [wrong logins](operations.md#wrong-logins) are counted by it.",
  },
  MILLRACE_CALLS_PER_TOKEN: {
    group: "Roles and addresses",
    standard: "1000000",
    meaning: "Calls of one token in a minute at one edge; more are [429](http-api.md#rate-limits). `0` is no limit.",
  },
  MILLRACE_CALLS_PER_ADDRESS: {
    group: "Roles and addresses",
    standard: "600",
    meaning:
      "Calls of one address in a minute at one edge that have no token, or one that proves nothing. `0` is no limit.",
  },
  MILLRACE_CORS_ORIGINS: {
    group: "Roles and addresses",
    standard: null,
    without: "none",
    meaning:
      "Origins whose pages may [call the API from browsers](http-api.md#calls-from-browsers), such as `https://ci.example.com`, separated by commas; `*` for all.",
  },
  MILLRACE_PUBLIC_URL: {
    group: "Roles and addresses",
    standard: null,
    without: "the address of the listener",
    meaning:
      "The address that users call, such as `https://ci.example.com`, without a path. Links, redirects and [the sessions of browsers](operations.md#browsers) need it behind a proxy. Jobs with [permissions](definition.md#permissions) need it on edges and gateways.",
  },
  MILLRACE_GRPC_ADDRESS: {
    group: "Roles and addresses",
    standard: "127.0.0.1:9090",
    meaning: "Where the gateway listens.",
  },
  MILLRACE_METRICS_ADDRESS: {
    group: "Roles and addresses",
    standard: "127.0.0.1:9464",
    meaning: "Where every node serves `/metrics`, without a token.",
  },
  MILLRACE_GRPC_REFLECTION: {
    group: "Roles and addresses",
    standard: "on",
    meaning: "`off`: the gateway does not describe its contract to tools.",
  },
  REDIS_URL: {
    group: "Redis and the store",
    standard: null,
    without: "none: a private server",
    meaning: "Redis 7 or Valkey with `maxmemory-policy noeviction`; a node refuses to start on another policy.",
  },
  REDIS_CLUSTER_NODES: {
    group: "Redis and the store",
    standard: null,
    without: "none",
    meaning: "`host:port,...` of a Redis Cluster, instead of `REDIS_URL`.",
  },
  MONGODB_URL: {
    group: "Redis and the store",
    standard: null,
    without: "none: SQLite",
    meaning:
      "A MongoDB replica set. All writes have the write concern `majority`. A call waits 60 s for its answer and 30 s for a connection, unless the URL has `socketTimeoutMS` or `waitQueueTimeoutMS`.",
  },
  MONGODB_DATABASE: { group: "Redis and the store", standard: "millrace", meaning: "The database in MongoDB." },
  MILLRACE_STORE_LIMIT: {
    group: "Redis and the store",
    standard: null,
    without: "none",
    meaning:
      "SQLite: the largest size of its file, such as `20GB`. [When it is full](operations.md#the-embedded-store-is-full), writes answer 503. Artifacts are stored beside the file and do not count.",
  },
  MAILBOX_SHARDS: {
    group: "The installation as a whole",
    standard: null,
    without: "the number of the installation; 64 for a new one",
    meaning:
      "The number of shards. The first start of an installation stores it, and a node with another value refuses to start; [`millrace shards set`](operations.md#the-number-of-shards) changes it.",
  },
  EVENT_NAMESPACE: { group: "The installation as a whole", standard: "svc", meaning: "The first word of event types." },
  MILLRACE_SIGNING_KEY: {
    group: "Keys and tokens",
    standard: null,
    without: "SQLite: made and stored in the data directory; MongoDB: required",
    meaning: "The key of access tokens, at least 32 bytes, the same on every edge and gateway.",
  },
  MILLRACE_MASTER_KEY: {
    group: "Keys and tokens",
    standard: null,
    without: "SQLite: made and stored in the data directory; MongoDB: required",
    meaning:
      "The key that seals [secrets](operations.md#secrets): 32 bytes as 64 hexadecimal digits or as base64. With several keys, separated by commas, the first one seals.",
  },
  MILLRACE_OIDC_FILE: {
    group: "Keys and tokens",
    standard: null,
    without: "none: users log in with passwords",
    meaning: "A JSON file with [OpenID Connect providers](operations.md#openid-connect), on every edge.",
  },
  MILLRACE_WORKLOAD_ISSUERS_FILE: {
    group: "Keys and tokens",
    standard: null,
    without: "none: agents register with registration tokens",
    meaning:
      "A JSON file with the issuers whose [identity tokens](operations.md#agents-with-identity-tokens) let agents register, on every gateway.",
  },
  MILLRACE_BOOTSTRAP_TOKEN: {
    group: "Keys and tokens",
    standard: null,
    without: "made and shown once",
    meaning: "The first administrator's token, 32 characters or more.",
  },
  MILLRACE_HTTP_TLS_CERT_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none: plaintext",
    meaning: "PEM file with the certificate chain of the edge; see [TLS](operations.md#tls).",
  },
  MILLRACE_HTTP_TLS_KEY_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none",
    meaning: "PEM file with its key.",
  },
  MILLRACE_HTTP_TLS_CLIENT_CA_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none",
    meaning: "PEM file of authorities. Callers must present a certificate that one of them signed.",
  },
  MILLRACE_GRPC_TLS_CERT_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none: plaintext",
    meaning: "The same for the gateway.",
  },
  MILLRACE_GRPC_TLS_KEY_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none",
    meaning: "The same for the gateway.",
  },
  MILLRACE_GRPC_TLS_CLIENT_CA_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none",
    meaning: "The same for the gateway.",
  },
  MILLRACE_METRICS_TLS_CERT_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none: plaintext",
    meaning: "The same for `/metrics`.",
  },
  MILLRACE_METRICS_TLS_KEY_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none",
    meaning: "The same for `/metrics`.",
  },
  MILLRACE_METRICS_TLS_CLIENT_CA_FILE: {
    group: "TLS of the listeners",
    standard: null,
    without: "none",
    meaning: "The same for `/metrics`.",
  },
  MILLRACE_MAX_RUNNING_PER_PROJECT: {
    group: "Quotas",
    standard: null,
    without: "none",
    meaning: "How many jobs of a project may run at once; see [quotas](operations.md#quotas). The same on all nodes.",
  },
  MILLRACE_QUOTAS: {
    group: "Quotas",
    standard: null,
    without: "none",
    meaning: "`project:<id>=<number>` and `label:<key>=<value>=<number>`, separated by commas. The same on all nodes.",
  },
  MILLRACE_KEEP_RUNS: {
    group: "Retention",
    standard: "90d",
    meaning:
      "How long runs are kept after their end; see [retention](operations.md#retention). The same on all workers.",
  },
  MILLRACE_KEEP_LOGS: {
    group: "Retention",
    standard: "30d",
    meaning: "The same for their logs, which may be removed before the run.",
  },
  MILLRACE_KEEP_ARTIFACTS: { group: "Retention", standard: "forever", meaning: "The same for their artifacts." },
  MILLRACE_KEEP_EVENTS: {
    group: "Retention",
    standard: "forever",
    meaning: "The same for their events, and with them the timeline of the run.",
  },
  MILLRACE_KEEP_RECORDS: {
    group: "Retention",
    standard: "30d",
    meaning: "The same for request ids, dead letters and other records that belong to no run.",
  },
  MILLRACE_KEEP_AUDIT: {
    group: "Retention",
    standard: "400d",
    meaning:
      "How long entries of the [audit log](operations.md#the-audit-log) and [system events](events.md#system-events) are kept. The same on all workers.",
  },
  MILLRACE_STEP_LOG_LINES: {
    group: "Logs",
    standard: "1000000",
    meaning:
      "How many lines of a step are stored; see [the limit of a log](operations.md#the-limit-of-a-log). The same on all gateways. A project may have a limit of its own.",
  },
  MILLRACE_STEP_LOG_LIMIT: {
    group: "Logs",
    standard: "100MB",
    meaning: "How many bytes of a step's lines are stored. The limit that is reached first counts.",
  },
  MILLRACE_ARTIFACT_FILE_LIMIT: {
    group: "Artifacts and caches",
    standard: "2GB",
    meaning: "The largest file that a step may keep as an artifact or part of one.",
  },
  MILLRACE_ARTIFACT_LIMIT: {
    group: "Artifacts and caches",
    standard: "4GB",
    meaning: "The largest artifact, with all its files.",
  },
  MILLRACE_ARTIFACTS_PER_RUN_LIMIT: {
    group: "Artifacts and caches",
    standard: "20GB",
    meaning: "All artifacts of a run together.",
  },
  MILLRACE_ARTIFACT_RETENTION: {
    group: "Artifacts and caches",
    standard: "30d",
    meaning: "How long an artifact is kept whose step names no `retention`.",
  },
  MILLRACE_CACHE_ENTRY_LIMIT: {
    group: "Artifacts and caches",
    standard: "2GB",
    meaning: "The largest entry of a [cache](operations.md#caches), packed.",
  },
  MILLRACE_CACHE_LIMIT: {
    group: "Artifacts and caches",
    standard: "10GB",
    meaning: "All cache entries of a project together. The least recently used go first.",
  },
  MILLRACE_CACHE_RETENTION: {
    group: "Artifacts and caches",
    standard: "7d",
    meaning: "How long a cache entry stays that no step uses.",
  },
  MILLRACE_UPLOAD_LIMIT: {
    group: "Artifacts and caches",
    standard: "2GB",
    meaning: "The largest [upload](operations.md#uploads).",
  },
  MILLRACE_UPLOADS_PER_PROJECT_LIMIT: {
    group: "Artifacts and caches",
    standard: "20GB",
    meaning: "All uploads of a project together, with those that are not complete.",
  },
  MILLRACE_UPLOAD_RETENTION: {
    group: "Artifacts and caches",
    standard: "30d",
    meaning: "How long an upload is kept after its last use when no kept run uses it.",
  },
  MILLRACE_UNFINISHED_UPLOAD_RETENTION: {
    group: "Artifacts and caches",
    standard: "1d",
    meaning: "How long an upload that is not complete may rest before it is deleted.",
  },
  ...OBJECT_STORAGE_SETTING_ROWS,
  MILLRACE_OUTGOING_NETWORKS: {
    group: "Telling others",
    standard: null,
    without: "none",
    meaning:
      "Networks that [webhooks](http-api.md#webhooks) may reach besides the public internet, such as `10.0.0.0/8,127.0.0.1`. Users choose the addresses of webhooks, so allow no network with services that trust their callers. Of workers.",
  },
  ...MAIL_SETTING_ROWS,
  MILLRACE_DATA_DIR: {
    group: "Nodes and agents",
    standard: null,
    without: "`~/.local/share/millrace`, or a folder of the command's own",
    meaning: "SQLite and the private Redis of a node; identity, journal and workspaces of an agent.",
  },
  MILLRACE_AGENTS_PER_SECOND: {
    group: "Roles and addresses",
    standard: "100",
    meaning:
      "How many agents a gateway lets in per second, 1 to 10000. [When more come at once](operations.md#many-agents-at-once), those that hold steps go first.",
  },
  MILLRACE_REGISTRATION_TOKEN: {
    group: "Nodes and agents",
    standard: null,
    without: "none",
    meaning: "Lets agents register, 32 characters or more. A node accepts this token, an agent presents it.",
  },
  LOG_LEVEL: {
    group: "Nodes and agents",
    standard: null,
    without: "`info`; of `start`, in a file",
    meaning: "`debug`, `info`, `warn`, `error` or `silent`.",
  },
  ...TRACE_SETTING_ROWS,
  ...GIT_SETTING_ROWS,
  ...PROGRAM_SETTINGS,
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
