/**
 * The environment: every variable that millrace reads, checked once at the start. Flags of the command line overlay
 * the environment before it is read, so that a value is checked in one place wherever it comes from.
 */
import { hostname } from "node:os";
import { z } from "zod";
import type { ArtifactRules } from "./domain/artifacts.ts";
import { parseDuration } from "./domain/durations.ts";
import { MillraceError, type Problem } from "./domain/errors.ts";
import type { Labels } from "./domain/labels.ts";
import type { LabelQuota, Quotas } from "./domain/quotas.ts";

export const NODE_ROLES = ["edge", "gateway", "worker"] as const;
export type NodeRole = (typeof NODE_ROLES)[number];

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where to listen or connect; an empty host listens on every interface, port 0 on a free one. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ControlPlaneConfig {
  readonly roles: readonly NodeRole[];
  /** Null starts the embedded server. */
  readonly redis: { readonly url: string } | { readonly cluster: readonly Address[] } | null;
  /** Null opens SQLite in the data directory. */
  readonly mongodb: { readonly url: string; readonly database: string } | null;
  readonly http: Address;
  readonly grpc: Address;
  readonly metrics: Address;
  /** Null leaves the choice to the command. */
  readonly dataDir: string | null;
  /** The most that the file of SQLite may take, bytes; null for no bound. */
  readonly storeLimit: number | null;
  readonly artifacts: ArtifactRules;
  readonly shards: number;
  readonly eventNamespace: string;
  /** How many jobs may run at once; the same on all nodes. */
  readonly quotas: Quotas;
  /** HMAC key, at least 32 bytes; null lets the embedded engine make its own. */
  readonly signingKey: Uint8Array | null;
  /** The operator's own first administrator token, or null to have one made. */
  readonly bootstrapToken: string | null;
  /** A registration token that agents may use from the first start on, or null. */
  readonly registrationToken: string | null;
  /** Null leaves the choice to the command. */
  readonly logLevel: LogLevel | null;
}

export interface AgentConfig {
  readonly gateway: Address;
  /** Null: plaintext, which only a gateway on this machine may be reached by. */
  readonly security: "tls" | "plaintext" | null;
  /** PEM file that replaces the system's authorities, or null. */
  readonly caFile: string | null;
  readonly registrationToken: string | null;
  readonly name: string;
  /** Jobs at a time. */
  readonly slots: number;
  readonly labels: Labels;
  readonly dataDir: string | null;
  readonly logLevel: LogLevel | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const address = z.string().transform((text, check): Address => {
  const parsed = /^(?:(?<bare>[^:[\]\s/]*)|\[(?<v6>[0-9A-Fa-f:.]+)\]):(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(parsed?.["port"]);
  if (parsed === undefined || port > 65_535) {
    check.addIssue("must be host:port or :port, with a port up to 65535");
    return z.NEVER;
  }
  return { host: parsed["v6"] ?? parsed["bare"] ?? "", port };
});

const labels = z.string().transform((text, check): Labels => {
  const entries: [string, string][] = [];
  for (const pair of text.split(",")) {
    const at = pair.indexOf("=");
    const key = pair.slice(0, at).trim();
    if (at < 1 || key === "") {
      check.addIssue("must be key=value pairs separated by commas");
      return z.NEVER;
    }
    entries.push([key, pair.slice(at + 1).trim()]);
  }
  return Object.fromEntries(entries);
});

const roles = z
  .string()
  .transform((text) => text.split(",").map((role) => role.trim()))
  .pipe(z.array(z.enum(NODE_ROLES, { error: `must name roles out of ${NODE_ROLES.join(", ")}, separated by commas` })));

const cluster = z
  .string()
  .transform((text) => text.split(",").map((node) => node.trim()))
  .pipe(z.array(address));

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be from ${least} to ${most}`);

const MAX_RUNNING = 1_000_000;
const quotas = z.string().transform((text, check): Pick<Quotas, "projects" | "labels"> => {
  const projects = new Map<string, number>();
  const labelQuotas: LabelQuota[] = [];
  const seen = new Set<string>();
  for (const part of text.split(",").map((each) => each.trim())) {
    const parsed = /^(?:project:(?<id>[^\s=:]+)|label:(?<key>[^\s=]+)=(?<value>.+))=(?<limit>\d{1,9})$/.exec(
      part,
    )?.groups;
    const limit = Number(parsed?.["limit"]);
    const name = part.slice(0, part.lastIndexOf("="));
    if (parsed === undefined || limit < 1 || limit > MAX_RUNNING) {
      check.addIssue(
        `must be project:<id>=<number> and label:<key>=<value>=<number>, separated by commas, with numbers from 1 to ${MAX_RUNNING}`,
      );
      return z.NEVER;
    }
    if (seen.has(name)) {
      check.addIssue(`must name ${name} once`);
      return z.NEVER;
    }
    seen.add(name);
    const { id, key, value } = parsed;
    if (id !== undefined) projects.set(id, limit);
    else labelQuotas.push({ key: key!, value: value!, limit });
  }
  return { projects, labels: labelQuotas };
});

const BYTES_OF_UNIT = { MB: 1e6, GB: 1e9, TB: 1e12, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const;
const size = z.string().transform((text, check): number => {
  const [, amount, unit] = /^(\d{1,6}) ?([MGT]i?B)$/.exec(text) ?? [];
  if (unit === undefined || Number(amount) < 1) {
    check.addIssue(`must be a whole number, from 1, and one of ${Object.keys(BYTES_OF_UNIT).join(", ")}, such as 20GB`);
    return z.NEVER;
  }
  return Number(amount) * BYTES_OF_UNIT[unit as keyof typeof BYTES_OF_UNIT];
});

const RETENTION_DAYS = 3_650;
const retention = z.string().transform((text, check): number => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1_000 && ms <= RETENTION_DAYS * 86_400_000) return ms;
  check.addIssue(`must be a duration from 1s to ${RETENTION_DAYS}d, such as 30d`);
  return z.NEVER;
});

const url = (pattern: RegExp, schemes: string) => z.string().regex(pattern, `must begin with ${schemes}`);
// Chosen by a person and stored under a fast hash, so short ones would be guessable.
const chosenToken = z.string().regex(/^[\x21-\x7e]{32,512}$/, "must have 32 to 512 characters without spaces");
const logLevel = z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(", ")}` });

const controlPlaneVariables = z
  .object({
    MILLRACE_ROLES: roles.default([...NODE_ROLES]),
    REDIS_URL: url(/^(\/|(rediss?|redis\+unix):\/\/)/, "redis://, rediss://, redis+unix:// or /").optional(),
    REDIS_CLUSTER_NODES: cluster.optional(),
    MONGODB_URL: url(/^mongodb(\+srv)?:\/\//, "mongodb:// or mongodb+srv://").optional(),
    MONGODB_DATABASE: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,63}$/, "must have 1 to 63 letters, digits, _ or -")
      .default("millrace"),
    MILLRACE_HTTP_ADDRESS: address.optional(),
    MILLRACE_GRPC_ADDRESS: address.default({ host: "127.0.0.1", port: 9090 }),
    MILLRACE_METRICS_ADDRESS: address.default({ host: "127.0.0.1", port: 9464 }),
    MILLRACE_DATA_DIR: z.string().optional(),
    MILLRACE_STORE_LIMIT: size.optional(),
    MILLRACE_ARTIFACT_FILE_LIMIT: size.default(2 * BYTES_OF_UNIT.GB),
    MILLRACE_ARTIFACT_LIMIT: size.default(4 * BYTES_OF_UNIT.GB),
    MILLRACE_ARTIFACTS_PER_RUN_LIMIT: size.default(20 * BYTES_OF_UNIT.GB),
    MILLRACE_ARTIFACT_RETENTION: retention.default(parseDuration("30d")!),
    MAILBOX_SHARDS: wholeNumber(1, 1024).default(16),
    EVENT_NAMESPACE: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,62}$/, "must be one lower-case word")
      .default("svc"),
    MILLRACE_MAX_RUNNING_PER_PROJECT: wholeNumber(1, MAX_RUNNING).optional(),
    MILLRACE_QUOTAS: quotas.default({ projects: new Map(), labels: [] }),
    MILLRACE_SIGNING_KEY: z
      .string()
      .refine((text) => Buffer.byteLength(text) >= 32, "must have at least 32 bytes")
      .optional(),
    MILLRACE_BOOTSTRAP_TOKEN: chosenToken.optional(),
    MILLRACE_REGISTRATION_TOKEN: chosenToken.optional(),
    LOG_LEVEL: logLevel.optional(),
  })
  .check(({ value, issues }) => {
    const refuse = (variable: string, message: string) =>
      issues.push({ code: "custom", input: undefined, path: [variable], message });
    if (value.REDIS_URL !== undefined && value.REDIS_CLUSTER_NODES !== undefined) {
      refuse("REDIS_CLUSTER_NODES", "and REDIS_URL exclude each other: set one of them");
    }
    if (value.MONGODB_URL !== undefined && value.MILLRACE_STORE_LIMIT !== undefined) {
      refuse("MILLRACE_STORE_LIMIT", "bounds SQLite alone, and MONGODB_URL names another store: set one of them");
    }
    // Each node would make a key of its own, and refuse the access tokens of the others.
    if (
      value.MONGODB_URL !== undefined &&
      value.MILLRACE_SIGNING_KEY === undefined &&
      !isWorkerOnly(value.MILLRACE_ROLES)
    ) {
      refuse(
        "MILLRACE_SIGNING_KEY",
        "is required with MONGODB_URL: set the same value, at least 32 bytes, on every node",
      );
    }
  });

const agentVariables = z.object({
  MILLRACE_GATEWAY: address.default({ host: "127.0.0.1", port: 9090 }),
  MILLRACE_GATEWAY_SECURITY: z.enum(["tls", "plaintext"], { error: "must be tls or plaintext" }).optional(),
  MILLRACE_GATEWAY_CA_FILE: z.string().optional(),
  MILLRACE_REGISTRATION_TOKEN: z.string().optional(),
  MILLRACE_AGENT_NAME: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must have 1 to 128 letters, digits, ., _ or -")
    .optional(),
  MILLRACE_AGENT_SLOTS: wholeNumber(1, 1000).default(1),
  MILLRACE_AGENT_LABELS: labels.default({}),
  MILLRACE_DATA_DIR: z.string().optional(),
  LOG_LEVEL: logLevel.optional(),
});

/** Reads the control plane's settings; throws `malformed_request` with every problem at once, never with a value. */
export function readControlPlaneConfig(environment: Environment): ControlPlaneConfig {
  const read = check(controlPlaneVariables, environment);
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
    dataDir: read.MILLRACE_DATA_DIR ?? null,
    storeLimit: read.MILLRACE_STORE_LIMIT ?? null,
    artifacts: {
      maxFileBytes: read.MILLRACE_ARTIFACT_FILE_LIMIT,
      maxArtifactBytes: read.MILLRACE_ARTIFACT_LIMIT,
      maxRunBytes: read.MILLRACE_ARTIFACTS_PER_RUN_LIMIT,
      retentionMs: read.MILLRACE_ARTIFACT_RETENTION,
    },
    shards: read.MAILBOX_SHARDS,
    eventNamespace: read.EVENT_NAMESPACE,
    quotas: { everyProject: read.MILLRACE_MAX_RUNNING_PER_PROJECT ?? null, ...read.MILLRACE_QUOTAS },
    signingKey: read.MILLRACE_SIGNING_KEY === undefined ? null : new TextEncoder().encode(read.MILLRACE_SIGNING_KEY),
    bootstrapToken: read.MILLRACE_BOOTSTRAP_TOKEN ?? null,
    registrationToken: read.MILLRACE_REGISTRATION_TOKEN ?? null,
    logLevel: read.LOG_LEVEL ?? null,
  };
}

/** Reads an agent's settings; throws as {@link readControlPlaneConfig} does. */
export function readAgentConfig(environment: Environment): AgentConfig {
  const read = check(agentVariables, environment);
  return {
    gateway: read.MILLRACE_GATEWAY,
    security: read.MILLRACE_GATEWAY_SECURITY ?? (read.MILLRACE_GATEWAY_CA_FILE === undefined ? null : "tls"),
    caFile: read.MILLRACE_GATEWAY_CA_FILE ?? null,
    registrationToken: read.MILLRACE_REGISTRATION_TOKEN ?? null,
    name: read.MILLRACE_AGENT_NAME ?? hostname(),
    slots: read.MILLRACE_AGENT_SLOTS,
    labels: read.MILLRACE_AGENT_LABELS,
    dataDir: read.MILLRACE_DATA_DIR ?? null,
    logLevel: read.LOG_LEVEL ?? null,
  };
}

/** The names of all variables that are read, for tests of files that set them. */
export const KNOWN_VARIABLES: readonly string[] = [
  ...new Set([...Object.keys(controlPlaneVariables.shape), ...Object.keys(agentVariables.shape)]),
];

function check<T extends z.ZodType>(variables: T, environment: Environment): z.output<T> {
  // Compose files and shells pass unset variables as empty text.
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
  const result = variables.safeParse(set);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }): Problem => ({
    code: "environment",
    pointer: `/${String(path[0])}`,
    message: `${String(path[0])} ${message}`,
  }));
  const unique = [...new Set(problems.map((problem) => problem.message))];
  throw new MillraceError("malformed_request", `the environment has problems:\n  ${unique.join("\n  ")}`, { problems });
}

const isWorkerOnly = (nodeRoles: readonly NodeRole[]) => nodeRoles.every((role) => role === "worker");
