/** The installation as its operators see it: nodes, shards with their mailboxes, dead letters, and Redis servers. */
import { z } from "zod";
import type { MailboxInspection, MailboxState } from "../../../queues/mailbox-inspection.ts";
import type { NodeRegistry } from "../../../queues/node-registry.ts";
import type { Quotas, RateLimits } from "../../domain/quotas.ts";
import type { Retention } from "../../domain/retention.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { AppContext, WithStores } from "../context.ts";
import { fields, listOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

/** The application context with what only the use cases of operators work with. */
export interface ClusterContext extends AppContext {
  readonly retention: Retention;
  /** Those that the environment gives; absent for none. */
  readonly quotas?: Quotas;
  /** The limits on calls of the environment; absent for none. */
  readonly rateLimits?: RateLimits;
  readonly nodes: Pick<NodeRegistry, "list">;
  readonly inspection: Pick<MailboxInspection, "states" | "servers" | "failed" | "retry">;
}

type ReadContext = Pick<ClusterContext, "clock" | "nodes" | "inspection"> & WithStores<"shards" | "deadLetters">;

const NodeShape = shape("Node", () => ({
  nodeId: z.string(),
  roles: listOf(z.string()),
  version: z.string(),
  host: z.string(),
  pid: wholeNumber,
  startedAt: time,
  /** The newest schema of snapshots that the node reads. */
  schema: wholeNumber,
  /** Shards whose lease the node holds, ascending. */
  shards: listOf(wholeNumber),
}));

const ShardShape = shape("Shard", () => ({
  shard: wholeNumber,
  /**
   * Node id of the lease's holder; null without a holder. An id that is not among the nodes is of a node that died
   * seconds ago.
   */
  owner: z.string().nullable(),
  /** Grows each time the shard changes hands; 0 before the first owner. */
  epoch: wholeNumber,
  depth: fields(() => ({
    waiting: wholeNumber,
    /** Fetched by an owner and not settled, or fetched by an owner that died and has no successor yet. */
    active: wholeNumber,
    /** To be delivered at a later time. */
    delayed: wholeNumber,
    /** Kept because no owner could read them. */
    failed: wholeNumber,
  })),
  /** How long the oldest waiting envelope has waited; null when none waits. */
  oldestWaitingMs: wholeNumber.nullable(),
}));

export const ClusterShape = shape("Cluster", () => ({
  /** Live nodes, oldest first. */
  nodes: listOf(NodeShape),
  /** All shards, ascending. */
  shards: listOf(ShardShape),
  deadLetters: fields(() => ({
    total: wholeNumber,
    /** Messages that their actor could not decide. */
    messages: wholeNumber,
    /** Envelopes that no owner could read. */
    envelopes: wholeNumber,
  })),
  redis: listOf(
    fields(() => ({
      /** `host:port`, or the path of a socket. */
      address: z.string(),
      usedMemoryBytes: wholeNumber,
      /** Null when the server has no memory limit. */
      maxMemoryBytes: wholeNumber.nullable(),
    })),
  ),
}));

type NodeView = z.infer<typeof NodeShape>;
type ShardView = z.infer<typeof ShardShape>;
export type ClusterView = z.infer<typeof ClusterShape>;

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
