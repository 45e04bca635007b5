/** Logs of system events as callers read and follow them: who may see which events, a page, and all that follow. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { asId, DEFAULT_TENANT, type TenantId } from "../../domain/ids.ts";
import { roleReaches } from "../../domain/roles.ts";
import {
  INSTALLATION_LOG,
  SYSTEM_OBJECTS,
  type SystemEvent,
  type SystemLog,
  type SystemObject,
} from "../../domain/system-events.ts";
import { systemCloudEvent } from "../events/cloud-event.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import { USER_OPERATIONS } from "../identity/operations.ts";
import { reachTenant } from "../reaching.ts";
import { fields, listOf, shape, someOf, time, wholeNumber } from "../shapes.ts";
import type { SystemEventContext } from "./context.ts";
import type { SystemEventFeed } from "./system-event-feed.ts";

/** What every member of a tenant may list by other calls as well. The other events are for administrators. */
const OPEN_OBJECTS: ReadonlySet<SystemObject> = new Set([
  "agent",
  "definition",
  "project",
  "tenant",
  "variable",
  "plugin",
]);
/** Events of one read, and those that a page looks at while none of them is wanted. */
const READ_AT_ONCE = 100;
const LOOKED_AT = 1_000;

/** The parameters that name events of a log, of whichever protocol. */
export const logFields = {
  /** The id of a tenant, or `installation`. */
  log: z.string().min(1).max(64).default(DEFAULT_TENANT),
  /** Of which objects; absent for all. */
  objects: someOf(SYSTEM_OBJECTS).optional(),
};

export interface WantedEvents {
  readonly log: string;
  readonly objects?: ReadonlySet<SystemObject> | undefined;
}

export const systemEventsQuery = z.strictObject({
  ...logFields,
  /** Number of the last event that the caller has. */
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

export const SystemEventShape = shape("SystemEvent", () => ({
  specversion: z.string(),
  id: z.string(),
  source: z.string(),
  type: z.string(),
  subject: z.string(),
  time,
  datacontenttype: z.string(),
  data: z.looseObject({ id: z.string(), log: z.string(), number: wholeNumber }),
}));
export const SystemEventPageShape = fields(() => ({
  /** In the order of their numbers. */
  list: listOf(SystemEventShape),
  /** `after` of the next page. */
  after: wholeNumber,
  /** The number of the newest event of the log: with this `after` the caller is up to date. */
  newest: wholeNumber,
}));

/** The part of a log that a caller may see and wants. */
export interface Sight {
  readonly systemLog: SystemLog;
  readonly sees: (event: SystemEvent) => boolean;
}

/** Throws `not_found` for the log of a tenant that the caller may not see, and `forbidden`. */
export async function sightOf(
  context: SystemEventContext,
  caller: Caller,
  { log, objects }: WantedEvents,
): Promise<Sight> {
  const isWanted = ({ object }: SystemEvent): boolean => objects?.has(object) ?? true;
  if (log === INSTALLATION_LOG) {
    authoriseUser(caller, "readInstallationEvents");
    return { systemLog: INSTALLATION_LOG, sees: isWanted };
  }
  const tenantId = asId<TenantId>(log);
  const { user } = await reachTenant(context, caller, "readSystemEvents", tenantId);
  const seesAll = roleReaches(user.role, USER_OPERATIONS.readAllSystemEvents.role);
  return { systemLog: tenantId, sees: (event) => isWanted(event) && (seesAll || OPEN_OBJECTS.has(event.object)) };
}

/** The number of the newest event of a log. Throws `malformed_request` when `after` is above it. */
export async function newestOf(
  { stores }: SystemEventContext,
  { systemLog }: Sight,
  after: number | undefined,
): Promise<number> {
  const newest = await stores.systemEvents.newest(systemLog);
  if (after === undefined || after <= newest) return newest;
  throw new MillraceError(
    "malformed_request",
    `${after} is above ${newest}, the number of the newest event of this log: it is a number of another log`,
  );
}

/** Some events of a log behind a number. Throws as {@link sightOf} and {@link newestOf}. */
export async function listSystemEvents(
  context: SystemEventContext,
  caller: Caller,
  { after, limit, ...wanted }: z.output<typeof systemEventsQuery>,
): Promise<z.infer<typeof SystemEventPageShape>> {
  const sight = await sightOf(context, caller, wanted);
  const newest = await newestOf(context, sight, after);
  const found: SystemEvent[] = [];
  let last = after;
  for (let lookedAt = 0; found.length < limit && lookedAt < LOOKED_AT;) {
    const events = await context.stores.systemEvents.read(sight.systemLog, last, READ_AT_ONCE);
    for (const event of events) {
      if (found.length === limit) break;
      last = event.number;
      if (sight.sees(event)) found.push(event);
    }
    if (events.length < READ_AT_ONCE) break;
    lookedAt += events.length;
  }
  const list = found.map(
    (event) => systemCloudEvent(event, context.eventNamespace) as z.infer<typeof SystemEventShape>,
  );
  return { list, after: last, newest: Math.max(newest, last) };
}

/**
 * `skipped`: the numbers of events that were removed before the follower came to them. `caughtUp`: the events up to `newest`
 * are told, and every later one is live. `number` is the place behind the update.
 */
export type SystemUpdate = { readonly number: number } & (
  | { readonly type: "event"; readonly event: SystemEvent }
  | { readonly type: "skipped"; readonly from: number }
  | { readonly type: "caughtUp" }
);

export interface FollowedPart {
  /** Number of the last event that the follower has. */
  readonly after: number;
  /** Number of the newest event at the start. */
  readonly newest: number;
  readonly abort: AbortSignal;
}

/** All events of a log behind a number, and each further one. Ends only with `abort`. */
export async function* followSystemLog(
  feed: SystemEventFeed,
  { systemLog, sees }: Sight,
  { after, newest, abort }: FollowedPart,
): AsyncGenerator<SystemUpdate, void, void> {
  let last = after;
  if (last >= newest) yield { type: "caughtUp", number: last };
  for await (const events of feed.follow({ systemLog, after, abort })) {
    for (const event of events) {
      const { number } = event;
      if (number > last + 1) yield { type: "skipped", from: last + 1, number: number - 1 };
      const isCaughtUp = last < newest && number >= newest;
      last = number;
      if (sees(event)) yield { type: "event", event, number };
      if (isCaughtUp) yield { type: "caughtUp", number };
    }
  }
}
