/**
 * The table of all system events: what each type means, and the fields of its data. docs/events.md is written from it.
 * Import only types from here where zod must not be loaded.
 */
import { z } from "zod";
import type { SystemLifecycle, SystemObject } from "../system-events.ts";
import type { EventKind } from "./run-events.ts";

const text = z.string();

const id = text.describe("Id of the object.");
/** Of a change that a caller has made. */
const change = z.strictObject({
  id,
  name: text.nullable().describe("Its name at that time; null for what has none."),
  projectId: text.nullable().describe("Id of the project that it is in, or null."),
  operation: text.describe("The operation that was called, as the audit log names it."),
  by: text.describe("Name of who called it; empty for a caller without a name."),
  actorKind: text.describe(
    "`user`, `job`, `agent`, `registration` or `operator`; `anonymous` for a caller without proof.",
  ),
  actorId: text.nullable().describe("Id of the caller, or null."),
  onBehalfOf: text.nullable().describe("Name of the user for whom the caller acted, or null."),
  changed: z.array(text).describe("Names of the fields that have changed. Their values are in the audit log."),
});
const presence = z.strictObject({ id, name: text.nullable().describe("Name of the agent.") });

export const SYSTEM_EVENTS = {
  agent: {
    registered: { when: "An agent has registered, perhaps once more.", data: change },
    updated: { when: "The labels of an agent were changed.", data: change },
    bound: { when: "An agent was bound to other projects, or to none.", data: change },
    draining: { when: "A user lets the agent take no new job.", data: change },
    undrained: { when: "A user lets the agent take jobs again.", data: change },
    revoked: { when: "The token of an agent was revoked.", data: change },
    deleted: { when: "An agent was removed, or has removed itself.", data: change },
    online: { when: "The agent is connected.", data: presence },
    offline: { when: "The agent has left, or was silent for 30 s.", data: presence },
    lost: { when: "The agent was silent for too long, and the jobs that it held count as lost.", data: presence },
  },
  definition: {
    created: { when: "A pipeline was made.", data: change },
    updated: { when: "The name, the description or another fact of a pipeline was changed.", data: change },
    saved: { when: "A revision of the definition was saved.", data: change },
    restored: { when: "An earlier revision of the definition was restored.", data: change },
    deleted: { when: "A pipeline was deleted.", data: change },
  },
  project: {
    created: { when: "A project was made.", data: change },
    updated: { when: "A project was changed.", data: change },
    deleted: { when: "A project was deleted.", data: change },
  },
  tenant: {
    created: { when: "A tenant was made. In the log of the installation.", data: change },
    updated: { when: "A tenant was changed.", data: change },
    deleted: { when: "A tenant was deleted. In the log of the installation.", data: change },
  },
  settings: { updated: { when: "Settings of the installation, a tenant or a project were changed.", data: change } },
  variable: {
    created: { when: "A variable was made.", data: change },
    updated: { when: "A variable has another value.", data: change },
    deleted: { when: "A variable was deleted.", data: change },
  },
  secret: {
    created: { when: "A secret was made.", data: change },
    updated: { when: "A secret has another value.", data: change },
    deleted: { when: "A secret was deleted.", data: change },
  },
  plugin: {
    created: { when: "A release of a plugin was pushed.", data: change },
    deleted: { when: "A release of a plugin was deleted.", data: change },
  },
  webhook: {
    created: { when: "A webhook was made.", data: change },
    updated: { when: "A webhook was changed, got another secret, or was disabled.", data: change },
    deleted: { when: "A webhook was deleted.", data: change },
  },
  hook: {
    created: { when: "A hook was made, which takes deliveries of a sender.", data: change },
    updated: { when: "A hook was changed, or was disabled.", data: change },
    deleted: { when: "A hook was deleted.", data: change },
  },
  user: {
    created: { when: "A user was made or invited.", data: change },
    updated: { when: "The role, the password or another fact of a user was changed.", data: change },
    deleted: { when: "A user was deleted.", data: change },
  },
  serviceAccount: {
    created: { when: "A service account was made.", data: change },
    deleted: { when: "A service account was deleted.", data: change },
  },
  team: {
    created: { when: "A team was made.", data: change },
    updated: { when: "A team was renamed, or has another member or one less.", data: change },
    deleted: { when: "A team was deleted.", data: change },
  },
  member: {
    updated: { when: "A role in a tenant or a project was given or changed.", data: change },
    deleted: { when: "A role in a tenant or a project was taken away.", data: change },
  },
  token: {
    created: { when: "A personal token, or one of a service account, was made.", data: change },
    deleted: { when: "A token was revoked.", data: change },
  },
  registrationToken: {
    created: { when: "A token with which agents register was made.", data: change },
    deleted: { when: "A token with which agents register was revoked.", data: change },
  },
  session: {
    started: { when: "A user has logged in.", data: change },
    ended: { when: "A login has ended before its time.", data: change },
  },
  link: { created: { when: "A link was made with which a user sets a password.", data: change } },
  installation: {
    updated: { when: "The number of shards or the master key was changed.", data: change },
  },
} as const satisfies Record<SystemObject, Partial<Record<SystemLifecycle, EventKind>>>;

/** The lifecycle words of an object. */
export type SystemLifecycleOf<O extends SystemObject> = keyof (typeof SYSTEM_EVENTS)[O] & SystemLifecycle;

/** What an agent reports about itself, under a word of its own. */
export const AGENT_REPORT: EventKind = {
  when: "An agent reports something about itself; the last word of the type is the agent's.",
  data: z.strictObject({
    id,
    eventId: text.describe("The id that the agent has given the event."),
    subject: text.describe("The subject that the agent has given the event, or empty."),
    reportedAt: z.iso
      .datetime()
      .describe("When it happened by the clock of the agent; `time` is when it was received."),
    report: z.looseObject({}).describe("The data that the agent has sent."),
  }),
};

/** The whole `data` of the CloudEvent of a type. */
export function systemPayloadOf({ data }: EventKind): z.ZodObject {
  return data.extend({
    log: text.describe("The id of the tenant whose log has the event, or `installation`."),
    number: z.int().min(1).describe("Number of the event within its log, from 1 without gaps."),
    time: z.iso.datetime().describe("When it happened."),
  });
}
