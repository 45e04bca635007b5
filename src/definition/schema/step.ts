/** The schema of a step, and of the maps in it. */
import { z } from "zod";
import { IF_MISSING } from "../../domain/artifacts.ts";
import { LIMITS } from "./limits.ts";
import { condition, duration, env, identifier, json, name, text } from "./values.ts";

export const STEP_RETRY_CAUSES = ["failed", "timeout"] as const;

/** The keys that the retries of steps and of jobs have in common. */
export const retryFields = {
  attempts: z.int().min(1).max(LIMITS.attempts).describe("How many attempts in all, the first one included."),
  delay: duration("0s", "1h", "The wait before the second attempt. Default 0s.").optional(),
  backoff: z
    .number()
    .min(1)
    .max(10)
    .optional()
    .describe("Each further wait is this many times as long as the one before. Default 1."),
  maxDelay: duration("0s", "24h", "The longest wait. Default 1h.").optional(),
};

export const stepRetrySchema = z
  .strictObject({
    ...retryFields,
    on: z.array(z.enum(STEP_RETRY_CAUSES)).min(1).optional().describe("The causes that are retried. Default: both."),
    exitCodes: z
      .array(z.int().min(1).max(255))
      .min(1)
      .max(LIMITS.listItems)
      .optional()
      .describe("Only failures with one of these exit codes are retried. Default: any."),
  })
  .meta({
    id: "stepRetry",
    title: "retry of a step",
    description: "The same agent runs the step again in the same workspace.",
  });

export const artifactSchema = z
  .strictObject({
    name: name.describe("The name by which the `artifact` builtin and the API find it. May have expressions."),
    paths: z
      .array(text)
      .min(1)
      .max(LIMITS.listItems)
      .describe("Glob patterns within the workspace; may have expressions."),
    retention: duration(
      "1h",
      "3650d",
      "How long it is kept. Default: the setting of the installation, else 30 days.",
    ).optional(),
    ifMissing: z.enum(IF_MISSING).optional().describe("What the step does when no file matches. Default error."),
  })
  .meta({ id: "artifact", title: "artifact" });

export const reportsSchema = z
  .strictObject({
    junit: z
      .array(text)
      .min(1)
      .max(LIMITS.listItems)
      .describe("Glob patterns of JUnit XML files within the workspace; may have expressions."),
  })
  .meta({ id: "reports", title: "reports", description: "Test reports, which are shown with the run." });

export const stepSchema = z
  .strictObject({
    name: name.optional().describe("May have expressions. Default: the value of `uses`."),
    id: identifier.optional().describe("Later steps and the outputs of the job read the step as `steps.<id>`."),
    uses: z.string().min(1).describe("A builtin such as `shell`, or a plugin as `<plugin_path>@<version>`."),
    action: z.string().optional().describe("The action of the plugin. Default: its default action, or its only one."),
    args: z.record(z.string(), json).optional().describe("Arguments; texts may have expressions."),
    env: env.optional(),
    when: condition.optional(),
    timeout: duration(
      "1ms",
      "365d",
      "The longest time that the step may take from its start, until its artifacts are kept.",
    ).optional(),
    retry: stepRetrySchema.optional(),
    continueOnError: z.boolean().optional().describe("The job goes on when the step fails. Default false."),
    workingDirectory: z.string().optional().describe("Relative to the workspace. Default: its root."),
    artifacts: z.array(artifactSchema).min(1).max(LIMITS.listItems).optional().describe("Files to keep."),
    reports: reportsSchema.optional().describe("Files with test results. They never change how the step ends."),
    outputs: z
      .array(identifier)
      .max(LIMITS.listItems)
      .optional()
      .describe(
        "Names that the step writes to the file that MILLRACE_OUTPUT names; when given, reading another name is an error.",
      ),
  })
  .meta({ id: "step", title: "step" });
