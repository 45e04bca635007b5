/**
 * Every family of metrics that nodes serve: docs/metrics.md is made from this table, and no other family can be
 * registered.
 */

interface FamilyOfAnyType {
  readonly help: string;
  /** What each label holds. The values of a label are bounded: none is chosen by a user. */
  readonly labels: Readonly<Record<string, string>>;
  readonly from: Source;
}

export type Family =
  | (FamilyOfAnyType & { readonly type: "counter" | "gauge" })
  /** `buckets`: upper bounds, seconds. */
  | (FamilyOfAnyType & { readonly type: "histogram"; readonly buckets: readonly number[] });

/**
 * Which nodes serve a family. `node`: every node, of itself. A role: the nodes with it, of themselves. `cluster`: every
 * node, and the value is that of the installation.
 */
export type Source = "node" | "edge" | "gateway" | "worker" | "cluster";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const START_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5, 30, 2 * MINUTE, 10 * MINUTE];
const CALL_BUCKETS = [0.000_5, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];
const WORK_BUCKETS = [0.1, 1, 5, 15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR];

const TRIGGER = "`manual`, `cron`, `event`";
const STATUS_OF_RUN = "`success`, `failed`, `cancelled`, `partial`";

export const FAMILIES = {
  millrace_runs_created_total: {
    type: "counter",
    help: "Runs that this node has created",
    labels: { trigger: TRIGGER },
    from: "node",
  },
  millrace_runs_ended_total: {
    type: "counter",
    help: "Runs whose end this node has saved",
    labels: { status: STATUS_OF_RUN, trigger: TRIGGER },
    from: "node",
  },
  millrace_run_seconds: {
    type: "histogram",
    help: "Time from the creation of a run to its end",
    labels: { status: STATUS_OF_RUN },
    from: "node",
    buckets: WORK_BUCKETS,
  },
  millrace_jobs_started_total: {
    type: "counter",
    help: "Job runs that an agent has begun",
    labels: {},
    from: "node",
  },
  millrace_jobs_ended_total: {
    type: "counter",
    help: "Job runs that have ended, each attempt by itself",
    labels: { status: "`success`, `failed`, `cancelled`" },
    from: "node",
  },
  millrace_steps_ended_total: {
    type: "counter",
    help: "Step runs that have ended, each attempt by itself",
    labels: { status: "`success`, `failed`, `cancelled`, `timeout`, `skipped`" },
    from: "node",
  },
  millrace_step_seconds: {
    type: "histogram",
    help: "Time from the start of a step to its end",
    labels: { status: "`success`, `failed`, `cancelled`, `timeout`" },
    from: "node",
    buckets: WORK_BUCKETS,
  },
  millrace_start_wait_seconds: {
    type: "histogram",
    help: "How long runs and steps waited for their start, by phase: plan, agent, start",
    labels: { phase: "`plan` (runs), `agent` (job runs), `start` (step runs)" },
    from: "node",
    buckets: START_BUCKETS,
  },
  millrace_trigger_to_start_seconds: {
    type: "histogram",
    help: "Time from the trigger of a run to the start of the first step of each job that waited for no other job",
    labels: {},
    from: "node",
    buckets: START_BUCKETS,
  },
  millrace_jobs_waiting: {
    type: "gauge",
    help: "Jobs that wait for an agent, by reason; the same on every node",
    labels: {
      reason: "`no_agent_online`, `no_agent_matches`, `all_busy`, `quota`, `agent` (an agent could take them)",
    },
    from: "cluster",
  },
  millrace_jobs_running: {
    type: "gauge",
    help: "Jobs that agents hold; the same on every node",
    labels: {},
    from: "cluster",
  },
  millrace_agents: {
    type: "gauge",
    help: "Agents by state; the same on every node",
    labels: {
      state: "`online`, `refusing` (online, and takes no jobs at present), `draining`, `lost` (within the last day)",
    },
    from: "cluster",
  },
  millrace_agent_slots: {
    type: "gauge",
    help: "Slots of the agents that are online; the same on every node",
    labels: { state: "`busy`, `free`, `withheld` (free, but the agent is draining or takes no jobs at present)" },
    from: "cluster",
  },
  millrace_kernel_turns_total: {
    type: "counter",
    help: "Turns of aggregates that this node has decided",
    labels: {},
    from: "worker",
  },
  millrace_turn_seconds: {
    type: "histogram",
    help: "Time from the decision of a turn until its effects were performed, the save included",
    labels: {},
    from: "worker",
    buckets: CALL_BUCKETS,
  },
  millrace_kernel_messages_total: {
    type: "counter",
    help: "Messages that turns of this node have decided",
    labels: { outcome: "`decided`, `late` (also among the decided), `dead_letter`" },
    from: "worker",
  },
  millrace_kernel_conflicts_total: {
    type: "counter",
    help: "Saves that found an aggregate saved by another node",
    labels: {},
    from: "worker",
  },
  millrace_kernel_faults_total: {
    type: "counter",
    help: "Turns that failed, for instance because the store did not answer",
    labels: {},
    from: "worker",
  },
  millrace_kernel_aggregates: {
    type: "gauge",
    help: "Aggregates of this node's shards by state",
    labels: {
      state: "`active` (in memory), `parked` (wait for the store), `unreadable` (only a newer version can read them)",
    },
    from: "worker",
  },
  millrace_kernel: {
    type: "gauge",
    help: "Deprecated: use the families millrace_kernel_*",
    labels: {
      kind: "`turns`, `decided`, `late`, `deadLetters`, `conflicts`, `faults`, `activations`, `parked`, `unreadable`",
    },
    from: "worker",
  },
  millrace_shards_owned: { type: "gauge", help: "Shards that this node owns", labels: {}, from: "worker" },
  millrace_worker_barred: {
    type: "gauge",
    help: "1 while this worker may own no shard: `store` when it alone cannot reach the store, `clock` when its clock is wrong",
    labels: { reason: "`store`, `clock`" },
    from: "worker",
  },
  millrace_retention_removed_total: {
    type: "counter",
    help: "Runs that this node has removed, or whose logs, artifacts or events it has removed, by part",
    labels: { part: "`runs`, `logs`, `artifacts`, `events`" },
    from: "worker",
  },
  millrace_retention_removed: {
    type: "gauge",
    help: "Deprecated: use millrace_retention_removed_total",
    labels: { part: "`runs`, `logs`, `artifacts`, `events`" },
    from: "worker",
  },
  millrace_retention_oldest_run_seconds: {
    type: "gauge",
    help: "Age of the oldest run among the pipelines that this node prunes, 0 when there is none",
    labels: {},
    from: "worker",
  },
  millrace_nodes: {
    type: "gauge",
    help: "Living nodes of any role; the same on every node",
    labels: {},
    from: "cluster",
  },
  millrace_mailbox_depth: {
    type: "gauge",
    help: "Envelopes in the mailbox of a shard, by state; the same on every node",
    labels: { shard: "the number of the shard", state: "`waiting`, `active`, `delayed`, `failed`" },
    from: "cluster",
  },
  millrace_mailbox_oldest_seconds: {
    type: "gauge",
    help: "How long the oldest waiting envelope of a shard has waited, 0 when none waits; the same on every node",
    labels: { shard: "the number of the shard" },
    from: "cluster",
  },
  millrace_shard_epoch: {
    type: "gauge",
    help: "Grows each time that a shard gets another owner; the same on every node",
    labels: { shard: "the number of the shard" },
    from: "cluster",
  },
  millrace_dead_letters: {
    type: "gauge",
    help: "Messages in the store that their actor could not decide; the same on every node",
    labels: {},
    from: "cluster",
  },
  millrace_clock_deviation_seconds: {
    type: "gauge",
    help: "How far the clock of this node is ahead of the clocks of Redis and the other nodes; negative when behind; absent with a private Redis",
    labels: {},
    from: "node",
  },
  millrace_http_request_seconds: {
    type: "histogram",
    help: "Time from the head of a request to its answer",
    labels: { method: "the HTTP method", route: "the pattern of the route, or `none`", status: "the HTTP status" },
    from: "edge",
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 30],
  },
  millrace_grpc_call_seconds: {
    type: "histogram",
    help: "Time from the head of a unary call to its status",
    labels: { method: "`package.Service/Method`", code: "the gRPC status" },
    from: "gateway",
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 30],
  },
  millrace_grpc_streams_total: {
    type: "counter",
    help: "Streams that have ended",
    labels: { method: "`package.Service/Method`", code: "the gRPC status" },
    from: "gateway",
  },
  millrace_grpc_streams_open: {
    type: "gauge",
    help: "Open streams",
    labels: { method: "`package.Service/Method`" },
    from: "gateway",
  },
  millrace_grpc_stream_messages_total: {
    type: "counter",
    help: "Messages on streams",
    labels: { method: "`package.Service/Method`", direction: "`received` or `sent`" },
    from: "gateway",
  },
  millrace_store_call_seconds: {
    type: "histogram",
    help: "Time of calls of the store, failed ones included",
    labels: { store: "the kind of record", operation: "the method of its port" },
    from: "node",
    buckets: CALL_BUCKETS,
  },
  millrace_store_errors_total: {
    type: "counter",
    help: "Calls of the store that failed",
    labels: { store: "the kind of record", operation: "the method of its port" },
    from: "node",
  },
  millrace_redis_call_seconds: {
    type: "histogram",
    help: "Time of Redis commands, failed ones included, blocking ones left out",
    labels: { command: "the name of the command, in small letters" },
    from: "node",
    buckets: CALL_BUCKETS,
  },
  millrace_redis_errors_total: {
    type: "counter",
    help: "Redis commands that failed",
    labels: { command: "the name of the command, in small letters" },
    from: "node",
  },
  millrace_object_storage_call_seconds: {
    type: "histogram",
    help: "Time of calls of the object storage until the answer begins, failed ones included",
    labels: { operation: "the operation of S3" },
    from: "node",
    buckets: CALL_BUCKETS,
  },
  millrace_object_storage_errors_total: {
    type: "counter",
    help: "Calls of the object storage that failed, each after its second attempt",
    labels: { operation: "the operation of S3" },
    from: "node",
  },
  millrace_log_lines_total: {
    type: "counter",
    help: "Log lines of steps that this node has taken from agents, and stored",
    labels: {},
    from: "gateway",
  },
  millrace_log_bytes_total: {
    type: "counter",
    help: "Bytes of text in these lines",
    labels: {},
    from: "gateway",
  },
  millrace_deliveries_total: {
    type: "counter",
    help: "Tries to tell receivers of webhooks an event, or people a notification",
    labels: {
      channel:
        "`webhook` (of a project or a tenant), `notify-webhook`, `notify-slack`, `notify-email` (a notification of a run)",
      outcome:
        "`delivered`, `failed` (tried again later), `lost` (failed for days and given up), `gone` (the receiver wants nothing more)",
    },
    from: "worker",
  },
  millrace_spans_total: {
    type: "counter",
    help: "Spans of ended runs, where a receiver of traces is configured",
    labels: { outcome: "`sent`, `dropped` (the buffer was full), `refused` (by the receiver)" },
    from: "worker",
  },
  millrace_viewers: { type: "gauge", help: "Open WebSocket connections", labels: {}, from: "edge" },
  millrace_viewer_subscriptions: {
    type: "gauge",
    help: "Live subscriptions of all WebSocket connections",
    labels: {},
    from: "edge",
  },
  millrace_event_loop_delay_seconds: {
    type: "histogram",
    help: "How late the event loop was at each tenth of a second; a loop that hangs is late at each that it misses",
    labels: {},
    from: "node",
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 3],
  },
  millrace_build_info: {
    type: "gauge",
    help: "1, with the version of the program and of Node",
    labels: { version: "the version of millrace", node: "the version of Node" },
    from: "node",
  },
  process_cpu_seconds_total: {
    type: "counter",
    help: "Processor time of the process, user and system",
    labels: {},
    from: "node",
  },
  process_resident_memory_bytes: { type: "gauge", help: "Memory of the process", labels: {}, from: "node" },
  process_start_time_seconds: {
    type: "gauge",
    help: "Start of the process, seconds since 1970",
    labels: {},
    from: "node",
  },
  nodejs_heap_size_used_bytes: {
    type: "gauge",
    help: "Memory in use on the heap of JavaScript",
    labels: {},
    from: "node",
  },
  nodejs_external_memory_bytes: {
    type: "gauge",
    help: "Memory of buffers outside of the heap",
    labels: {},
    from: "node",
  },
} as const satisfies Readonly<Record<string, Family>>;

export type FamilyName = keyof typeof FAMILIES;
/** The labels of a family, with a value each. */
export type LabelsOf<Name extends FamilyName> = Readonly<Record<keyof (typeof FAMILIES)[Name]["labels"], string>>;
/** The families of one type. */
export type NamesOf<Type extends Family["type"]> = {
  [Name in FamilyName]: (typeof FAMILIES)[Name]["type"] extends Type ? Name : never;
}[FamilyName];

/** An empty histogram with the buckets of its family. */
export function bucketsOf(name: NamesOf<"histogram">): readonly number[] {
  return FAMILIES[name].buckets;
}
