/**
 * The shape of a definition: the one place that names its keys. Values are checked here as far as one value can be
 * checked alone; what concerns several is in `checks.ts`.
 */
import { z } from "zod";
import { parseDuration } from "../domain/durations.ts";
import { LABEL_OPERATORS } from "../domain/labels.ts";

const name = z.string().min(1).max(200);
const scalar = z.union([z.string(), z.number(), z.boolean()], { error: "must be a string, a number or a boolean" });
const scalars = z.record(z.string().min(1), scalar);
const duration = z
  .string()
  .refine((text) => parseDuration(text) !== undefined, { error: "must be a duration such as 90s, 15m or 1h30m" });

function durationWithin(minMs: number, maxMs: number, words: string): z.ZodType<string, string> {
  return duration.refine((text) => (parseDuration(text) ?? minMs) >= minMs && (parseDuration(text) ?? minMs) <= maxMs, {
    error: `must be ${words}`,
  });
}

export const stepSchema = z.strictObject({
  name: name.optional(),
  uses: z.string().min(1),
  action: z.string().optional(),
  args: z.record(z.string(), z.json()).optional(),
  env: scalars.optional(),
  timeout: duration.optional(),
  continueOnError: z.boolean().optional(),
  workingDirectory: z.string().optional(),
});

const axisValue = scalar;
const cell = z.record(z.string().min(1), axisValue);

export const matrixSchema = z.strictObject({
  axes: z.record(z.string().min(1), z.array(axisValue).min(1)).optional(),
  include: z.array(cell).optional(),
  exclude: z.array(cell).optional(),
});

export const selectorSchema = z.strictObject({
  matchLabels: z.record(z.string().min(1), z.string()).optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string().min(1),
        operator: z.enum(LABEL_OPERATORS),
        values: z.array(z.union([z.string(), z.number()]).transform(String)).optional(),
      }),
    )
    .optional(),
});

export const jobSchema = z.strictObject({
  name,
  needs: z.union([name.transform((one) => [one]), z.array(name)]).optional(),
  matrix: matrixSchema.optional(),
  env: scalars.optional(),
  timeout: duration.optional(),
  queueTimeout: duration.optional(),
  cancelGrace: duration.optional(),
  agentLeaseTimeout: durationWithin(10_000, 900_000, "from 10s to 15m").optional(),
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
    .regex(/^[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*$/, { error: "must be a dotted name such as team.service" })
    .optional(),
  version: z.string().optional(),
  description: z.string().optional(),
  variables: scalars.optional(),
  env: scalars.optional(),
  timeout: duration.optional(),
  stages: z.array(stageSchema).min(1).optional(),
  jobs: z.array(jobSchema).min(1).optional(),
});

export type RawPipeline = z.output<typeof pipelineSchema>;
export type RawJob = z.output<typeof jobSchema>;
export type RawStep = z.output<typeof stepSchema>;

/** Keys of the language that this version does not run yet, by the kind of map in which they stand. */
export const LATER_KEYS = {
  pipeline: [
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
  stage: ["when", "approval"],
  job: ["when", "retry", "concurrency", "approval", "source", "target", "notify", "outputs", "image"],
  matrix: ["failFast", "maxParallel"],
  step: ["id", "when", "retry", "artifacts", "outputs"],
} as const;
