/** Starts the roles of a node. Each role adds what it starts to the teardown. */
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
import type { ClusterContext } from "../app/upkeep/cluster.ts";
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
import type { TlsSource } from "../domain/tls.ts";
import type { RateLimits } from "../domain/quotas.ts";
import type { OwnershipGuard } from "../../queues/ownership-guard.ts";
import { BOARD_WITNESS } from "../board/redis-board.ts";
import { createGrpcServer } from "../grpc/server.ts";
import { type ReadinessChecks, readinessReader } from "../app/readiness.ts";
import { createHttpServer } from "../http/server/server.ts";
import type { RedisTarget } from "../redis/connect.ts";
import type { Stores } from "../stores/ports/stores.ts";
import { registerTurnMeters } from "../telemetry/meter-metrics.ts";
import type { Meters } from "../telemetry/meters.ts";
import { attachWebSocketEndpoint } from "../ws/endpoint.ts";
import { bindingAddress, closeServer, listen, reachableAddress } from "./listen.ts";
import { registerWorkerMetrics } from "./metrics.ts";
import { readOidcFile } from "./oidc-file.ts";
import { registerRetentionMetrics } from "./retention-metrics.ts";
import type { Teardown } from "./teardown.ts";

const HTTP_GRACE_MS = 5_000;
const GRPC_GRACE_MS = 3_000;

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

/** Starts the gRPC listener, and resolves with `host:port` to connect to. */
export async function startGateway(
  config: NodeConfig,
  context: AppContext,
  { readiness, tls }: { readonly readiness: ReadinessChecks; readonly tls: TlsSource | null },
  teardown: Teardown,
): Promise<string> {
  const server = createGrpcServer(context, {
    readiness: readinessReader(context, readiness),
    tls,
    reflection: config.grpcReflection,
    agentsPerSecond: config.agentsPerSecond,
  });
  const { host } = config.grpc;
  const port = await server.start(bindingAddress(config.grpc));
  teardown.add("the gateway", () => server.stop(GRPC_GRACE_MS));
  return reachableAddress({ host, port });
}

/** Starts the HTTP and WebSocket listener, and resolves with `host:port` to connect to. */
export async function startEdge(
  config: NodeConfig,
  context: ClusterContext,
  options: {
    readonly registry: Registry;
    readonly readiness: ReadinessChecks;
    readonly rateLimits: () => RateLimits;
    readonly tls: TlsSource | null;
  },
  teardown: Teardown,
): Promise<string> {
  const oidc = await readOidcFile(config.oidcFile);
  const { trustedProxies, origins, publicUrl: configured } = config;
  const { server, app, publicUrl, followers, streams } = createHttpServer(context, {
    ...options,
    oidc,
    trustedProxies,
    origins,
    publicUrl: configured ?? undefined,
  });
  const address = await listen(server, config.http, "MILLRACE_HTTP_ADDRESS");
  // Attached after `listen`, because the endpoint would treat a port in use as an error of its own. The server accepts
  // no connection before this turn of the event loop ends.
  const viewers = attachWebSocketEndpoint(context, {
    server,
    app,
    publicUrl,
    followers,
    registry: options.registry,
  });
  teardown.add("the edge", async () => {
    streams.endAll();
    // Both at the same time: the server waits for the connections of viewers too.
    await Promise.all([closeServer(server, HTTP_GRACE_MS), viewers.close()]);
  });
  return address;
}

/** Rejects, naming the shards, when envelopes do not get through the mailboxes of shards that this node owns. */
export function checkMailboxes(owner: ShardOwner): Promise<void> {
  const stuck = owner.health().filter(({ ok }) => !ok);
  if (stuck.length === 0) return Promise.resolve();
  return Promise.reject(
    new Error(`envelopes do not get through the mailboxes of shards ${stuck.map(({ shard }) => shard).join(", ")}`),
  );
}
