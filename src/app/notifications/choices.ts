/** What users choose to be told of by e-mail: read and replaced by themselves. Nothing is told to a user who chose nothing. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { parseDuration, writeDuration } from "../../domain/durations.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type ProjectId, type UserId } from "../../domain/ids.ts";
import { CHOSEN_REASONS, type ChosenReason } from "../../domain/plan.ts";
import type { NotificationChoice, OwnedDocument } from "../../stores/ports/documents.ts";
import type { AppContext, WithStores } from "../context.ts";
import { authoriseUser, type Caller, type UserCaller } from "../identity/access.ts";
import { noUser } from "../identity/reaching-users.ts";
import { noProject } from "../lookups.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { mayIn } from "../reaching.ts";
import { fields, id, listOf, shape, time } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import { markChosen } from "./notified-projects.ts";

const MAX_CHOICES = 200;
const [MIN_WAIT_MS, MAX_WAIT_MS] = [60_000, 30 * 86_400_000];
const RUNS = ["mine", "all"] as const;

export type ChoiceContext = Pick<AppContext, "clock"> & WithStores<"documents" | "pipelines" | "rights" | "identity">;

/** How long a wait has to last, written as `30m` and parsed to milliseconds. */
const waitLength = z.string().transform((text, check): number => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= MIN_WAIT_MS && ms <= MAX_WAIT_MS) return ms;
  check.addIssue("must be a duration such as 30m or 2h, from 1m to 30d");
  return z.NEVER;
});

const choiceBody = z
  .strictObject({
    projectId: z.string().min(1).max(64),
    on: z.array(z.enum(CHOSEN_REASONS)).min(1).max(CHOSEN_REASONS.length),
    runs: z.enum(RUNS).default("mine"),
    /** For `waiting`. */
    longerThan: waitLength.nullable().default(null),
  })
  .refine(({ on, longerThan }) => !on.includes("waiting") || longerThan !== null, {
    path: ["longerThan"],
    message: "is needed for `waiting`: how long a wait has to last, such as 30m",
  })
  .refine(({ on, longerThan }) => on.includes("waiting") || longerThan === null, {
    path: ["longerThan"],
    message: "counts for `waiting` only: leave it out, or add `waiting` to `on`",
  });

export const notificationChoicesBody = z.strictObject({ choices: z.array(choiceBody).max(MAX_CHOICES) });
type WantedChoice = z.output<typeof choiceBody>;

export const NotificationChoicesShape = shape("NotificationChoices", () => ({
  /** Where they are sent; null for a caller without an address, who is told nothing. */
  email: z.string().nullable(),
  choices: listOf(
    fields(() => ({
      projectId: id<ProjectId>(),
      on: listOf(z.enum(CHOSEN_REASONS)),
      runs: z.enum(RUNS),
      /** Null without `waiting`. */
      longerThan: z.string().nullable(),
      /** From when on all of it is told. */
      since: time,
    })),
  ),
}));
type ChoicesView = z.infer<typeof NotificationChoicesShape>;

/** The caller's own, as far as the caller may still read the runs of their projects. */
export async function readNotificationChoices(context: ChoiceContext, caller: Caller): Promise<ChoicesView> {
  const user = authoriseUser(caller, "readOwnAccount");
  const { body } = await load(context, user.userId);
  return viewOf(context, user, body.choices);
}

/**
 * Replaces the caller's own. What stays chosen is told as before; nothing that happened before a choice is told. Throws
 * `malformed_request` for a project that the caller may not see, and `conflict` for a caller without an e-mail address.
 */
export async function replaceNotificationChoices(
  context: ChoiceContext,
  caller: Caller,
  { choices: wanted, match }: z.output<typeof notificationChoicesBody> & WithPrecondition<ChoicesView>,
): Promise<ChoicesView> {
  const user = authoriseUser(caller, "manageOwnNotifications");
  await requireProjects(context, user, wanted);
  if (wanted.length > 0) await requireAddress(context, user.userId);
  return changeUnmoved(async () => {
    const before = await load(context, user.userId);
    match?.(await viewOf(context, user, before.body.choices));
    const now = context.clock.now();
    const choices = wanted.map((one) => choiceFrom(one, before.body.choices, now));
    for (const { projectId } of choices) await markChosen(context, projectId, user.userId);
    const after = { ...before, version: before.version + 1, body: { choices } };
    const change = {
      kind: "notificationChoices",
      id: user.userId,
      name: user.name,
      before: { choices: before.body.choices.map(inWords) },
      after: { choices: choices.map(inWords) },
    } as const;
    const isSaved = await recorded(user, change, () => context.stores.documents.save(after));
    return isSaved ? viewOf(context, user, choices) : MOVED;
  });
}

/** A reason counts from the first time that it was chosen without a break. All runs in place of one's own are a new choice. */
function choiceFrom(
  { projectId, on, runs, longerThan }: WantedChoice,
  before: readonly NotificationChoice[],
  now: number,
): NotificationChoice {
  const earlier = before.find((one) => one.projectId === projectId);
  const isWider = runs === "all" && earlier?.runs === "mine";
  const sinceOf = (reason: ChosenReason): number =>
    (isWider ? undefined : earlier?.on.find((one) => one.reason === reason)?.since) ?? now;
  const reasons = [...new Set(on)].map((reason) => ({ reason, since: sinceOf(reason) }));
  return { projectId: asId<ProjectId>(projectId), on: reasons, runs, longerThanMs: longerThan };
}

async function requireProjects(
  context: ChoiceContext & Pick<AppContext, "clock">,
  user: UserCaller,
  wanted: readonly WantedChoice[],
): Promise<void> {
  const problems = await Promise.all(
    wanted.map(async ({ projectId: text }, at) => {
      const projectId = asId<ProjectId>(text);
      const pointer = `/choices/${at}/projectId`;
      const first = wanted.findIndex((one) => one.projectId === text);
      if (first < at) {
        return [{ code: "duplicate", pointer, message: `is chosen twice: also by /choices/${first}` }];
      }
      if (await mayIn(context, user, "readRuns", projectId)) return [];
      return [{ code: "unknown", pointer, message: noProject(projectId).message }];
    }),
  );
  const [first] = problems.flat();
  if (first === undefined) return;
  throw new MillraceError("malformed_request", `${first.pointer}: ${first.message}`, { problems: problems.flat() });
}

async function requireAddress({ stores }: ChoiceContext, userId: UserId): Promise<void> {
  const found = await stores.identity.findUser(userId);
  if (found === undefined) throw noUser(userId);
  if (found.email !== undefined) return;
  throw new MillraceError("conflict", `${found.name} has no e-mail address: an administrator can set one`);
}

/** Without a document, one that no save has stored yet. */
async function load({ stores }: ChoiceContext, userId: UserId): Promise<OwnedDocument<"notificationChoices">> {
  const owner = `user/${userId}` as const;
  const [found] = await stores.documents.find("notificationChoices", [owner]);
  return found ?? { kind: "notificationChoices", owner, version: 0, body: { choices: [] } };
}

async function viewOf(
  context: ChoiceContext,
  user: UserCaller,
  choices: readonly NotificationChoice[],
): Promise<ChoicesView> {
  const email = (await context.stores.identity.findUser(user.userId))?.email ?? null;
  const isSeen = await Promise.all(choices.map(({ projectId }) => mayIn(context, user, "readRuns", projectId)));
  const shown = choices.filter((_, at) => isSeen[at]);
  return {
    email,
    choices: shown.map(({ projectId, on, runs, longerThanMs }) => ({
      projectId,
      on: on.map(({ reason }) => reason),
      runs,
      longerThan: longerThanMs === null ? null : writeDuration(longerThanMs),
      since: rfc3339(Math.max(...on.map(({ since }) => since))),
    })),
  };
}

/** For the audit log. */
function inWords({ projectId, on, runs }: NotificationChoice): string {
  return `${projectId}: ${on.map(({ reason }) => reason).join(", ")} of ${runs}`;
}
