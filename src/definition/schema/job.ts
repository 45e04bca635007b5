/** The schema of a job, the unit of work for one agent, and of the maps in it. */
import { z } from "zod";
import { LABEL_OPERATORS } from "../../domain/labels.ts";
import { LIMITS } from "./limits.ts";
import {
  approvalSchema,
  concurrencySchema,
  notifySchema,
  permissionsSchema,
  sourceSchema,
  targetSchema,
} from "./blocks.ts";
import { containerSchema, servicesSchema } from "./containers.ts";
import { matrixValue } from "./matrix-value.ts";
import { retryFields, stepSchema } from "./step.ts";
import { block, condition, duration, env, identifier, name, plainText, scalar, orExpression } from "./values.ts";

const matrixField = plainText.max(LIMITS.nameChars);
const matrixEntry = z.record(matrixField, matrixValue).meta({ id: "matrixEntry", title: "matrix entry" });

export const matrixSchema = z
  .strictObject({
    axes: z
      .record(matrixField, orExpression(z.array(matrixValue).min(1).max(LIMITS.matrixCells), "a list of values"))
      .optional()
      .describe("Values by name, or an expression that gives a list; there is a cell for each combination."),
    include: z.array(matrixEntry).max(LIMITS.matrixEntries).optional().describe("Extends cells, or adds cells."),
    exclude: z.array(matrixEntry).max(LIMITS.matrixEntries).optional().describe("Combinations to leave out."),
    failFast: z.boolean().optional().describe("When a cell fails, the others are cancelled. Default true."),
    maxParallel: z
      .int()
      .min(1)
      .max(LIMITS.matrixCells)
      .optional()
      .describe("How many cells may run at once. Default: all."),
  })
  .meta({ id: "matrix", title: "matrix", description: "Makes one job for each combination of values." });

const label = scalar.transform(String);

export const labelExpressionSchema = z
  .strictObject({
    key: plainText.describe("Name of a label."),
    operator: z
      .enum(LABEL_OPERATORS)
      .describe("How the agent's value is compared. An agent without the label fulfils `NotIn`."),
    values: z
      .array(label)
      .max(LIMITS.listItems)
      .optional()
      .describe("One or more for `In` and `NotIn`, one whole number for `Gt` and `Lt`, none for the others."),
  })
  .meta({ id: "labelExpression", title: "label expression" });

export const selectorSchema = z
  .strictObject({
    matchLabels: z.record(plainText, label).optional().describe("Each label must have this value."),
    matchExpressions: z
      .array(labelExpressionSchema)
      .max(LIMITS.listItems)
      .optional()
      .describe("Each expression must hold."),
    trusted: z
      .boolean()
      .optional()
      .describe("Only labels count that an operator has given to the agent, and it must have one. Default false."),
  })
  .meta({ id: "agentSelector", title: "agent selector", description: "Which agents may run the job." });

export const JOB_RETRY_CAUSES = ["agent_lost", "dispatch_failed"] as const;

export const jobRetrySchema = z
  .strictObject({
    ...retryFields,
    on: z.array(z.enum(JOB_RETRY_CAUSES)).min(1).optional().describe("The causes that are retried. Default: both."),
  })
  .meta({
    id: "jobRetry",
    title: "retry of a job",
    description: "The job begins again on any agent. Default: two attempts.",
  });

const timeout = (description: string) => duration("1ms", "365d", description).optional();

export const jobSchema = z
  .strictObject({
    name: name.describe("Unique within the definition. Expressions read the job as `jobs.<name>`."),
    needs: z
      .union([name.transform((one) => [one]), z.array(name).max(LIMITS.needsOfJob)], {
        error: "must be the name of a job, or a list of names",
      })
      .optional()
      .describe("Jobs of the same stage that must succeed before this job begins."),
    when: condition.optional(),
    matrix: matrixSchema.optional(),
    env: env.optional(),
    timeout: timeout("The longest time that the job may take from its start."),
    queueTimeout: timeout("The longest wait for an agent."),
    cancelGrace: duration(
      "0s",
      "1h",
      "The time between the request to a cancelled step to end and its forced end. Default 10s.",
    ).optional(),
    agentLeaseTimeout: duration(
      "10s",
      "15m",
      "How long an agent may be silent before it counts as lost. Default 30s.",
    ).optional(),
    priority: z
      .int()
      .min(-100)
      .max(100)
      .optional()
      .describe("Jobs of a higher priority are offered to agents first. Default 0."),
    retry: jobRetrySchema.optional(),
    continueOnError: z
      .boolean()
      .optional()
      .describe("The run goes on when the job fails. A run in which only such jobs fail is `partial`. Default false."),
    agentSelector: selectorSchema.optional(),
    concurrency: concurrencySchema.optional(),
    permissions: permissionsSchema.optional(),
    container: containerSchema.optional(),
    services: servicesSchema.optional(),
    ...block("approval", approvalSchema),
    ...block("source", sourceSchema),
    ...block("target", targetSchema),
    ...block("notify", notifySchema),
    outputs: z
      .record(identifier, z.string())
      .optional()
      .describe(
        "Values for later jobs by name. Later jobs read them as `jobs.<job>.outputs.<name>`; their texts read `steps.<id>.outputs.<name>`.",
      ),
    steps: z.array(stepSchema).min(1).describe("They run one after the other, on one agent and in one workspace."),
  })
  .meta({ id: "job", title: "job" });
