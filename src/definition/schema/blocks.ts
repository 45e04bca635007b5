/** The blocks of a pipeline and its jobs: source, approval, target, notify and concurrency. */
import { z } from "zod";
import { NOT_IN_NAMES } from "../../domain/names.ts";
import { JOB_API_WORDS, NOTIFICATION_REASONS, ON_CONFLICT } from "../../domain/plan.ts";
import { ROLES } from "../../domain/roles.ts";
import { LIMITS } from "./limits.ts";
import { duration, json, name, plainText, text, variableName } from "./values.ts";

export const sourceSchema = z
  .strictObject({
    kind: z.literal("git").optional().describe("The only kind there is."),
    repo: text.describe("URL of the Git repository: https, ssh or `user@host:path`, without a password."),
    branch: text.optional().describe("The branch whose newest commit is used; not together with `ref`."),
    ref: text
      .optional()
      .describe(
        "A branch, tag or commit; `HEAD` is the default branch. Default: the commit of a run from Git, else `${{ trigger.ref }}`, else the default branch.",
      ),
    depth: z.int().min(0).max(1_000_000).optional().describe("Commits of history to fetch; 0 for all. Default 1."),
    submodules: z
      .union([z.boolean(), z.literal("recursive")], { error: "must be true, false or recursive" })
      .optional()
      .describe("Whether submodules are fetched too. Default false."),
    credential: variableName.optional().describe("Name of the secret with which the repository is read."),
  })
  .meta({
    id: "source",
    title: "source",
    description: "The repository from which the `checkout` builtin takes the code.",
  });

const person = z
  .string()
  .regex(new RegExp(`^[^\\s${NOT_IN_NAMES}]{1,200}$`, "u"), { error: "must be the name or the id of a user" });

export const approvalSchema = z
  .strictObject({
    requiredApprovers: z
      .array(person)
      .min(1)
      .max(LIMITS.listItems)
      .optional()
      .describe("Users who all have to approve."),
    count: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe("How many approvals are needed in all. Default: one, or one of each required approver."),
    allowed: z
      .strictObject({
        users: z.array(person).min(1).max(LIMITS.listItems).optional().describe("By name or id."),
        roles: z
          .array(z.enum(ROLES))
          .min(1)
          .optional()
          .describe("All users who have one of these roles in the project."),
      })
      .meta({ id: "approvers", title: "list of who may approve" })
      .optional()
      .describe("Who may approve, besides the required approvers. Default: all users who may operate the project."),
    timeout: duration("1m", "30d", "After this time without a decision, it counts as rejected. Default 7d.").optional(),
    preventSelfApproval: z
      .boolean()
      .optional()
      .describe("The user who triggered the run may not approve. Default false."),
    message: z
      .string()
      .max(LIMITS.messageChars)
      .optional()
      .describe("The question to the approvers; may have expressions."),
  })
  .meta({ id: "approval", title: "approval", description: "A gate that users open." });

export const targetSchema = z
  .strictObject({
    environment: name.describe("Name of the environment that is changed, such as production."),
    kind: name.optional().describe("The kind of the environment, such as kubernetes; any text."),
    config: z.record(z.string(), json).optional().describe("Settings of the target; texts may have expressions."),
    protected: z.boolean().optional().describe("Only runs of the default branch may deploy to it. Default false."),
  })
  .meta({
    id: "target",
    title: "target",
    description: "What a job deploys to. By default, a job with a target is not retried.",
  });

const notificationText = text.max(LIMITS.notificationChars).optional();

const webhookSchema = z
  .strictObject({
    url: text.describe("An http or https address; may contain `${{ secrets.NAME }}`."),
    secret: variableName.optional().describe("Name of the secret with which the body is signed (HMAC-SHA256)."),
    body: z
      .record(z.string(), json)
      .optional()
      .describe("The JSON that is sent; texts may have expressions. Default: a CloudEvent that says what happened."),
  })
  .meta({ id: "webhook", title: "webhook", description: "A signed request to an address of your choice." });

const slackSchema = z
  .strictObject({
    url: text.describe("An incoming webhook of Slack, or of a compatible service. The address itself is a secret."),
    channel: name.optional().describe("Default: the channel of the webhook."),
    text: notificationText.describe("May have expressions. Default: what happened, why, and a link."),
  })
  .meta({ id: "slackMessage", title: "Slack message", description: "A message to a channel." });

const emailSchema = z
  .strictObject({
    to: z
      .array(z.string().regex(/^[^\s@]+@[^\s@]+$|^\$\{\{.*\}\}$/, { error: "must be an e-mail address" }))
      .min(1)
      .max(LIMITS.listItems)
      .describe("Addresses, which may be `${{ secrets.NAME }}`. Each gets an e-mail of its own."),
    subject: text.max(LIMITS.messageChars).optional().describe("May have expressions. Default: what happened."),
    text: notificationText.describe("May have expressions. Default: what happened, why, and a link."),
  })
  .meta({ id: "email", title: "e-mail", description: "An e-mail to some addresses." });

export const notifySchema = z
  .array(
    z
      .strictObject({
        on: z
          .array(z.enum(NOTIFICATION_REASONS))
          .min(1)
          .describe(
            "When it is sent: at these ends of the run or job; at `fixed`, a success after a failure; at `approval`, when one is requested; while it is `waiting`.",
          ),
        longerThan: duration("1m", "30d", "How long a wait has to last before it is told; for `waiting`.").optional(),
        webhook: webhookSchema.optional(),
        slack: slackSchema.optional(),
        email: emailSchema.optional(),
      })
      .meta({ id: "notification", title: "notification" }),
  )
  .max(LIMITS.listItems)
  .describe("Notifications; each entry has one of webhook, slack and email.");

export const permissionsSchema = z
  .strictObject({
    idToken: z
      .boolean()
      .optional()
      .describe("The steps may ask for OpenID Connect tokens, which prove to others what runs. Default false."),
    api: z
      .enum(["none", ...JOB_API_WORDS])
      .optional()
      .describe(
        "What the steps may do in the project with the job's own token for the API; with `none` there is no token. Default: `read` with `idToken: true`, else `none`.",
      ),
  })
  .meta({
    id: "permissions",
    title: "permissions",
    description: "The identity that the steps of a job have. That of a job replaces that of the pipeline.",
  });

export const concurrencySchema = z
  .strictObject({
    group: plainText.describe("Name of the group within the project; may have expressions."),
    limit: z
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .describe("How many runs or jobs of the group may run at once. Default 1."),
    onConflict: z
      .enum(ON_CONFLICT)
      .optional()
      .describe("What a run or job does when the group is full: it waits, ends an older one, or fails. Default queue."),
  })
  .meta({
    id: "concurrency",
    title: "concurrency",
    description: "Bounds how many runs or jobs of a group run at once.",
  });
