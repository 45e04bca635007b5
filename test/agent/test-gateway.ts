/** A gateway for tests: it plays the control plane's side of the agent contract over a real gRPC server. */
import { Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import {
  type AgentServer,
  AgentService,
  type ConnectRequest,
  type ConnectResponse,
  Dispatch,
  type HeartbeatRequest,
  type Hello,
  type RegisterRequest,
  type StepPhase,
  type StepReport,
} from "../../proto/generated/agent/v1/agent.ts";
import {
  type AgentEvent,
  EventVerdict,
  type GatewayServer,
  GatewayService,
  type LogLine,
  type PushEventsRequest,
  type PushLogsRequest,
  type PushTestCasesRequest,
  type PushLogsResponse,
  PushLogsVerdict,
} from "../../proto/generated/gateway/v1/gateway.ts";
import { until } from "../support/until.ts";

type Control = ServerDuplexStream<ConnectRequest, ConnectResponse>;
type GatewayMessage = NonNullable<ConnectResponse["message"]>;

export const REGISTRATION_TOKEN = "registration-token";
/** How long a step may take that says a lot on a machine that does a lot, milliseconds. */
const PATIENCE_MS = 30_000;

export class TestGateway {
  readonly registrations: RegisterRequest[] = [];
  readonly hellos: Hello[] = [];
  readonly heartbeats: HeartbeatRequest[] = [];
  readonly reports: StepReport[] = [];
  /** The kinds of the agent's messages, in their order. */
  readonly received: string[] = [];
  /** Lines as a store keeps them: contiguous, and the first line of each number. */
  readonly lines = new Map<string, LogLine[]>();
  readonly pushes: PushLogsRequest[] = [];
  heartbeatMs = 50;
  acknowledgesHeartbeats = true;
  /** How long it asks the agent to stay away, instead of a welcome; 0: it welcomes the agent. */
  comeBackMs = 0;
  acknowledgesReports = true;
  storesLogs = true;
  /** Handles an upload. By default the gateway does not implement it. */
  onPushArtifact: GatewayServer["pushArtifact"] = (stream) => void stream.emit("error", { code: status.UNIMPLEMENTED });
  /** Handles a download of an upload. By default the gateway does not implement it. */
  onPullUpload: GatewayServer["pullUpload"] = (stream) => void stream.emit("error", { code: status.UNIMPLEMENTED });
  /** Handle a cache. By default the gateway does not implement it. */
  onPullCache: GatewayServer["pullCache"] = (stream) => void stream.emit("error", { code: status.UNIMPLEMENTED });
  onPushCache: GatewayServer["pushCache"] = (stream) => void stream.emit("error", { code: status.UNIMPLEMENTED });
  /** Takes every test case; what was sent is in {@link testCases}. */
  readonly testCases: PushTestCasesRequest[] = [];
  onPushTestCases: GatewayServer["pushTestCases"] = (stream) => {
    stream.on("end", () => stream.end());
    stream.on("data", (push: PushTestCasesRequest) => {
      this.testCases.push(push);
      stream.write({ part: push.part, stored: true });
    });
  };
  /** Handles an image that an agent has found. By default the gateway is one of an earlier version, and does not know the call. */
  onPinImage: GatewayServer["pinImage"] = (_call, callback) => callback({ code: status.UNIMPLEMENTED });
  /** The events that agents have pushed. Those of the type `svc.step.refused` are refused. */
  readonly events: AgentEvent[] = [];
  onPushEvents: GatewayServer["pushEvents"] = (stream) => {
    stream.on("end", () => stream.end());
    stream.on("data", ({ events }: PushEventsRequest) => {
      this.events.push(...events);
      const results = events.map(({ id, type }) =>
        type === "svc.step.refused"
          ? { id, verdict: EventVerdict.EVENT_VERDICT_INVALID, reason: "the word refused is reserved" }
          : { id, verdict: EventVerdict.EVENT_VERDICT_ACCEPTED, reason: "" },
      );
      stream.write({ results });
    });
  };
  port = 0;
  #tokens = new Set<string>();
  #server = new Server();
  #streams = new Set<Control>();
  #waitingLogs: (() => void)[] = [];

  async start(): Promise<this> {
    this.#server = new Server();
    const agentService: AgentServer = {
      register: (call, callback) => {
        if (bearerOf(call.metadata) !== REGISTRATION_TOKEN) {
          return callback({ code: status.UNAUTHENTICATED, details: "unknown registration token" });
        }
        this.registrations.push(call.request);
        const agentToken = `agent-token-${this.registrations.length}`;
        this.#tokens = new Set([agentToken]);
        callback(null, { agentId: "agt_1", agentToken });
      },
      unregister: (_call, callback) => callback(null, {}),
      heartbeat: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
      fetchStepRun: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
      reportStepRunStatus: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
      cancelStepRun: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
      updateLabels: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
      connect: (stream) => this.#connected(stream),
      // Agents call none of these.
      listAgents: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
      getAgent: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
      drainAgent: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
      undrainAgent: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
    };
    const gatewayService: GatewayServer = {
      pushLogs: (stream) => {
        stream.on("error", () => {});
        stream.on("end", () => stream.end());
        stream.on("data", (push: PushLogsRequest) => {
          this.pushes.push(push);
          const answer = () => void stream.write(this.#store(push));
          if (this.storesLogs) answer();
          else this.#waitingLogs.push(answer);
        });
      },
      pushEvents: (stream) => this.onPushEvents(stream),
      pushArtifact: (stream) => this.onPushArtifact(stream),
      pullArtifact: (stream) => void stream.emit("error", { code: status.UNIMPLEMENTED }),
      pullUpload: (stream) => this.onPullUpload(stream),
      pullPlugin: (stream) => void stream.emit("error", { code: status.UNIMPLEMENTED }),
      pullCache: (stream) => this.onPullCache(stream),
      pushCache: (stream) => this.onPushCache(stream),
      pushTestCases: (stream) => this.onPushTestCases(stream),
      pinImage: (call, callback) => this.onPinImage(call, callback),
    };
    this.#server.addService(AgentService, agentService);
    this.#server.addService(GatewayService, gatewayService);
    this.port = await new Promise<number>((resolve, reject) =>
      this.#server.bindAsync(`127.0.0.1:${this.port}`, ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      ),
    );
    return this;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Ends the server and all its streams, as a crash does. `start` opens it again on the same port. */
  stop(): void {
    this.#streams.clear();
    this.#server.forceShutdown();
  }

  /** Makes every agent token invalid. */
  revokeTokens(): void {
    this.#tokens.clear();
  }

  /** Ends only the Connect streams. */
  disconnect(code = status.UNAVAILABLE): void {
    for (const stream of this.#streams) stream.emit("error", { code, details: "the test ends this stream" });
    this.#streams.clear();
  }

  /** Stores the lines that have waited while `storesLogs` was false. */
  storeLogsAgain(): void {
    this.storesLogs = true;
    for (const answer of this.#waitingLogs.splice(0)) answer();
  }

  /** Sends a message to every connected agent. */
  send(message: GatewayMessage): void {
    for (const stream of this.#streams) stream.write({ message });
  }

  dispatch(fields: Partial<Dispatch> & { script?: string }): Dispatch {
    const { script, ...others } = fields;
    const dispatch = Dispatch.create({
      runId: "run_1",
      jobId: "job_1",
      stepRunId: "step_1",
      token: 1n,
      pipelineId: "pl_1",
      jobName: "build",
      stepName: "compile",
      uses: "shell",
      argsJson: script === undefined ? "" : JSON.stringify({ script }),
      cancelGraceMs: 10_000n,
      leaseMs: 30_000n,
      jobAttempt: 1,
      ...others,
    });
    this.send({ $case: "dispatch", value: dispatch });
    return dispatch;
  }

  /** The first report of a step run in this phase. */
  reportOf(phase: StepPhase, stepRunId = "step_1"): Promise<StepReport> {
    return until(
      `${phase} of ${stepRunId}; reported: ${this.reports.map((report) => report.phase).join()}`,
      () => this.reports.find((report) => report.phase === phase && report.stepRunId === stepRunId),
      PATIENCE_MS,
    );
  }

  /** The first report of a step run's end. */
  endOf(stepRunId = "step_1"): Promise<StepReport> {
    return until(
      `the end of ${stepRunId}`,
      () => this.reports.find((report) => report.stepRunId === stepRunId && report.phase !== "STEP_PHASE_STARTED"),
      PATIENCE_MS,
    );
  }

  /** The lines of a step run, once everything up to `lastLine` is stored. */
  async logOf(lastLine: bigint, stepRunId = "step_1"): Promise<LogLine[]> {
    if (lastLine > 0n) {
      await until(`line ${lastLine} of ${stepRunId}`, () => this.#storedThrough(stepRunId) >= lastLine, PATIENCE_MS);
    }
    return this.lines.get(stepRunId) ?? [];
  }

  #connected(stream: Control): void {
    if (!this.#tokens.has(bearerOf(stream.metadata))) {
      return void stream.emit("error", { code: status.UNAUTHENTICATED, details: "unknown agent token" });
    }
    this.#streams.add(stream);
    stream.on("error", () => this.#streams.delete(stream));
    stream.on("cancelled", () => this.#streams.delete(stream));
    stream.on("end", () => stream.end());
    stream.on("data", ({ message }: ConnectRequest) => this.#receive(stream, message!));
  }

  #receive(stream: Control, message: NonNullable<ConnectRequest["message"]>): void {
    const answer = (response: GatewayMessage) => void stream.write({ message: response });
    this.received.push(message.$case === "drain" && message.value.goodbye ? "goodbye" : message.$case);
    switch (message.$case) {
      case "hello":
        this.hellos.push(message.value);
        if (this.comeBackMs > 0) {
          const metadata = new Metadata();
          metadata.set("grpc-retry-pushback-ms", String(this.comeBackMs));
          return void stream.emit("error", { code: status.UNAVAILABLE, details: "later", metadata });
        }
        return answer({
          $case: "welcome",
          value: { agentId: "agt_1", heartbeatIntervalMs: BigInt(this.heartbeatMs), eventNamespace: "svc" },
        });
      case "heartbeat":
        this.heartbeats.push(message.value);
        if (!this.acknowledgesHeartbeats) return;
        return answer({ $case: "heartbeatAck", value: { sequence: message.value.sequence } });
      case "report": {
        const { stepRunId, token, phase } = message.value;
        this.reports.push(message.value);
        if (!this.acknowledgesReports || phase === "STEP_PHASE_STARTED") return;
        return answer({ $case: "acknowledge", value: { stepRunId, token } });
      }
      case "drain":
        return;
    }
  }

  #store({ stepRunId, token, lines }: PushLogsRequest): PushLogsResponse {
    const stored = this.lines.get(stepRunId) ?? [];
    this.lines.set(stepRunId, stored);
    for (const line of lines) {
      if (line.line === this.#storedThrough(stepRunId) + 1n) stored.push(line);
    }
    const storedThrough = this.#storedThrough(stepRunId);
    return { stepRunId, token, verdict: PushLogsVerdict.PUSH_LOGS_VERDICT_STORED, storedThrough };
  }

  #storedThrough(stepRunId: string): bigint {
    const last = this.lines.get(stepRunId)?.at(-1);
    return last === undefined ? 0n : last.line + (last.lost > 0n ? last.lost - 1n : 0n);
  }
}

function bearerOf(metadata: { get(name: string): unknown[] }): string {
  return String(metadata.get("authorization")[0]).replace(/^Bearer /, "");
}
