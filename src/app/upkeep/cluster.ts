/** The installation as its operators see it: nodes, shards and their mailboxes, and what could not be decided. */
import type { MailboxDepth, MailboxInspection, MailboxState } from "../../../queues/mailbox-inspection.ts";
import type { NodeRegistry } from "../../../queues/node-registry.ts";
import type { Retention } from "../../domain/retention.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { AppContext } from "../context.ts";
import { rfc3339 } from "../times.ts";

/** What the use cases of operators work with, besides. */
export interface ClusterContext extends AppContext {
  readonly retention: Retention;
  readonly nodes: Pick<NodeRegistry, "list">;
  readonly inspection: Pick<MailboxInspection, "states" | "servers" | "failed" | "retry">;
}

export interface NodeView {
  readonly nodeId: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: string;
  /** The newest schema of snapshots that it reads. */
  readonly schema: number;
  /** Shards whose lease it holds, ascending. */
  readonly shards: readonly number[];
}

export interface ShardView {
  readonly shard: number;
  /** The holder of the lease; one that is not among the nodes has died within the last seconds. Null without one. */
  readonly owner: string | null;
  /** Grows each time that the shard changes hands; 0 before the first owner. */
  readonly epoch: number;
  readonly depth: MailboxDepth;
  /** How long the oldest waiting envelope has waited; null when none waits. */
  readonly oldestWaitingMs: number | null;
}

export interface ClusterView {
  /** Those that live, oldest first. */
  readonly nodes: readonly NodeView[];
  /** All, ascending. */
  readonly shards: readonly ShardView[];
  readonly deadLetters: {
    readonly total: number;
    /** Messages that their actor could not decide. */
    readonly messages: number;
    /** Envelopes that no owner could read. */
    readonly envelopes: number;
  };
  readonly redis: Awaited<ReturnType<MailboxInspection["servers"]>>;
}

/** For administrators. Rejects while Redis or the store cannot be read: half a picture would look like a fault. */
export async function readCluster(context: ClusterContext, caller: Caller): Promise<ClusterView> {
  authoriseUser(caller, "readCluster");
  const { nodes, inspection, stores, clock } = context;
  const [live, mailboxes, redis, epochs, messages] = await Promise.all([
    nodes.list(),
    inspection.states(),
    inspection.servers(),
    stores.shards.epochs(),
    stores.deadLetters.count(),
  ]);
  const now = clock.now();
  const envelopes = countFailed(mailboxes);
  return {
    nodes: live.map(({ nodeId, roles, version, host, pid, startedAt, schema }): NodeView => {
      const shards = mailboxes.filter(({ owner }) => owner === nodeId).map(({ shard }) => shard);
      return { nodeId, roles, version, host, pid, startedAt: rfc3339(startedAt), schema, shards };
    }),
    shards: mailboxes.map(({ shard, owner, depth, waitingSince }): ShardView => {
      const oldestWaitingMs = waitingSince === null ? null : Math.max(0, now - waitingSince);
      return { shard, owner, epoch: epochs.get(shard) ?? 0, depth, oldestWaitingMs };
    }),
    deadLetters: { total: messages + envelopes, messages, envelopes },
    redis,
  };
}

/** Envelopes that no owner could read, over all mailboxes. */
export function countFailed(mailboxes: readonly MailboxState[]): number {
  return mailboxes.reduce((sum, { depth }) => sum + depth.failed, 0);
}
