/** The shape of a definition as a whole. `checks.ts` checks what concerns several values at once. */
import { z } from "zod";
import { LIMITS } from "./limits.ts";
import {
  approvalSchema,
  concurrencySchema,
  notifySchema,
  permissionsSchema,
  sourceSchema,
  targetSchema,
} from "./blocks.ts";
import { type jobRetrySchema, jobSchema, type matrixSchema } from "./job.ts";
import type { stepRetrySchema, stepSchema } from "./step.ts";
import { type inputSchema, triggersSchema } from "./triggers.ts";
import { block, condition, duration, env, name, scalars } from "./values.ts";

export const stageSchema = z
  .strictObject({
    name: name.describe("Unique within the definition."),
    when: condition.optional(),
    ...block("approval", approvalSchema),
    jobs: z.array(jobSchema).min(1).describe("They run in parallel, except that a job waits for its `needs`."),
  })
  .meta({ id: "stage", title: "stage" });

export const pipelineSchema = z
  .strictObject({
    namespace: z
      .string()
      .max(LIMITS.nameChars)
      .regex(/^[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*$/, { error: "must be a dotted name such as team.service" })
      .optional()
      .describe("Dotted name of the definition."),
    version: z.string().optional().describe("Any text; it has no effect."),
    description: z.string().optional().describe("A text for readers; it has no effect."),
    include: z
      .array(z.string().min(1))
      .min(1)
      .max(LIMITS.includes)
      .optional()
      .describe("[Files of the same repository](#include), by their paths from its root, whose parts are added."),
    variables: scalars.optional().describe("Values that expressions read and that a trigger may override."),
    env: env.optional(),
    timeout: duration("1ms", "365d", "The longest time that the whole run may take.").optional(),
    concurrency: concurrencySchema.optional(),
    permissions: permissionsSchema.optional(),
    ...block("source", sourceSchema),
    ...block("approval", approvalSchema),
    ...block("target", targetSchema),
    ...block("notify", notifySchema),
    ...block("triggers", triggersSchema),
    stages: z.array(stageSchema).min(1).optional().describe("They run one after the other."),
    jobs: z.array(jobSchema).min(1).optional().describe("The jobs of the only stage; a shorthand for `stages`."),
  })
  .meta({ title: "pipeline", description: "A pipeline definition of millrace." });

export type RawStage = z.output<typeof stageSchema>;
export type RawInput = z.output<typeof inputSchema>;
export type RawPipeline = z.output<typeof pipelineSchema>;
export type RawJob = z.output<typeof jobSchema>;
export type RawStep = z.output<typeof stepSchema>;
export type RawContainer = NonNullable<RawJob["container"]>;
export type RawService = NonNullable<RawJob["services"]>[string];
export type RawMatrix = z.output<typeof matrixSchema>;
export type RawStepRetry = z.output<typeof stepRetrySchema>;
export type RawJobRetry = z.output<typeof jobRetrySchema>;
export type RawSource = z.output<typeof sourceSchema>;
export type RawApproval = z.output<typeof approvalSchema>;
export type RawPermissions = z.output<typeof permissionsSchema>;
export type RawTarget = z.output<typeof targetSchema>;
export type RawNotification = z.output<typeof notifySchema>[number];
export type RawConcurrency = z.output<typeof concurrencySchema>;
export type RawTriggers = z.output<typeof triggersSchema>;
