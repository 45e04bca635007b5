/**
 * Reads and checks the environment: all variables of millrace, once, at the start. Flags of the command line replace
 * variables before they are read, so that a value is checked in one place, wherever it comes from.
 */
import { hostname } from "node:os";
import { z } from "zod";
import {
  type Address,
  address,
  age,
  bound,
  BYTES_OF_UNIT,
  cluster,
  DAY_MS,
  diskFloor,
  duration,
  labels,
  masterKeys,
  type Network,
  networks,
  origins,
  publicUrl,
  quotas,
  size,
  wholeNumber,
} from "./values.ts";
import type { ArtifactRules, UploadRules } from "../domain/artifacts.ts";
import type { CacheRules } from "../domain/caches.ts";
import type { DiskFloor } from "../domain/disk-space.ts";
import { MillraceError, type Problem } from "../domain/errors.ts";
import { toPointer } from "../domain/json-pointer.ts";
import type { Labels } from "../domain/labels.ts";
import { MAX_RUNNING, type Quotas } from "../domain/quotas.ts";
import { type LogLimit, MAX_LOG_LINES, type Retention } from "../domain/retention.ts";
import { UNBOUNDED } from "../domain/retention-text.ts";
import type { SettingName } from "./table.ts";
import { GIT_SETTINGS, type GitSettings, gitSettings } from "./git.ts";
import {
  aimlessObjectSettings,
  OBJECT_STORAGE_SETTINGS,
  objectStorage,
  type ObjectStorageSettings,
} from "./object-storage.ts";
import { MAIL_SETTINGS, type MailSettings, mailServer, missingMailSettings } from "./mail.ts";
import { type TlsFileNames, type TlsListener, tlsOf, tlsProblems, TLS_SETTINGS } from "./tls.ts";
import { PLACE_SETTINGS, type PlaceSettings, placeSettings } from "./place.ts";
import { TRACE_SETTINGS, type TraceTarget, traceTarget } from "./traces.ts";

export const NODE_ROLES = ["edge", "gateway", "worker"] as const;
export type NodeRole = (typeof NODE_ROLES)[number];

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface NodeConfig {
  readonly roles: readonly NodeRole[];
  /** Null: the node starts an embedded server. */
  readonly redis: { readonly url: string } | { readonly cluster: readonly Address[] } | null;
  /** Null: the node opens SQLite in the data directory. */
  readonly mongodb: { readonly url: string; readonly database: string } | null;
  readonly http: Address;
  readonly grpc: Address;
  readonly metrics: Address;
  /** Null: the listener speaks plaintext. */
  readonly tls: Readonly<Record<TlsListener, TlsFileNames | null>>;
  /** Proxies before the edge that are believed when they name a caller. */
  readonly trustedProxies: readonly Network[];
  /** Calls in a minute; null for no limit. */
  readonly rateLimits: { readonly token: number | null; readonly address: number | null };
  /** Whose pages may call the API. */
  readonly origins: readonly string[] | "*";
  /** The address that users call, without a path; null for the address of the listener. */
  readonly publicUrl: string | null;
  /** Where the spans of ended runs are sent, the whole URL, and with which headers; null: nowhere. */
  readonly traces: TraceTarget | null;
  /** The file with the OpenID Connect providers, or null. */
  readonly oidcFile: string | null;
  /** The file with the issuers whose identity tokens let agents register, or null. */
  readonly workloadIssuersFile: string | null;
  /** Whether the gateway describes its contract to tools (gRPC reflection). */
  readonly grpcReflection: boolean;
  /** Agents that a gateway admits in a second. */
  readonly agentsPerSecond: number;
  /** Null: the command chooses. */
  readonly dataDir: string | null;
  /** The maximum size of the SQLite file, bytes; null for no bound. */
  readonly storeLimit: number | null;
  /** How much of a step's log is stored, unless its project has a limit of its own. */
  readonly logLimit: LogLimit;
  readonly artifacts: ArtifactRules;
  /** Must be the same on all gateways and workers. */
  readonly caches: CacheRules;
  /** Bounds on the size and the age of uploads. */
  readonly uploads: UploadRules;
  /** What keeps the content of artifacts, caches, uploads and plugins; null: files or GridFS. */
  readonly objectStorage: ObjectStorageSettings | null;
  /** The networks that webhooks may reach besides the public internet. */
  readonly outgoingNetworks: readonly Network[];
  /** How nodes reach the repositories of definitions. */
  readonly git: GitSettings;
  /** Null for an installation that sends no e-mail. */
  readonly mail: MailSettings | null;
  /** Null: the number of the installation, which the store keeps. */
  readonly shards: number | null;
  readonly eventNamespace: string;
  /** How many jobs may run at once. Must be the same on all nodes. */
  readonly quotas: Quotas;
  /** The retention of projects without rules of their own. Must be the same on all workers. */
  readonly retention: Retention;
  /** The variables that are set. */
  readonly given: readonly string[];
  /** The HMAC key of access tokens, at least 32 bytes. Null: an installation on SQLite makes and stores its own. */
  readonly signingKey: Uint8Array | null;
  /**
   * The keys of secrets, 32 bytes each; the first one seals. Empty: an installation on SQLite makes and stores its own.
   */
  readonly masterKeys: readonly Uint8Array[];
  /** The first administrator token, as the operator chose it. Null: the first start makes one. */
  readonly bootstrapToken: string | null;
  /** A registration token that agents may use from the first start, or null. */
  readonly registrationToken: string | null;
  /** Null: the command chooses. */
  readonly logLevel: LogLevel | null;
}

export interface AgentConfig extends PlaceSettings {
  readonly gateway: Address;
  /** Null: plaintext, which is allowed only to a gateway on this machine. */
  readonly security: "tls" | "plaintext" | null;
  /** PEM file of the authorities to trust in place of the system's, or null. */
  readonly caFile: string | null;
  /** PEM files with the certificate and key that the agent presents to a gateway that asks for them, or null. */
  readonly clientCertificate: { readonly certificateFile: string; readonly keyFile: string } | null;
  readonly registrationToken: string | null;
  /** File with an identity token of a trusted issuer, which is presented in place of a registration token. */
  readonly identityTokenFile: string | null;
  readonly name: string;
  /** How many jobs the agent runs at the same time. */
  readonly slots: number;
  /** After how many jobs the agent ends; null: never. */
  readonly maxJobs: number | null;
  /** How long the agent waits for a job before it ends; null: indefinitely. */
  readonly idleExitMs: number | null;
  readonly labels: Labels;
  /** Whether the agent adds labels that describe its machine (`os`, `arch`, `hostname`, `cores`, `step-isolation`). */
  readonly facts: boolean;
  /** Folders with plugins that the operator installed. */
  /** Null: steps run as the agent. */
  readonly stepUser: string | null;
  readonly pluginDirs: readonly string[];
  /** The disk space for fetched plugins, bytes. */
  readonly pluginCache: number;
  readonly dataDir: string | null;
  /** How long jobs may continue after SIGTERM. */
  readonly drainTimeoutMs: number;
  readonly minFreeDisk: DiskFloor;
  /** The disk space for log lines that cannot be sent. */
  readonly logBufferBytes: number;
  readonly logLevel: LogLevel | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const roles = z
  .string()
  .transform((text) => text.split(",").map((role) => role.trim()))
  .pipe(z.array(z.enum(NODE_ROLES, { error: `must name roles out of ${NODE_ROLES.join(", ")}, separated by commas` })));

const url = (pattern: RegExp, schemes: string) => z.string().regex(pattern, `must begin with ${schemes}`);
// A person may choose these tokens, and they are stored under a fast hash: a short one could be guessed.
const chosenToken = z.string().regex(/^[\x21-\x7e]{32,512}$/, "must have 32 to 512 characters without spaces");
const logLevel = z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(", ")}` });

/** Makes the compiler refuse a variable that has no row in the table of settings (settings.ts). */
type Described = Partial<Record<SettingName, z.ZodType>>;

const file = z.string().optional();
const nodeVariables = z
  .object({
    ...TLS_SETTINGS,
    MILLRACE_ROLES: roles.default([...NODE_ROLES]),
    REDIS_URL: url(/^(\/|(rediss?|redis\+unix):\/\/)/, "redis://, rediss://, redis+unix:// or /").optional(),
    REDIS_CLUSTER_NODES: cluster.optional(),
    MONGODB_URL: url(/^mongodb(\+srv)?:\/\//, "mongodb:// or mongodb+srv://").optional(),
    MONGODB_DATABASE: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,63}$/, "must have 1 to 63 letters, digits, _ or -")
      .default("millrace"),
    MILLRACE_HTTP_ADDRESS: address.optional(),
    MILLRACE_TRUSTED_PROXIES: networks.default([]),
    MILLRACE_CALLS_PER_TOKEN: wholeNumber(0, 1_000_000_000).default(1_000_000),
    MILLRACE_CALLS_PER_ADDRESS: wholeNumber(0, 1_000_000_000).default(600),
    MILLRACE_CORS_ORIGINS: origins.default([]),
    MILLRACE_PUBLIC_URL: publicUrl.optional(),
    ...TRACE_SETTINGS,
    MILLRACE_OIDC_FILE: file,
    MILLRACE_WORKLOAD_ISSUERS_FILE: file,
    MILLRACE_GRPC_ADDRESS: address.default({ host: "127.0.0.1", port: 9090 }),
    MILLRACE_METRICS_ADDRESS: address.default({ host: "127.0.0.1", port: 9464 }),
    MILLRACE_AGENTS_PER_SECOND: wholeNumber(1, 10_000).default(100),
    MILLRACE_GRPC_REFLECTION: z.enum(["on", "off"], { error: "must be on or off" }).default("on"),
    MILLRACE_DATA_DIR: z.string().optional(),
    MILLRACE_STORE_LIMIT: size.optional(),
    MILLRACE_STEP_LOG_LINES: wholeNumber(1, MAX_LOG_LINES).default(1_000_000),
    MILLRACE_STEP_LOG_LIMIT: size.default(100 * BYTES_OF_UNIT.MB),
    MILLRACE_ARTIFACT_FILE_LIMIT: size.default(2 * BYTES_OF_UNIT.GB),
    MILLRACE_ARTIFACT_LIMIT: size.default(4 * BYTES_OF_UNIT.GB),
    MILLRACE_ARTIFACTS_PER_RUN_LIMIT: size.default(20 * BYTES_OF_UNIT.GB),
    MILLRACE_ARTIFACT_RETENTION: age(3_650, "30d").default(30 * DAY_MS),
    MILLRACE_CACHE_ENTRY_LIMIT: size.default(2 * BYTES_OF_UNIT.GB),
    MILLRACE_CACHE_LIMIT: size.default(10 * BYTES_OF_UNIT.GB),
    MILLRACE_CACHE_RETENTION: age(3_650, "7d").default(7 * DAY_MS),
    MILLRACE_UPLOAD_LIMIT: size.default(2 * BYTES_OF_UNIT.GB),
    MILLRACE_UPLOADS_PER_PROJECT_LIMIT: size.default(20 * BYTES_OF_UNIT.GB),
    MILLRACE_UPLOAD_RETENTION: age(3_650, "30d").default(30 * DAY_MS),
    MILLRACE_OUTGOING_NETWORKS: networks.default([]),
    ...OBJECT_STORAGE_SETTINGS,
    ...MAIL_SETTINGS,
    ...GIT_SETTINGS,
    MILLRACE_UNFINISHED_UPLOAD_RETENTION: age(365, "1d").default(DAY_MS),
    MAILBOX_SHARDS: wholeNumber(1, 1024).optional(),
    EVENT_NAMESPACE: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,62}$/, "must be one lower-case word")
      .default("svc"),
    MILLRACE_MAX_RUNNING_PER_PROJECT: wholeNumber(1, MAX_RUNNING).optional(),
    MILLRACE_QUOTAS: quotas.default({ projects: new Map(), labels: [] }),
    MILLRACE_KEEP_RUNS: bound.default({ ...UNBOUNDED, ageMs: 90 * DAY_MS }),
    MILLRACE_KEEP_LOGS: bound.default({ ...UNBOUNDED, ageMs: 30 * DAY_MS }),
    MILLRACE_KEEP_ARTIFACTS: bound.default(UNBOUNDED),
    MILLRACE_KEEP_EVENTS: bound.default(UNBOUNDED),
    MILLRACE_KEEP_RECORDS: age(36_500, "30d").default(30 * DAY_MS),
    MILLRACE_KEEP_AUDIT: age(36_500, "400d").default(400 * DAY_MS),
    MILLRACE_SIGNING_KEY: z
      .string()
      .refine((text) => Buffer.byteLength(text) >= 32, "must have at least 32 bytes")
      .optional(),
    MILLRACE_MASTER_KEY: masterKeys.optional(),
    MILLRACE_BOOTSTRAP_TOKEN: chosenToken.optional(),
    MILLRACE_REGISTRATION_TOKEN: chosenToken.optional(),
    LOG_LEVEL: logLevel.optional(),
  } satisfies Described)
  .check(({ value, issues }) => {
    const refuse = (variable: string, message: string) =>
      issues.push({ code: "custom", input: undefined, path: [variable], message });
    if (value.REDIS_URL !== undefined && value.REDIS_CLUSTER_NODES !== undefined) {
      refuse("REDIS_CLUSTER_NODES", "and REDIS_URL exclude each other: set one of them");
    }
    if (value.MONGODB_URL !== undefined && value.MILLRACE_STORE_LIMIT !== undefined) {
      refuse("MILLRACE_STORE_LIMIT", "bounds SQLite alone, and MONGODB_URL names another store: set one of them");
    }
    for (const name of aimlessObjectSettings(value))
      refuse(name, "is read with MILLRACE_OBJECT_STORAGE only: set both");
    for (const name of missingMailSettings(value)) refuse(name, "is required with the other settings of e-mails");
    for (const [name, message] of tlsProblems(value)) refuse(name, message);
    // Without shared keys each node would make its own: it would refuse the access tokens of the others and could not
    // read their secrets.
    if (value.MONGODB_URL === undefined || isWorkerOnly(value.MILLRACE_ROLES)) return;
    if (value.MILLRACE_SIGNING_KEY === undefined) {
      refuse(
        "MILLRACE_SIGNING_KEY",
        "is required with MONGODB_URL: set the same value, at least 32 bytes, on every node",
      );
    }
    if (value.MILLRACE_MASTER_KEY === undefined) {
      refuse(
        "MILLRACE_MASTER_KEY",
        "is required with MONGODB_URL: set the same value, 32 random bytes as 64 hexadecimal digits, on every node",
      );
    }
  });

const agentVariables = z
  .object({
    MILLRACE_GATEWAY: address.default({ host: "127.0.0.1", port: 9090 }),
    MILLRACE_GATEWAY_SECURITY: z.enum(["tls", "plaintext"], { error: "must be tls or plaintext" }).optional(),
    MILLRACE_GATEWAY_CA_FILE: file,
    MILLRACE_GATEWAY_CERT_FILE: file,
    MILLRACE_GATEWAY_KEY_FILE: file,
    MILLRACE_REGISTRATION_TOKEN: z.string().optional(),
    MILLRACE_IDENTITY_TOKEN_FILE: file,
    MILLRACE_AGENT_NAME: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must have 1 to 128 letters, digits, ., _ or -")
      .optional(),
    MILLRACE_AGENT_SLOTS: wholeNumber(1, 1000).default(1),
    MILLRACE_AGENT_MAX_JOBS: wholeNumber(1, 1_000_000).optional(),
    MILLRACE_AGENT_IDLE_EXIT: duration(1_000, 604_800_000, "from 1s to 7d").optional(),
    MILLRACE_AGENT_LABELS: labels.default({}),
    MILLRACE_AGENT_FACTS: z.enum(["on", "off"], { error: "must be on or off" }).default("on"),
    MILLRACE_AGENT_DRAIN_TIMEOUT: duration(0, 86_400_000, "up to 24h").default(25_000),
    MILLRACE_AGENT_MIN_FREE_DISK: diskFloor.default({ bytes: 2 ** 30, percent: 5 }),
    ...PLACE_SETTINGS,
    MILLRACE_AGENT_LOG_BUFFER: z.union([z.literal("0").transform(() => 0), size]).default(256 * 2 ** 20),
    MILLRACE_STEP_USER: z.string().optional(),
    MILLRACE_AGENT_PLUGIN_DIRS: z
      .string()
      .transform((text) => text.split(",").map((dir) => dir.trim()))
      .pipe(z.array(z.string().startsWith("/", "must be absolute paths separated by commas")))
      .default([]),
    MILLRACE_AGENT_PLUGIN_CACHE: size.default(BYTES_OF_UNIT.GB),
    MILLRACE_DATA_DIR: z.string().optional(),
    LOG_LEVEL: logLevel.optional(),
  } satisfies Described)
  .check(({ value, issues }) => {
    const { MILLRACE_GATEWAY_CERT_FILE: certificate, MILLRACE_GATEWAY_KEY_FILE: key } = value;
    if ((certificate === undefined) === (key === undefined)) return;
    const [missing, set] = certificate === undefined ? ["CERT", "KEY"] : ["KEY", "CERT"];
    const message = `is required with MILLRACE_GATEWAY_${set}_FILE`;
    issues.push({ code: "custom", input: undefined, path: [`MILLRACE_GATEWAY_${missing}_FILE`], message });
  });

/**
 * The problem with `text` as the value of a variable of an agent, in the form `must be ...`; undefined when the value
 * is valid.
 */
export function agentVariableProblem(variable: AgentVariable, text: string): string | undefined {
  return agentVariables.shape[variable].safeParse(text).error?.issues[0]?.message;
}

export type AgentVariable = keyof typeof agentVariables.shape;

/** Reads the settings of a node. Throws `malformed_request`, which lists all problems and never quotes a value. */
export function readNodeConfig(environment: Environment): NodeConfig {
  const read = check(nodeVariables, environment);
  const embedded =
    read.REDIS_URL === undefined && read.REDIS_CLUSTER_NODES === undefined && read.MONGODB_URL === undefined;
  return {
    roles: read.MILLRACE_ROLES,
    redis:
      read.REDIS_URL !== undefined
        ? { url: read.REDIS_URL }
        : read.REDIS_CLUSTER_NODES !== undefined
          ? { cluster: read.REDIS_CLUSTER_NODES }
          : null,
    mongodb: read.MONGODB_URL === undefined ? null : { url: read.MONGODB_URL, database: read.MONGODB_DATABASE },
    http: read.MILLRACE_HTTP_ADDRESS ?? { host: embedded ? "127.0.0.1" : "", port: 8080 },
    grpc: read.MILLRACE_GRPC_ADDRESS,
    metrics: read.MILLRACE_METRICS_ADDRESS,
    tls: { http: tlsOf(read, "HTTP"), grpc: tlsOf(read, "GRPC"), metrics: tlsOf(read, "METRICS") },
    trustedProxies: read.MILLRACE_TRUSTED_PROXIES,
    rateLimits: { token: read.MILLRACE_CALLS_PER_TOKEN || null, address: read.MILLRACE_CALLS_PER_ADDRESS || null },
    origins: read.MILLRACE_CORS_ORIGINS,
    publicUrl: read.MILLRACE_PUBLIC_URL ?? null,
    traces: traceTarget(read),
    oidcFile: read.MILLRACE_OIDC_FILE ?? null,
    workloadIssuersFile: read.MILLRACE_WORKLOAD_ISSUERS_FILE ?? null,
    grpcReflection: read.MILLRACE_GRPC_REFLECTION === "on",
    agentsPerSecond: read.MILLRACE_AGENTS_PER_SECOND,
    dataDir: read.MILLRACE_DATA_DIR ?? null,
    storeLimit: read.MILLRACE_STORE_LIMIT ?? null,
    logLimit: { lines: read.MILLRACE_STEP_LOG_LINES, bytes: read.MILLRACE_STEP_LOG_LIMIT },
    artifacts: {
      maxFileBytes: read.MILLRACE_ARTIFACT_FILE_LIMIT,
      maxArtifactBytes: read.MILLRACE_ARTIFACT_LIMIT,
      maxRunBytes: read.MILLRACE_ARTIFACTS_PER_RUN_LIMIT,
      retentionMs: read.MILLRACE_ARTIFACT_RETENTION,
    },
    caches: {
      maxEntryBytes: read.MILLRACE_CACHE_ENTRY_LIMIT,
      maxProjectBytes: read.MILLRACE_CACHE_LIMIT,
      retentionMs: read.MILLRACE_CACHE_RETENTION,
    },
    uploads: {
      maxBytes: read.MILLRACE_UPLOAD_LIMIT,
      maxProjectBytes: read.MILLRACE_UPLOADS_PER_PROJECT_LIMIT,
      retentionMs: read.MILLRACE_UPLOAD_RETENTION,
      unfinishedMs: read.MILLRACE_UNFINISHED_UPLOAD_RETENTION,
    },
    objectStorage: objectStorage(read),
    outgoingNetworks: read.MILLRACE_OUTGOING_NETWORKS,
    git: gitSettings(read),
    mail: mailServer(read),
    shards: read.MAILBOX_SHARDS ?? null,
    eventNamespace: read.EVENT_NAMESPACE,
    quotas: { everyProject: read.MILLRACE_MAX_RUNNING_PER_PROJECT ?? null, ...read.MILLRACE_QUOTAS },
    retention: {
      rules: {
        runs: read.MILLRACE_KEEP_RUNS,
        logs: read.MILLRACE_KEEP_LOGS,
        artifacts: read.MILLRACE_KEEP_ARTIFACTS,
        events: read.MILLRACE_KEEP_EVENTS,
      },
      recordsMs: read.MILLRACE_KEEP_RECORDS,
      auditMs: read.MILLRACE_KEEP_AUDIT,
    },
    given: Object.keys(nodeVariables.shape).filter((variable) => (environment[variable] ?? "") !== ""),
    signingKey: read.MILLRACE_SIGNING_KEY === undefined ? null : new TextEncoder().encode(read.MILLRACE_SIGNING_KEY),
    masterKeys: read.MILLRACE_MASTER_KEY ?? [],
    bootstrapToken: read.MILLRACE_BOOTSTRAP_TOKEN ?? null,
    registrationToken: read.MILLRACE_REGISTRATION_TOKEN ?? null,
    logLevel: read.LOG_LEVEL ?? null,
  };
}

/** Reads the settings of an agent. Throws as {@link readNodeConfig} does. */
export function readAgentConfig(environment: Environment): AgentConfig {
  const read = check(agentVariables, environment);
  const ca = read.MILLRACE_GATEWAY_CA_FILE;
  const { MILLRACE_GATEWAY_CERT_FILE: certificateFile, MILLRACE_GATEWAY_KEY_FILE: keyFile } = read;
  return {
    gateway: read.MILLRACE_GATEWAY,
    security: read.MILLRACE_GATEWAY_SECURITY ?? (ca === undefined && certificateFile === undefined ? null : "tls"),
    caFile: ca ?? null,
    clientCertificate: certificateFile === undefined || keyFile === undefined ? null : { certificateFile, keyFile },
    registrationToken: read.MILLRACE_REGISTRATION_TOKEN ?? null,
    identityTokenFile: read.MILLRACE_IDENTITY_TOKEN_FILE ?? null,
    name: read.MILLRACE_AGENT_NAME ?? hostname(),
    slots: read.MILLRACE_AGENT_SLOTS,
    maxJobs: read.MILLRACE_AGENT_MAX_JOBS ?? null,
    idleExitMs: read.MILLRACE_AGENT_IDLE_EXIT ?? null,
    labels: read.MILLRACE_AGENT_LABELS,
    facts: read.MILLRACE_AGENT_FACTS === "on",
    stepUser: read.MILLRACE_STEP_USER ?? null,
    pluginDirs: read.MILLRACE_AGENT_PLUGIN_DIRS,
    pluginCache: read.MILLRACE_AGENT_PLUGIN_CACHE,
    dataDir: read.MILLRACE_DATA_DIR ?? null,
    drainTimeoutMs: read.MILLRACE_AGENT_DRAIN_TIMEOUT,
    minFreeDisk: read.MILLRACE_AGENT_MIN_FREE_DISK,
    ...placeSettings(read),
    logBufferBytes: read.MILLRACE_AGENT_LOG_BUFFER,
    logLevel: read.LOG_LEVEL ?? null,
  };
}

/** The names of all variables that the program reads, for tests of files that set them. */
export const KNOWN_VARIABLES: readonly string[] = [
  ...new Set([...Object.keys(nodeVariables.shape), ...Object.keys(agentVariables.shape), "MILLRACE_AGENT_CONFIG"]),
];

function check<T extends z.ZodType>(variables: T, environment: Environment): z.output<T> {
  // Compose files and shells pass an unset variable as an empty text.
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
  const result = variables.safeParse(set);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }): Problem => ({
    code: "environment",
    pointer: toPointer(path.slice(0, 1)),
    message: `${String(path[0])} ${message}`,
  }));
  const unique = [...new Set(problems.map((problem) => problem.message))];
  throw new MillraceError("malformed_request", `these settings are wrong:\n  ${unique.join("\n  ")}`, { problems });
}

const isWorkerOnly = (nodeRoles: readonly NodeRole[]) => nodeRoles.every((role) => role === "worker");
