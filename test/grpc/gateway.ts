/** A whole gateway over real engines, with clients. Only the mailbox is a double, which records messages. */
import {
  credentials,
  type ClientDuplexStream,
  type handleUnaryCall,
  Metadata,
  type ServiceError,
  type StatusObject,
} from "@grpc/grpc-js";
import { Redis } from "ioredis";
import { aggregateTypeOf } from "../../actors/aggregates.ts";
import { Kernel } from "../../actors/kernel/kernel.ts";
import type { AddressedMessage } from "../../queues/envelope.ts";
import type { MailboxSender } from "../../queues/ports.ts";
import {
  AgentClient,
  type AgentServer,
  type ConnectRequest,
  type ConnectResponse,
  type Hello,
} from "../../proto/generated/agent/v1/agent.ts";
import { GatewayClient } from "../../proto/generated/gateway/v1/gateway.ts";
import type { AppContext } from "../../src/app/context.ts";
import { LargeReads } from "../../src/app/large-reads.ts";
import { projectFactsOf } from "../../src/app/project-facts.ts";
import { readinessReader } from "../../src/app/readiness.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { RedisBoard } from "../../src/board/redis-board.ts";
import { QueuePlaces } from "../../src/board/queue-places.ts";
import { RedisPresence } from "../../src/board/redis-presence.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { type AgentId, asId, type RootId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { AgentNotice } from "../../src/board/agent-notices.ts";
import { agentChannel } from "../../src/feed/feed.ts";
import { RedisFeed } from "../../src/feed/redis-feed.ts";
import { createGrpcServer, type GrpcServer, type GrpcServerOptions } from "../../src/grpc/server.ts";
import { ARTIFACT_RULES } from "../support/artifact-rules.ts";
import { CACHE_RULES } from "../support/cache-rules.ts";
import { UPLOAD_RULES } from "../support/upload-rules.ts";
import { LOG_LIMIT } from "../support/log-limit.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { testVault } from "../support/secrets.ts";
import { openTestSqlite } from "../support/stores.ts";
import { until } from "../support/until.ts";
import { STORED_RUN_SHARD } from "./stored-run.ts";

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export interface TestAgent {
  readonly agentId: AgentId;
  readonly metadata: Metadata;
}

/** Where agents connect. */
export interface AgentsPort {
  agents(): AgentClient;
  /** Notes a stream that {@link Gateway.hangUp} cancels. */
  opened(stream: { cancel(): void }): void;
}

type GatewayOptions = Partial<GrpcServerOptions> & {
  readonly workloads?: (context: AppContext) => NonNullable<AppContext["workloads"]>;
};

export class Gateway implements AgentsPort {
  readonly sentMessages: AddressedMessage[] = [];
  /** Hears of each doorbell: a worker reads the inbox of that aggregate. */
  onDoorbell: (rootId: RootId) => void = () => {};
  /** While set, no mailbox can be reached. */
  mailboxOutage = false;
  readonly context: AppContext;
  readonly redis: Redis;
  readonly server: GrpcServer;
  readonly testRedis: TestRedis;
  port = 0;
  readonly #store: Awaited<ReturnType<typeof openTestSqlite>>;
  readonly #clients: { close(): void }[] = [];
  readonly #streams: { cancel(): void }[] = [];

  static async start(options: GatewayOptions = {}): Promise<Gateway> {
    const gateway = new Gateway(await startTestRedis(), await openTestSqlite(), options);
    gateway.port = await gateway.server.start("127.0.0.1:0");
    return gateway;
  }

  private constructor(
    testRedis: TestRedis,
    store: Awaited<ReturnType<typeof openTestSqlite>>,
    { workloads, ...options }: GatewayOptions,
  ) {
    this.testRedis = testRedis;
    this.#store = store;
    this.redis = new Redis({ ...testRedis.connection, maxRetriesPerRequest: 1, commandTimeout: 3_000 });
    const subscriber = new Redis({ ...testRedis.connection, maxRetriesPerRequest: null });
    for (const client of [this.redis, subscriber]) client.on("error", () => {});
    const feed = new RedisFeed({ publisher: this.redis, subscriber, log: silent });
    this.context = {
      stores: store.stores,
      feed,
      mailboxes: this.#mailboxes(),
      board: new RedisBoard({
        redis: this.redis,
        feed,
        clock: systemClock,
        tenantOf: async (projectId) => (await projectFactsOf(this.context, projectId)).tenantId,
      }),
      queue: new QueuePlaces(this.redis, systemClock),
      presence: new RedisPresence(this.redis),
      largeReads: new LargeReads(),
      clock: systemClock,
      log: silent,
      shards: 16,
      eventNamespace: "svc",
      secrets: testVault(store.stores),
      artifactRules: ARTIFACT_RULES,
      cacheRules: CACHE_RULES,
      uploadRules: UPLOAD_RULES,
      logLimit: LOG_LIMIT,
      signingKey: new Uint8Array(32),
    };
    if (workloads !== undefined) this.context = { ...this.context, workloads: workloads(this.context) };
    this.server = createGrpcServer(this.context, {
      readiness: readinessReader(this.context, {}),
      heartbeatIntervalMs: 1_000,
      ...options,
    });
  }

  /** A second gateway over the same store and Redis. */
  async another(): Promise<AgentsPort & { stop(): Promise<void> }> {
    const readiness = readinessReader(this.context, {});
    const server = createGrpcServer(this.context, { readiness, heartbeatIntervalMs: 1_000 });
    const port = await server.start("127.0.0.1:0");
    return {
      agents: () => this.#opened(new AgentClient(`127.0.0.1:${port}`, credentials.createInsecure())),
      opened: (stream) => this.opened(stream),
      stop: () => server.stop(1_000),
    };
  }

  /** The file of the store. */
  get storePath(): string {
    return this.#store.path;
  }

  get stores() {
    return this.#store.stores;
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.server.stop(1_000);
    await this.context.feed.close();
    this.redis.disconnect();
    await this.testRedis.stop();
    await this.#store.close();
  }

  /** Cancels all streams of agents, and waits until the gateway has noticed. */
  async hangUp(): Promise<void> {
    for (const stream of this.#streams.splice(0)) stream.cancel();
    await until("no stream is open", async () => (await this.redis.pubsub("CHANNELS", "feed:agent:*")).length === 0);
  }

  opened(stream: { cancel(): void }): void {
    this.#streams.push(stream);
  }

  agents(): AgentClient {
    return this.#opened(new AgentClient(`127.0.0.1:${this.port}`, credentials.createInsecure()));
  }

  logs(): GatewayClient {
    return this.#opened(new GatewayClient(`127.0.0.1:${this.port}`, credentials.createInsecure()));
  }

  #opened<C extends { close(): void }>(client: C): C {
    this.#clients.push(client);
    return client;
  }

  /** A worker that owns the shard of the runs of these tests. */
  async startWorker(): Promise<Kernel> {
    const kernel = new Kernel({ ...this.context, typeOf: aggregateTypeOf });
    await kernel.open(STORED_RUN_SHARD, 1);
    this.onDoorbell = (rootId) => void kernel.receive(STORED_RUN_SHARD, [{ rootId, to: null, message: null }]);
    return kernel;
  }

  async registrationToken(): Promise<Metadata> {
    return bearer(await issueToken(this.context, { kind: "registration", subject: "usr_1", name: "test" }));
  }

  async register(name: string, slots = 2, labels: Record<string, string> = {}): Promise<TestAgent> {
    const metadata = await this.registrationToken();
    const answer = await invoke(this.agents(), "register", { name, slots, labels, version: "1" }, metadata);
    return { agentId: asId<AgentId>(answer.agentId), metadata: bearer(answer.agentToken) };
  }

  notify(agent: TestAgent, notice: AgentNotice): Promise<void> {
    return this.context.feed.publish(agentChannel(agent.agentId), notice);
  }

  /** The messages of one type that were sent to the mailbox so far. */
  messages(type: string): readonly Record<string, unknown>[] {
    return this.sentMessages
      .map(({ message }) => message as Record<string, unknown>)
      .filter((message) => message["type"] === type);
  }

  #mailboxes(): MailboxSender {
    return {
      send: (message) => {
        if (this.mailboxOutage) return Promise.reject(new Error("the mailbox cannot be reached"));
        this.sentMessages.push(message);
        if (message.to === null) this.onDoorbell(message.rootId as RootId);
        return Promise.resolve();
      },
      sendAt: () => Promise.reject(new Error("gateways set no timers")),
      close: () => Promise.resolve(),
    };
  }
}

export function bearer(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}

type UnaryMethod =
  | "register"
  | "unregister"
  | "heartbeat"
  | "fetchStepRun"
  | "reportStepRunStatus"
  | "cancelStepRun"
  | "updateLabels"
  | "listAgents"
  | "getAgent"
  | "drainAgent"
  | "undrainAgent";
type RequestOf<M extends UnaryMethod> = AgentServer[M] extends handleUnaryCall<infer Q, infer _> ? Q : never;
type ResponseOf<M extends UnaryMethod> = AgentServer[M] extends handleUnaryCall<infer _, infer R> ? R : never;
type Method<M extends UnaryMethod> = (
  request: RequestOf<M>,
  metadata: Metadata,
  options: { deadline: number },
  callback: (error: ServiceError | null, response: ResponseOf<M>) => void,
) => { cancel(): void };

/** A unary call as a promise; rejects with the `ServiceError`. */
export function invoke<M extends UnaryMethod>(
  client: AgentClient,
  method: M,
  request: RequestOf<M>,
  metadata: Metadata,
  options: { deadlineMs?: number; hangUp?: AbortSignal } = {},
): Promise<ResponseOf<M>> {
  return new Promise((resolve, reject) => {
    const call = (client[method] as unknown as Method<M>).bind(client);
    const started = call(
      request,
      metadata,
      { deadline: Date.now() + (options.deadlineMs ?? 10_000) },
      (error, response) => (error === null ? resolve(response) : reject(error)),
    );
    options.hangUp?.addEventListener("abort", () => started.cancel());
  });
}

/** The error with which a promise rejects; fails when it does not. */
export async function refusal(promise: Promise<unknown>): Promise<ServiceError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error as ServiceError,
  );
  if (outcome === undefined) throw new Error("the call was expected to fail");
  return outcome;
}

export const reasonOf = (error: StatusObject | ServiceError): string => String(error.metadata.get("reason")[0]);

/** An agent's end of a bidirectional stream. */
export class Stream<Request, Response> {
  readonly received: Response[] = [];
  status: StatusObject | undefined;
  readonly #call: ClientDuplexStream<Request, Response>;

  constructor(call: ClientDuplexStream<Request, Response>) {
    this.#call = call;
    call.on("data", (message: Response) => this.received.push(message));
    call.on("error", () => {});
    call.on("status", (status: StatusObject) => (this.status = status));
  }

  send(message: Request): void {
    this.#call.write(message);
  }

  end(): void {
    this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  pause(): void {
    this.#call.pause();
  }

  ended(): Promise<StatusObject> {
    return until("the stream has ended", () => this.status);
  }
}

type Down = NonNullable<ConnectResponse["message"]>;
type ValueOf<K extends Down["$case"]> = Extract<Down, { $case: K }>["value"];

type Holdings = Partial<Pick<Hello, "bootId" | "held" | "heldJobIds" | "takesNoJobs" | "jobsLeft">>;

/** An agent's control channel. */
export class Channel extends Stream<ConnectRequest, ConnectResponse> {
  #sequence = 0n;

  constructor(gateway: AgentsPort, agent: TestAgent) {
    super(gateway.agents().connect(agent.metadata));
    gateway.opened(this);
  }

  /** Opens the stream and waits until the gateway has reconciled. */
  static async open(gateway: AgentsPort, agent: TestAgent, hello: Partial<Hello> = {}): Promise<Channel> {
    const channel = new Channel(gateway, agent);
    channel.hello(hello);
    await channel.next("welcome");
    return channel;
  }

  hello(hello: Partial<Hello> = {}): void {
    const value = {
      bootId: "boot-1",
      labels: {},
      slots: 2,
      version: "1",
      held: [],
      heldJobIds: [],
      takesNoJobs: "",
      ...hello,
    };
    this.send({ message: { $case: "hello", value } });
  }

  /** Sends a heartbeat and waits for its acknowledgement. */
  async beat(holdings: Holdings = {}): Promise<void> {
    const sequence = this.heartbeat(holdings);
    await until("the acknowledgement", () => this.all("heartbeatAck").some((ack) => ack.sequence === sequence));
  }

  heartbeat(holdings: Holdings = {}): bigint {
    const value = {
      bootId: "boot-1",
      held: [],
      heldJobIds: [],
      takesNoJobs: "",
      ...holdings,
      sequence: ++this.#sequence,
    };
    this.send({ message: { $case: "heartbeat", value } });
    return value.sequence;
  }

  all<K extends Down["$case"]>(kind: K): ValueOf<K>[] {
    return this.received.flatMap(({ message }) => (message?.$case === kind ? [message.value as ValueOf<K>] : []));
  }

  async next<K extends Down["$case"]>(kind: K, count = 1): Promise<ValueOf<K>> {
    await until(`${kind} ${count}`, () => this.all(kind).length >= count);
    return this.all(kind)[count - 1]!;
  }

  kinds(): string[] {
    return this.received.map(({ message }) => message?.$case ?? "");
  }
}
