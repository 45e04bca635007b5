/** The schemas of triggers: manual with typed inputs, by a schedule (cron), and by an event. */
import { z } from "zod";
import { HOOK_KINDS } from "../../hook-events/words.ts";
import { LIMITS } from "./limits.ts";
import { condition, duration, name, patterns, scalar, scalars, text, variableName } from "./values.ts";

export const INPUT_TYPES = ["string", "number", "boolean", "choice"] as const;

export const inputSchema = z
  .strictObject({
    type: z.enum(INPUT_TYPES).optional().describe("Default string."),
    description: z.string().optional().describe("A text for readers; it has no effect."),
    required: z.boolean().optional().describe("A trigger without the input is refused. Default false."),
    default: scalar
      .optional()
      .describe("The value when the trigger gives none. Default: an empty text, 0 or false, by the type."),
    options: z.array(text).min(1).max(LIMITS.listItems).optional().describe("The values of a choice."),
  })
  .meta({ id: "input", title: "input" });

export const manualSchema = z
  .strictObject({
    inputs: z
      .record(variableName, inputSchema)
      .optional()
      .describe("By name. Expressions read an input as `${{ variables.<name> }}`."),
  })
  .meta({ id: "manualTrigger", title: "manual trigger", description: "A trigger by a user or a program." });

export const OVERLAP = ["allow", "queue", "cancelRunning", "skip"] as const;
export const CATCH_UP = ["none", "latest", "all"] as const;

export const cronSchema = z
  .strictObject({
    name: name.optional().describe("Unique among the triggers. Default: its number."),
    schedule: text.describe("Five fields: minute, hour, day of the month, month, day of the week."),
    timezone: text.optional().describe("A name of the IANA database such as Europe/Berlin. Default UTC."),
    overlap: z.enum(OVERLAP).optional().describe("What to do when the run before has not ended yet. Default allow."),
    catchUp: z
      .enum(CATCH_UP)
      .optional()
      .describe("Which of the runs that were missed in an outage are made up for. Default latest."),
    jitter: duration("1s", "24h", "The longest delay of a run behind its time. Default none.").optional(),
    ref: text.optional().describe("The value of `${{ trigger.ref }}`. Default: the pipeline's default branch."),
    variables: scalars.optional().describe("Override the variables of the definition."),
  })
  .meta({ id: "cronTrigger", title: "cron trigger" });

export const PROVIDERS = HOOK_KINDS;

export const eventSchema = z
  .strictObject({
    name: name.optional().describe("Unique among the triggers. Default: its number."),
    provider: z.enum(PROVIDERS).describe("The sender of the event; `generic` is a signed request of any sender."),
    event: z
      .string()
      .regex(/^[\w.:-]{1,100}$/, { error: "must be a word such as push" })
      .describe("push, tag, pull_request, release or comment; with `generic` any word."),
    branches: patterns("Branches as glob patterns; for a pull request, its target branch.").optional(),
    tags: patterns("Tags as glob patterns.").optional(),
    paths: patterns("Files as glob patterns: at least one changed file must match.").optional(),
    actors: patterns("Login names at the sender as glob patterns.").optional(),
    labels: patterns("Labels of the pull request as glob patterns: at least one label must match.").optional(),
    actions: z
      .array(z.string().regex(/^[\w.:-]{1,100}$/, { error: "must be a word such as opened" }))
      .min(1)
      .max(LIMITS.listItems)
      .optional()
      .describe("What happened to the object. Default: what leaves something new to build."),
    when: condition.optional().describe("An expression that reads `trigger`."),
    secret: variableName
      .optional()
      .describe("Name of the secret with which the sender signs. Default: that of any hook of the provider."),
  })
  .meta({ id: "eventTrigger", title: "event trigger" });

export const triggersSchema = z
  .strictObject({
    manual: manualSchema.optional(),
    cron: z.array(cronSchema).min(1).max(LIMITS.listItems).optional().describe("Starts at times of a schedule."),
    event: z
      .array(eventSchema)
      .min(1)
      .max(LIMITS.listItems)
      .optional()
      .describe("Starts by events of a provider such as GitHub."),
  })
  .meta({
    id: "triggers",
    title: "set of triggers",
    description: "What starts the pipeline, besides a call of the API.",
  });
