/**
 * The shape of a definition: the one place that names its keys. Values are checked here as far as one value can be
 * checked alone; what concerns several is in `checks.ts`.
 */
import { z } from "zod";
import { parseDuration } from "../domain/durations.ts";
import { LABEL_OPERATORS } from "../domain/labels.ts";
import type { DiagnosticCode } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";

const isOneLine = (text: string): boolean => text.length <= LIMITS.nameChars && !/\p{Cc}/u.test(text);

const name = z.string().refine((text) => text.trim() !== "" && isOneLine(text), {
  error: `must be 1 to ${LIMITS.nameChars} characters on one line`,
});
const scalar = z.union([z.string(), z.number(), z.boolean()], { error: "must be a string, a number or a boolean" });
const scalars = z.record(z.string().min(1), scalar);
const label = scalar.transform(String);

/** Stands in the names of jobs. */
const matrixValue = scalar.refine((value) => isOneLine(String(value)), {
  error: `must be at most ${LIMITS.nameChars} characters on one line`,
});
const matrixField = z.string().min(1).max(LIMITS.nameChars);
const matrixEntry = z.record(matrixField, matrixValue);

/** A duration as text, bounds included; what is wrong with it has its own code. */
function duration(min: string, max: string): z.ZodType<string, string> {
  const [minMs, maxMs] = [parseDuration(min)!, parseDuration(max)!];
  const isWithin = (ms: number | undefined): boolean => ms !== undefined && ms >= minMs && ms <= maxMs;
  const code: DiagnosticCode = "invalid-duration";
  return z.string().refine((text) => isWithin(parseDuration(text)), {
    error: `must be a duration such as 90s, 15m or 1h30m, from ${min} to ${max}`,
    params: { code },
  });
}

const timeout = duration("1ms", "365d");

export const stepSchema = z.strictObject({
  name: name.optional(),
  uses: z.string().min(1),
  action: z.string().optional(),
  args: z.record(z.string(), z.json()).optional(),
  env: scalars.optional(),
  timeout: timeout.optional(),
  continueOnError: z.boolean().optional(),
  workingDirectory: z.string().optional(),
});

export const matrixSchema = z.strictObject({
  axes: z.record(matrixField, z.array(matrixValue).min(1)).optional(),
  include: z.array(matrixEntry).max(LIMITS.matrixEntries).optional(),
  exclude: z.array(matrixEntry).max(LIMITS.matrixEntries).optional(),
});

export const labelExpressionSchema = z.strictObject({
  key: z.string().min(1),
  operator: z.enum(LABEL_OPERATORS),
  values: z.array(label).optional(),
});

export const selectorSchema = z.strictObject({
  matchLabels: z.record(z.string().min(1), label).optional(),
  matchExpressions: z.array(labelExpressionSchema).optional(),
});

export const jobSchema = z.strictObject({
  name,
  needs: z.union([name.transform((one) => [one]), z.array(name)]).optional(),
  matrix: matrixSchema.optional(),
  env: scalars.optional(),
  timeout: timeout.optional(),
  queueTimeout: timeout.optional(),
  cancelGrace: duration("0s", "1h").optional(),
  agentLeaseTimeout: duration("10s", "15m").optional(),
  priority: z.int().min(-100).max(100).optional(),
  continueOnError: z.boolean().optional(),
  agentSelector: selectorSchema.optional(),
  steps: z.array(stepSchema).min(1),
});

export const stageSchema = z.strictObject({
  name,
  jobs: z.array(jobSchema).min(1),
});

export const pipelineSchema = z.strictObject({
  namespace: z
    .string()
    .max(LIMITS.nameChars)
    .regex(/^[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*$/, { error: "must be a dotted name such as team.service" })
    .optional(),
  version: z.string().optional(),
  description: z.string().optional(),
  variables: scalars.optional(),
  env: scalars.optional(),
  timeout: timeout.optional(),
  stages: z.array(stageSchema).min(1).optional(),
  jobs: z.array(jobSchema).min(1).optional(),
});

export type RawPipeline = z.output<typeof pipelineSchema>;
export type RawJob = z.output<typeof jobSchema>;
export type RawStep = z.output<typeof stepSchema>;
export type RawMatrix = z.output<typeof matrixSchema>;

interface Place {
  /** For people. */
  readonly words: string;
  readonly keys: readonly string[];
  /** Keys of the language that this version does not run yet. */
  readonly later: readonly string[];
}

/** The kinds of map of the language. */
export const PLACES = {
  pipeline: {
    words: "a pipeline",
    keys: Object.keys(pipelineSchema.shape),
    later: [
      "concurrency",
      "source",
      "approval",
      "target",
      "notify",
      "triggers",
      "Source",
      "Approval",
      "Target",
      "Notify",
      "Triggers",
    ],
  },
  stage: { words: "a stage", keys: Object.keys(stageSchema.shape), later: ["when", "approval"] },
  job: {
    words: "a job",
    keys: Object.keys(jobSchema.shape),
    later: ["when", "retry", "concurrency", "approval", "source", "target", "notify", "outputs", "image"],
  },
  step: {
    words: "a step",
    keys: Object.keys(stepSchema.shape),
    later: ["id", "when", "retry", "artifacts", "outputs"],
  },
  matrix: { words: "a matrix", keys: Object.keys(matrixSchema.shape), later: ["failFast", "maxParallel"] },
  selector: { words: "an agent selector", keys: Object.keys(selectorSchema.shape), later: [] },
  labelExpression: { words: "a label expression", keys: Object.keys(labelExpressionSchema.shape), later: [] },
} as const satisfies Record<string, Place>;
