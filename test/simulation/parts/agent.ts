/** A simulated agent: its machine, its journal, and its connection to one gateway after the other. */
import type { ReportPhase } from "../../../actors/step/messages.ts";
import type { AgentId } from "../../../src/domain/ids.ts";
import type { Labels } from "../../../src/domain/labels.ts";
import type { AgentMessage } from "../../../src/gateway/agent-message.ts";
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";
import type { Executions } from "../judge/executions.ts";
import { AgentBoot } from "./agent-boot.ts";
import { Journal, type JournalEntry } from "./agent-journal.ts";
import type { Gateway, ServedStream } from "./gateway.ts";
import { PullLoop } from "./pull-loop.ts";
import { Stream, type StreamEnd } from "./stream.ts";

const HEARTBEAT_MS = 3_000;
const WELCOME_MS = 10_000;
const REPORT_AGAIN_MS = 5_000;
const RECONNECT_MS = 500;
/** An agent without an acknowledgement for this long connects again. */
const SILENT_MS = 9_000;

export interface AgentOptions {
  readonly world: World;
  readonly executions: Executions;
  readonly agentId: AgentId;
  readonly labels: Labels;
  readonly slots: number;
  /** The gateways that run now. */
  readonly gateways: () => readonly Gateway[];
  readonly unable: number;
  /** True for an agent that pulls: it has no stream. */
  readonly pulls?: boolean;
}

/** One connection. */
interface Connection {
  readonly stream: Stream;
  readonly gatewayEnd: StreamEnd;
  /** Null until the gateway has the hello. */
  served: ServedStream | null;
  welcomed: boolean;
  /** When the newest acknowledgement came. */
  heardAt: number;
}

export class Agent {
  readonly agentId: AgentId;
  readonly #options: AgentOptions;
  readonly #journal = new Journal();
  #process!: Process;
  #boot!: AgentBoot;
  #connection: Connection | null = null;
  #pullLoop: PullLoop | null = null;
  #sequence = 0n;
  #sentAt = new Map<bigint, number>();

  constructor(options: AgentOptions) {
    this.#options = options;
    this.agentId = options.agentId;
    this.start();
  }

  get process(): Process {
    return this.#process;
  }

  /** Starts the agent, or starts it again: with a new boot id and the old journal. */
  start(): void {
    const { world, executions, unable } = this.#options;
    this.#process = world.newProcess(this.agentId);
    this.#connection = null;
    this.#sequence = 0n;
    this.#sentAt = new Map();
    const boot = {
      world,
      executions,
      agentId: this.agentId,
      journal: this.#journal,
      process: this.#process,
      report: (entry: JournalEntry, phase: ReportPhase, exitCode: number) => this.#report(entry, phase, exitCode),
      unable,
    };
    this.#boot = new AgentBoot(boot);
    this.#pullLoop = this.#options.pulls === true ? this.#newPullLoop() : null;
    if (this.#pullLoop === null) this.#connect();
    else this.#pullLoop.start();
    this.#repeatReports();
  }

  #newPullLoop(): PullLoop {
    const { world, agentId, slots, gateways } = this.#options;
    return new PullLoop({ world, agentId, slots, gateways, process: this.#process, boot: this.#boot });
  }

  cutStream(): void {
    this.#connection?.stream.break();
  }

  #connect(): void {
    const { world, gateways, labels, slots } = this.#options;
    const process = this.#process;
    const alive = gateways().filter((gateway) => gateway.process.isAlive);
    if (alive.length === 0) return this.#connectLater();
    const gateway = world.draws.pick(alive);
    const agentEnd: StreamEnd = { process, onEnd: () => this.#onEnd(connection) };
    const gatewayEnd: StreamEnd = { process: gateway.process, onEnd: () => connection.served?.close() };
    const stream = new Stream(world, agentEnd, gatewayEnd);
    const connection: Connection = { stream, gatewayEnd, served: null, welcomed: false, heardAt: world.now };
    this.#connection = connection;
    const sentAt = world.now;
    const hello = { bootId: process.name, facts: { labels, slots, version: "" }, holdings: this.#boot.holdings };
    const write = (message: AgentMessage): void => {
      const mayFail = message.type !== "welcome";
      stream.send(agentEnd, message.type, () => this.#receive(connection, message, sentAt), mayFail);
    };
    const end = (): void => stream.end(gatewayEnd);
    stream.send(
      gatewayEnd,
      "hello",
      () => (connection.served = gateway.accept({ agentId: this.agentId, hello, write, end })),
      false,
    );
    process.after(WELCOME_MS, () => {
      if (!connection.welcomed) stream.break();
    });
  }

  #connectLater(): void {
    this.#process.after(this.#options.world.draws.fraction() * RECONNECT_MS, () => this.#connect());
  }

  #onEnd(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#connectLater();
  }

  #receive(connection: Connection, message: AgentMessage, helloSentAt: number): void {
    if (this.#connection !== connection) return;
    if (message.type === "welcome") {
      connection.welcomed = true;
      connection.heardAt = this.#options.world.now;
      this.#boot.renew(helloSentAt);
      this.#boot.reportEnds();
      this.#scheduleHeartbeat(connection);
    } else if (message.type === "heartbeatAck") {
      connection.heardAt = this.#options.world.now;
      const sentAt = this.#sentAt.get(message.sequence);
      if (sentAt !== undefined) this.#boot.renew(sentAt);
    } else {
      this.#boot.receive(message);
    }
  }

  #scheduleHeartbeat(connection: Connection): void {
    const { world } = this.#options;
    this.#process.after(HEARTBEAT_MS, () => {
      if (!connection.stream.isOpen) return;
      if (world.now - connection.heardAt > SILENT_MS) return connection.stream.break();
      const sequence = ++this.#sequence;
      this.#sentAt.set(sequence, world.now);
      const heartbeat = { bootId: this.#process.name, sequence, holdings: this.#boot.holdings };
      connection.stream.send(connection.gatewayEnd, "heartbeat", () => connection.served?.heartbeat(heartbeat));
      this.#scheduleHeartbeat(connection);
    });
  }

  #report({ stepRunId, token }: JournalEntry, phase: ReportPhase, exitCode: number): void {
    if (this.#pullLoop !== null) return this.#pullLoop.report({ stepRunId, token }, phase, exitCode);
    const connection = this.#connection;
    if (connection?.welcomed !== true) return;
    const lastLine = 0;
    const report = { stepRunId, token, phase, exitCode, reason: "", outputs: [], lastLine, durationMs: 0, usage: null };
    connection.stream.send(connection.gatewayEnd, `${phase} of ${stepRunId}`, () => connection.served?.report(report));
  }

  #repeatReports(): void {
    this.#process.after(REPORT_AGAIN_MS, () => {
      this.#boot.reportEnds();
      this.#repeatReports();
    });
  }
}
