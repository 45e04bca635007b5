/** Steps: what is run, and what becomes of it. */
import { z } from "zod";
import { IF_MISSING } from "../../domain/artifacts.ts";
import { LIMITS } from "./limits.ts";
import { condition, duration, env, identifier, json, name, text } from "./values.ts";

export const STEP_RETRY_CAUSES = ["failed", "timeout"] as const;

/** What the retries of steps and of jobs have in common. */
export const retryFields = {
  attempts: z.int().min(1).max(LIMITS.attempts).describe("How many in all, the first one included."),
  delay: duration("0s", "1h", "The wait before the second attempt. Default 0s.").optional(),
  backoff: z.number().min(1).max(10).optional().describe("Each further wait is this many times longer. Default 1."),
  maxDelay: duration("0s", "24h", "The longest wait. Default 1h.").optional(),
};

export const stepRetrySchema = z
  .strictObject({
    ...retryFields,
    on: z.array(z.enum(STEP_RETRY_CAUSES)).min(1).optional().describe("Which ends are retried. Default both."),
    exitCodes: z
      .array(z.int().min(1).max(255))
      .min(1)
      .max(LIMITS.listItems)
      .optional()
      .describe("Retry a failure with one of these alone. Default: any."),
  })
  .meta({
    id: "stepRetry",
    title: "retry of a step",
    description: "The step is run again by the same agent in the same workspace.",
  });

export const artifactSchema = z
  .strictObject({
    name: name.describe("How the `artifact` builtin and people name it."),
    paths: z.array(text).min(1).max(LIMITS.listItems).describe("Glob patterns within the workspace."),
    retention: duration(
      "1h",
      "3650d",
      "How long it is kept. Default: as the installation says, else 30 days.",
    ).optional(),
    ifMissing: z.enum(IF_MISSING).optional().describe("What no matching file is. Default error."),
  })
  .meta({ id: "artifact", title: "artifact" });

export const stepSchema = z
  .strictObject({
    name: name.optional().describe("May hold expressions. Default: what the step uses, such as `shell`."),
    id: identifier.optional().describe("How later steps and outputs name it: `steps.<id>`."),
    uses: z.string().min(1).describe("A builtin such as shell, or a plugin as `<plugin_path>@<version>`."),
    action: z.string().optional().describe("Which action of the plugin. Default: its own default, or its only one."),
    args: z.record(z.string(), json).optional().describe("Arguments; texts may hold expressions."),
    env: env.optional(),
    when: condition.optional(),
    timeout: duration("1ms", "365d", "Bound on the step from its start on.").optional(),
    retry: stepRetrySchema.optional(),
    continueOnError: z.boolean().optional().describe("The job goes on when it fails. Default false."),
    workingDirectory: z.string().optional().describe("Relative to the workspace. Default: its root."),
    artifacts: z.array(artifactSchema).min(1).max(LIMITS.listItems).optional().describe("Files to keep."),
    outputs: z
      .array(identifier)
      .max(LIMITS.listItems)
      .optional()
      .describe("Names that it writes to the file in MILLRACE_OUTPUT; where given, others are errors."),
  })
  .meta({ id: "step", title: "step" });
