/** What users have chosen to be told of, as it is when something has happened and when it is sent. */
import type { ProjectId, UserId } from "../../domain/ids.ts";
import type { ChosenReason, PlannedNotification } from "../../domain/plan.ts";
import type { NotificationChoice, UserOwner } from "../../stores/ports/documents.ts";
import type { RunOrigin } from "../../stores/ports/aggregates.ts";
import { absentUser } from "../identity/access.ts";
import { mayIn } from "../reaching.ts";
import type { NotificationContext } from "./context.ts";
import type { NotificationRecord, ToldUser } from "./notification-record.ts";

/** A choice with the user who made it. */
export interface ChosenBy {
  readonly userId: UserId;
  readonly choice: NotificationChoice;
}

const USER = "user/";

/** The choices of these users, by project. */
export async function choicesOf(
  { stores }: Pick<NotificationContext, "stores">,
  users: readonly UserId[],
): Promise<ReadonlyMap<ProjectId, readonly ChosenBy[]>> {
  const found = new Map<ProjectId, ChosenBy[]>();
  if (users.length === 0) return found;
  const owners = users.map((userId): UserOwner => `user/${userId}`);
  for (const { owner, body } of await stores.documents.find("notificationChoices", owners)) {
    const userId = owner.slice(USER.length) as UserId;
    for (const choice of body.choices) {
      found.set(choice.projectId, [...(found.get(choice.projectId) ?? []), { userId, choice }]);
    }
  }
  return found;
}

/** What the choice asks for of what happens at that time, as an entry of `notify` would; undefined for nothing. */
export function askedAt({ on, longerThanMs }: NotificationChoice, at: number): PlannedNotification | undefined {
  const reasons = on.filter(({ since }) => at >= since).map(({ reason }) => reason);
  if (reasons.length === 0) return undefined;
  return { job: null, on: reasons, longerThanMs, channel: "email", message: {} };
}

/** The name of the user, if the choice is about a run with this origin; undefined otherwise. */
export async function chooserOf(
  { stores }: NotificationContext,
  { userId, choice }: ChosenBy,
  { triggeredBy }: Pick<RunOrigin, "triggeredBy">,
): Promise<string | undefined> {
  const user = await stores.identity.findUser(userId);
  if (user === undefined) return undefined;
  return choice.runs === "all" || [user.name, user.userId].includes(triggeredBy) ? user.name : undefined;
}

/** Whether the user still wants to be told, and may be: as the store has it now. */
export async function isStillWanted(
  context: NotificationContext,
  { userId, at }: ToldUser,
  { on }: Pick<NotificationRecord, "on">,
  projectId: ProjectId,
): Promise<boolean> {
  const user = await context.stores.identity.findUser(userId);
  const caller = user && absentUser(user);
  if (caller === undefined || !(await mayIn(context, caller, "readRuns", projectId))) return false;
  const chosen = (await choicesOf(context, [userId])).get(projectId) ?? [];
  return chosen.some(({ choice }) => askedAt(choice, at)?.on.includes(on as ChosenReason));
}
