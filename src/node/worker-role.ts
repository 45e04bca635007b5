/** The role `worker`: owns shards and runs actors. Only a node with the role loads it. */
import type { Registry } from "prom-client";
import { Kernel } from "../../actors/kernel/kernel.ts";
import type { TurnSaved } from "../../actors/kernel/kernel-context.ts";
import { aggregateTypeOf } from "../../actors/aggregates.ts";
import type { MessageFormat } from "../../queues/envelope.ts";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { artifactPruner } from "../app/content/artifact-pruner.ts";
import { cachePruner } from "../app/content/cache-pruner.ts";
import { objectCollector } from "../app/content/object-collector.ts";
import { uploadPruner } from "../app/content/upload-pruner.ts";
import { AreaDeleter } from "../app/deletion/area-deleter.ts";
import type { AppContext } from "../app/context.ts";
import { HookRunner } from "../app/hooks/hook-runner.ts";
import { AgeGuard } from "../app/upkeep/age-guard.ts";
import { GroupReconciler } from "../app/upkeep/group-reconciler.ts";
import { PipelineDeleter } from "../app/upkeep/pipeline-deleter.ts";
import { Dispatcher } from "../app/telling/dispatcher.ts";
import { addressRule } from "../outgoing/addresses.ts";
import { mailSender } from "../outgoing/mail.ts";
import type { Outgoing } from "../outgoing/outgoing.ts";
import { requestSender } from "../outgoing/requests.ts";
import { schedulePort } from "../app/schedules/schedule-port.ts";
import { PresenceEvents } from "../app/system-events/presence-events.ts";
import { EndedRuns } from "../app/statistics/ended-runs.ts";
import { RetentionPruner } from "../app/upkeep/retention-pruner.ts";
import type { NodeConfig } from "../settings/config.ts";
import type { OwnershipGuard } from "../../queues/ownership-guard.ts";
import { BOARD_WITNESS } from "../board/redis-board.ts";
import type { RedisTarget } from "../redis/connect.ts";
import type { Stores } from "../stores/ports/stores.ts";
import { registerTurnMeters } from "../telemetry/meter-metrics.ts";
import type { Meters } from "../telemetry/meters.ts";
import { registerWorkerMetrics } from "./metrics.ts";
import { registerRetentionMetrics } from "./retention-metrics.ts";
import type { Teardown } from "./teardown.ts";

interface WorkerParts {
  readonly guard: OwnershipGuard;
  /** The stores and the clock of the kernel. */
  readonly kernel: Pick<AppContext, "clock"> & { readonly stores: Stores };
  readonly meters: Meters;
  readonly onTurnSaved: TurnSaved;
  readonly nodeId: string;
  readonly redis: RedisTarget;
  readonly registry: Registry;
  readonly messages: MessageFormat;
  readonly everySenderRings: () => Promise<boolean>;
}

/** Starts the kernel, the owner of shards and the pruners. */
export async function startWorker(
  config: NodeConfig,
  context: AppContext,
  { guard, kernel: kernelParts, nodeId, redis, registry, messages, meters, onTurnSaved, everySenderRings }: WorkerParts,
  teardown: Teardown,
): Promise<ShardOwner> {
  const { stores, log } = context;
  const onTurnTaken = (ms: number): void => meters.turns.observe(ms / 1_000);
  // Spans are made of whole runs, which are read for them.
  const endedRuns = context.spans === undefined ? new EndedRuns() : undefined;
  const kernel = new Kernel({
    ...context,
    ...kernelParts,
    typeOf: aggregateTypeOf,
    schedules: schedulePort(context),
    onTurnSaved: (changed, before, head, plan) => {
      onTurnSaved(changed, before, head, plan);
      endedRuns?.note(changed, before, head, plan);
    },
    onTurnTaken,
    onSaving: (owed) => context.begunRuns?.tellComing(owed),
  });
  teardown.add("the kernel", () => kernel.stop());
  context.begunRuns?.listenSent(({ aggregate, plan }) => kernel.adopt(aggregate, plan));
  context.begunRuns?.listenDone((runId) => kernel.creatorIsDone(runId));
  const owner = new ShardOwner({
    redis,
    isPrivate: config.redis === null,
    nodeId,
    shards: context.shards,
    handler: kernel,
    witness: BOARD_WITNESS,
    epochs: stores.shards,
    everySenderRings,
    format: messages,
    guard,
    log,
  });
  await owner.start();
  teardown.add("the owner of shards", () => owner.stop());
  const ages = new AgeGuard(context, () => guard.bar === "clock");
  const retention = new RetentionPruner(context, config.retention, { owned: () => owner.owned(), ages, endedRuns });
  for (const [name, part] of [
    ["the group reconciler", new GroupReconciler(context, () => owner.owned())],
    ["the deleter of projects and tenants", new AreaDeleter(context, () => owner.owned())],
    ["the deleter of pipelines", new PipelineDeleter(context, () => owner.owned())],
    ["the artifact pruner", artifactPruner(context, ages)],
    ["the cache pruner", cachePruner(context, ages)],
    ["the upload pruner", uploadPruner(context, ages)],
    ["the collector of objects", objectCollector(context, ages, () => owner.owned().includes(0))],
    ["the retention pruner", retention],
    ["the presence of agents", new PresenceEvents(context, () => owner.owned())],
    ["the runner of hooks", new HookRunner(context, () => owner.owned())],
    ["the dispatcher", new Dispatcher(context, () => owner.owned(), outgoingOf(config))],
  ] as const) {
    teardown.add(name, () => part.stop());
    part.start();
  }
  registerTurnMeters(registry, meters);
  registerWorkerMetrics(registry, { counters: kernel.counters, owned: () => owner.owned() });
  registerRetentionMetrics(registry, context.clock, retention.figures);
  return owner;
}

function outgoingOf({ outgoingNetworks, mail }: NodeConfig): Outgoing {
  return {
    request: requestSender(addressRule(outgoingNetworks)),
    mail: mail === null ? null : mailSender(mail),
  };
}
