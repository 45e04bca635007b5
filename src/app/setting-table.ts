/**
 * The table of the settings that can be changed while the installation runs, for the installation, a tenant or a project. What
 * a change may say, the answers of the API and a page of the docs come from it.
 */
import { z } from "zod";
import { type Bound, MAX_LOG_LINES } from "../domain/retention.ts";
import { formatAge, MAX_KEPT_RUNS, parseAge } from "../domain/retention-text.ts";
import { MAX_CALLS, MAX_RUNNING, type Quotas } from "../domain/quotas.ts";
import type { SettingValues } from "../stores/ports/documents.ts";

export type SettingKey = keyof SettingValues;

interface SettingRule<K extends SettingKey> {
  /** What a change may say. */
  readonly value: z.ZodType<SettingValues[K]>;
  /** The type and the bounds, in Markdown. */
  readonly type: string;
  /** In Markdown; links are relative to docs/. */
  readonly about: string;
  /** The variable of the environment that gives the value of the installation; null without one. */
  readonly variable: string | null;
  /** Without a value anywhere; null where the variable has a default, and for no value. */
  readonly standard: SettingValues[K] | null;
  /** True for a setting that a project does not have. */
  readonly isOfTenants?: true;
  /** True for a setting that neither a project nor a tenant has. */
  readonly isOfInstallation?: true;
  /** Which of two values is stricter: then the strictest of all levels counts, else that of the nearest level. */
  readonly stricter: ((one: SettingValues[K], other: SettingValues[K]) => boolean) | null;
}

const age = z.string().transform((text, check): number => {
  const ms = parseAge(text);
  if (ms !== undefined) return ms;
  check.addIssue("must be a duration from 1s to 36500d, such as 90d or 12h");
  return z.NEVER;
});
const count = z.number().int().min(1).max(MAX_KEPT_RUNS);
/** Of one part of ended runs. */
export const boundBody = z
  .strictObject({
    age: age.nullable().default(null),
    perPipeline: count.nullable().default(null),
    perProject: count.nullable().default(null),
  })
  .transform(({ age: ageMs, ...counts }): Bound => ({ ageMs, ...counts }));
export const logLinesBody = z.number().int().min(1).max(MAX_LOG_LINES);
/** A limit below this would not even hold one long line. */
const LEAST_BYTES = 100_000;
export const logBytesBody = z.number().int().min(LEAST_BYTES);

const LABELS_VARIABLE = "MILLRACE_QUOTAS";

const FORK_WORDS = ["always", "firstTime", "never"] as const;

const API_WORDS = ["none", "read", "trigger", "write"] as const;

const kept = <K extends SettingKey & `retention.${string}`>(what: string, variable: string): SettingRule<K> => ({
  value: boundBody as unknown as z.ZodType<SettingValues[K]>,
  type: "`{ age, perPipeline, perProject }`: a duration from `1s` to `36500d`, and numbers of runs; `null` is no bound",
  about: `How long ${what} are kept after the end of the run, and of how many runs ([retention](operations.md#retention)).`,
  variable,
  standard: null,
  stricter: null,
});
const isTrue = (one: boolean, other: boolean): boolean => one && !other;
const isFalse = (one: boolean, other: boolean): boolean => !one && other;

const maxRunning = z.number().int().min(1).max(MAX_RUNNING);
const MAX_RUNNING_TYPE = `whole number, 1 to ${MAX_RUNNING}; without one anywhere \`null\`, any number`;
const isLower = (one: number | null, other: number | null): boolean => one !== null && (other === null || one < other);

const MAX_LABEL_QUOTAS = 100;
const labelText = z.string().min(1).max(200);
const labelQuotas = z
  .array(z.strictObject({ key: labelText, value: labelText, limit: maxRunning }))
  .max(MAX_LABEL_QUOTAS)
  .refine(
    (all) => new Set(all.map(({ key, value }) => `${key}=${value}`)).size === all.length,
    "must name each label once",
  );

const calls = <K extends "calls.perToken" | "calls.perAddress">(whose: string, variable: string): SettingRule<K> => ({
  value: z.number().int().min(0).max(MAX_CALLS) as unknown as z.ZodType<SettingValues[K]>,
  type: `whole number, 0 to ${MAX_CALLS}; \`0\` is no limit`,
  about: `How many calls of ${whose} each edge takes in a minute ([rate limits](http-api.md#rate-limits)). Only the installation has it.`,
  variable,
  standard: null,
  stricter: null,
  isOfInstallation: true,
});

export const RUNTIME_SETTINGS: { readonly [K in SettingKey]: SettingRule<K> } = {
  "retention.runs": kept("runs", "MILLRACE_KEEP_RUNS"),
  "retention.logs": kept("logs", "MILLRACE_KEEP_LOGS"),
  "retention.artifacts": kept("artifacts", "MILLRACE_KEEP_ARTIFACTS"),
  "retention.events": kept("events", "MILLRACE_KEEP_EVENTS"),
  "log.lines": {
    value: logLinesBody,
    type: `whole number, 1 to ${MAX_LOG_LINES}`,
    about: "How many lines of a step are stored ([the limit of a log](operations.md#the-limit-of-a-log)).",
    variable: "MILLRACE_STEP_LOG_LINES",
    standard: null,
    stricter: null,
  },
  "log.bytes": {
    value: logBytesBody,
    type: `whole number of bytes, from ${LEAST_BYTES}`,
    about: "How many bytes of a step's lines are stored.",
    variable: "MILLRACE_STEP_LOG_LIMIT",
    standard: null,
    stricter: null,
  },
  "trust.secrets": {
    value: z.boolean(),
    type: "boolean",
    about: "Jobs that get a secret need an agent with [trusted labels](operations.md#labels).",
    variable: null,
    standard: false,
    stricter: isTrue,
  },
  "trust.protectedTargets": {
    value: z.boolean(),
    type: "boolean",
    about: "Jobs with a protected target need an agent with trusted labels.",
    variable: null,
    standard: false,
    stricter: isTrue,
  },
  "forks.approval": {
    value: z.enum(FORK_WORDS),
    type: "`always`, `firstTime` or `never`",
    about:
      "Which [runs of forks](hooks.md#runs-of-forks) wait for an approval before they begin: all, those of people of whom none was approved yet, or none.",
    variable: null,
    standard: "always",
    stricter: null,
  },
  "jobs.containers": {
    value: z.boolean(),
    type: "boolean",
    about:
      "Every step that runs a program needs a [container](definition.md#container). A run with another one is refused.",
    variable: null,
    standard: false,
    stricter: isTrue,
  },
  "jobs.idToken": {
    value: z.boolean(),
    type: "boolean",
    about: "Jobs may have the [permission](definition.md#permissions) `idToken`.",
    variable: null,
    standard: true,
    stricter: isFalse,
  },
  "jobs.api": {
    value: z.enum(API_WORDS),
    type: "`none`, `read`, `trigger` or `write`",
    about: "The most that the permission `api` of a job may say. A job that asks for more gets this.",
    variable: null,
    standard: "write",
    stricter: (one, other) => API_WORDS.indexOf(one) < API_WORDS.indexOf(other),
  },
  "quota.perProject": {
    value: maxRunning,
    type: MAX_RUNNING_TYPE,
    about:
      "How many jobs of each project may run at once ([quotas](operations.md#quotas)). `MILLRACE_QUOTAS` gives single projects another value in place of that of the installation.",
    variable: "MILLRACE_MAX_RUNNING_PER_PROJECT",
    standard: null,
    stricter: isLower,
  },
  "quota.perTenant": {
    value: maxRunning,
    type: MAX_RUNNING_TYPE,
    about: "How many jobs of all projects of a tenant together may run at once. A project does not have it.",
    variable: null,
    standard: null,
    stricter: isLower,
    isOfTenants: true,
  },
  "quota.labels": {
    value: labelQuotas,
    type: `list of up to ${MAX_LABEL_QUOTAS} \`{ key, value, limit }\``,
    about:
      "How many jobs of all projects together may run at once on the agents with a label. Only the installation has it.",
    variable: LABELS_VARIABLE,
    standard: null,
    stricter: null,
    isOfInstallation: true,
  },
  "calls.perToken": calls("one token", "MILLRACE_CALLS_PER_TOKEN"),
  "calls.perAddress": calls("one address without a token that counts", "MILLRACE_CALLS_PER_ADDRESS"),
};

/**
 * Of the variables that are set, those that give a setting. `MILLRACE_QUOTAS` gives `quota.labels` only when it names a
 * label; it may name projects alone.
 */
export function givingVariables(given: readonly string[], quotas: Pick<Quotas, "labels">): readonly string[] {
  return quotas.labels.length > 0 ? given : given.filter((variable) => variable !== LABELS_VARIABLE);
}

export const SETTING_KEYS = Object.keys(RUNTIME_SETTINGS) as readonly SettingKey[];

/** The value as the API shows it, and as a change may say it. */
export function shownValue(value: SettingValues[SettingKey]): unknown {
  if (typeof value !== "object" || value === null || !("ageMs" in value)) return value;
  const { ageMs, ...counts } = value;
  return { age: ageMs === null ? null : formatAge(ageMs), ...counts };
}
