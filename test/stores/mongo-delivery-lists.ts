/** The lists of hooks and deliveries, and the index on MongoDB that serves each. */
import { asId, type HookId, newId, type ProjectId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export type Index = Readonly<Record<string, 1 | -1>>;

/** What is called, the collection that is read, and the index that serves it. */
export type Row = readonly [name: string, list: (stores: Stores) => Promise<unknown>, collection: string, index: Index];

const [runId, hookId, projectId] = [newId("run"), asId<HookId>("hook_1"), asId<ProjectId>("default")];

export const DELIVERY_LISTS: readonly Row[] = [
  [
    "deliveries",
    ({ deliveries }) => deliveries.list("lane", {}, 9, { at: 5, id: "x" }),
    "deliveries",
    { lane: 1, createdAt: 1, _id: 1 },
  ],
  [
    "deliveries in a state",
    ({ deliveries }) => deliveries.list("lane", { state: "failed" }, 9, undefined),
    "deliveries",
    {
      lane: 1,
      state: 1,
      createdAt: 1,
      _id: 1,
    },
  ],
  [
    "deliveries about a run",
    ({ deliveries }) => deliveries.list("lane", { runId: runId }, 9, { at: 5, id: "x" }),
    "deliveries",
    { lane: 1, runId: 1, createdAt: 1, _id: 1 },
  ],
  ["hooks", ({ hooks }) => hooks.list(projectId), "hooks", { projectId: 1, _id: 1 }],
  [
    "deliveries of a hook",
    ({ hooks }) => hooks.listDeliveries(hookId, {}, 9, { at: 5, id: "x" }),
    "hook_deliveries",
    { hookId: 1, receivedAt: 1, _id: 1 },
  ],
  [
    "deliveries of a hook in a state",
    ({ hooks }) => hooks.listDeliveries(hookId, { state: "done" }, 9, undefined),
    "hook_deliveries",
    { state: 1, hookId: 1, receivedAt: 1, _id: 1, dueAt: 1 },
  ],
  [
    "notifications of a run",
    ({ deliveries }) => deliveries.listNotifications({ runId: runId }, {}, 9, { at: 5, id: "x" }),
    "deliveries",
    { runId: 1, createdAt: 1, _id: 1 },
  ],
  [
    "notifications of a project",
    ({ deliveries }) => deliveries.listNotifications({ projectId: projectId }, {}, 9, undefined),
    "deliveries",
    { projectId: 1, createdAt: 1, _id: 1 },
  ],
  [
    "notifications of a project in a state",
    ({ deliveries }) => deliveries.listNotifications({ projectId: projectId }, { state: "failed" }, 9, undefined),
    "deliveries",
    { projectId: 1, state: 1, createdAt: 1, _id: 1 },
  ],
  [
    "commit statuses of a run",
    ({ deliveries }) => deliveries.listOfRun(runId, "status/", { state: "owed" }, 9, { at: 5, id: "x" }),
    "deliveries",
    { runId: 1, createdAt: 1, _id: 1 },
  ],
];
