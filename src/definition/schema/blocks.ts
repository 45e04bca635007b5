/** The blocks of a pipeline and its jobs: where its code is, who approves, where it goes, who hears of it. */
import { z } from "zod";
import { ON_CONFLICT } from "../../domain/plan.ts";
import { ROLES } from "../../domain/roles.ts";
import { LIMITS } from "./limits.ts";
import { duration, json, name, text, variableName } from "./values.ts";

export const sourceSchema = z
  .strictObject({
    kind: z.literal("git").optional().describe("The only kind there is."),
    repo: text.describe("URL of the Git repository: https, ssh or `user@host:path`, without a password in it."),
    branch: text.optional().describe("The branch whose head is taken; not together with `ref`."),
    ref: text.optional().describe("A branch, tag or commit; default `${{ trigger.ref }}`, else the default branch."),
    depth: z.int().min(0).max(1_000_000).optional().describe("Commits of history to fetch; 0 for all. Default 1."),
    submodules: z
      .union([z.boolean(), z.literal("recursive")], { error: "must be true, false or recursive" })
      .optional()
      .describe("Whether submodules are fetched too. Default false."),
    credential: variableName.optional().describe("Name of the secret that opens the repository."),
  })
  .meta({ id: "source", title: "source", description: "Where the `checkout` builtin takes the code from." });

const person = z.string().regex(/^[^\s\p{Cc}]{1,200}$/u, { error: "must be the name or the id of a user" });

export const approvalSchema = z
  .strictObject({
    requiredApprovers: z
      .array(person)
      .min(1)
      .max(LIMITS.listItems)
      .optional()
      .describe("Users each of whom has to approve."),
    count: z.int().min(1).max(100).optional().describe("Approvals in all. Default: one, or all required approvers."),
    allowed: z
      .strictObject({
        users: z.array(person).min(1).max(LIMITS.listItems).optional().describe("By name or id."),
        roles: z.array(z.enum(ROLES)).min(1).optional().describe("Everyone who has one of these in the project."),
      })
      .meta({ id: "approvers", title: "list of who may approve" })
      .optional()
      .describe("Who may approve, besides required approvers. Default: who may operate the project."),
    timeout: duration("1m", "30d", "How long it waits before it counts as rejected. Default 7d.").optional(),
    preventSelfApproval: z.boolean().optional().describe("Whoever triggered the run may not approve. Default false."),
    message: z.string().max(LIMITS.messageChars).optional().describe("What approvers are told; may hold expressions."),
  })
  .meta({ id: "approval", title: "approval", description: "A gate that people open." });

export const targetSchema = z
  .strictObject({
    environment: name.describe("Name of the environment that is changed, such as production."),
    kind: name.optional().describe("What it is, such as kubernetes; free text."),
    config: z.record(z.string(), json).optional().describe("Settings of the target; texts may hold expressions."),
    protected: z.boolean().optional().describe("Only runs of the default branch may reach it. Default false."),
  })
  .meta({
    id: "target",
    title: "target",
    description: "What a job deploys to. Jobs with a target are not retried by themselves.",
  });

const webhookSchema = z
  .strictObject({
    url: text.describe("An http or https address; may hold `${{ secrets.NAME }}`."),
    secret: variableName.optional().describe("Name of the secret that signs the body (HMAC-SHA256)."),
  })
  .meta({ id: "webhook", title: "webhook", description: "A signed request to an address of yours." });

const slackSchema = z
  .strictObject({
    url: text.describe("An incoming webhook of Slack, or of what understands the same; a secret of its own."),
    channel: name.optional().describe("Default: as the webhook says."),
  })
  .meta({ id: "slackMessage", title: "Slack message", description: "A message to a channel." });

const emailSchema = z
  .strictObject({
    to: z
      .array(z.string().regex(/^[^\s@]+@[^\s@]+$/, { error: "must be an e-mail address" }))
      .min(1)
      .max(LIMITS.listItems)
      .describe("Addresses."),
    subject: text.max(LIMITS.messageChars).optional().describe("May hold expressions."),
  })
  .meta({ id: "email", title: "e-mail", description: "A letter." });

export const NOTIFY_ON = ["success", "failure", "partial", "cancelled", "approval"] as const;

export const notifySchema = z
  .array(
    z
      .strictObject({
        on: z.array(z.enum(NOTIFY_ON)).min(1).describe("When: how a run or job ended, or that it waits for approval."),
        webhook: webhookSchema.optional(),
        slack: slackSchema.optional(),
        email: emailSchema.optional(),
      })
      .meta({ id: "notification", title: "notification" }),
  )
  .max(LIMITS.listItems)
  .describe("Who hears of it; each entry has one of webhook, slack and email.");

export const concurrencySchema = z
  .strictObject({
    group: text.describe("Name of the group within the project; may hold expressions."),
    limit: z.int().min(1).max(1_000).optional().describe("How many of the group run at once. Default 1."),
    onConflict: z
      .enum(ON_CONFLICT)
      .optional()
      .describe("What happens to one that finds the group full: it waits, ends an older one, or fails. Default queue."),
  })
  .meta({
    id: "concurrency",
    title: "concurrency",
    description: "Bounds how many runs or jobs of a group work at once.",
  });
