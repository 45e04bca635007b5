/** The installation as its operators see it: nodes, shards with their mailboxes, dead letters, and Redis servers. */
import type { MailboxDepth, MailboxInspection, MailboxState } from "../../../queues/mailbox-inspection.ts";
import type { NodeRegistry } from "../../../queues/node-registry.ts";
import type { Retention } from "../../domain/retention.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { AppContext, WithStores } from "../context.ts";
import { rfc3339 } from "../times.ts";

/** The application context with what only the use cases of operators work with. */
export interface ClusterContext extends AppContext {
  readonly retention: Retention;
  readonly nodes: Pick<NodeRegistry, "list">;
  readonly inspection: Pick<MailboxInspection, "states" | "servers" | "failed" | "retry">;
}

type ReadContext = Pick<ClusterContext, "clock" | "nodes" | "inspection"> & WithStores<"shards" | "deadLetters">;

export interface NodeView {
  readonly nodeId: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: string;
  /** The newest schema of snapshots that the node reads. */
  readonly schema: number;
  /** Shards whose lease the node holds, ascending. */
  readonly shards: readonly number[];
}

export interface ShardView {
  readonly shard: number;
  /**
   * Node id of the lease's holder; null without a holder. An id that is not among the nodes is of a node that died
   * seconds ago.
   */
  readonly owner: string | null;
  /** Grows each time the shard changes hands; 0 before the first owner. */
  readonly epoch: number;
  readonly depth: MailboxDepth;
  /** How long the oldest waiting envelope has waited; null when none waits. */
  readonly oldestWaitingMs: number | null;
}

export interface ClusterView {
  /** Live nodes, oldest first. */
  readonly nodes: readonly NodeView[];
  /** All shards, ascending. */
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

/**
 * For administrators. Rejects while Redis or the store cannot be read: a partial answer would look like a fault of the
 * installation.
 */
export async function readCluster(context: ReadContext, caller: Caller): Promise<ClusterView> {
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
