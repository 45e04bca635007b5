/** A simulated gateway: the real sessions of agents, on a model of their streams. */
import { type AgentMessage, agentMessageOf } from "../../../src/gateway/agent-message.ts";
import { reportRefusedDispatch, type StepReport } from "../../../src/gateway/actor-messages.ts";
import type { AgentSession, AgentSessionOptions, Heartbeat, Hello } from "../../../src/gateway/agent-session.ts";
import { AgentSessions } from "../../../src/gateway/agent-sessions.ts";
import { MillraceError } from "../../../src/domain/errors.ts";
import { ClaimQueue } from "../../../src/gateway/claim-queue.ts";
import { type Dispatch, DispatchBuilder } from "../../../src/gateway/dispatch-builder.ts";
import type { SessionContext } from "../../../src/gateway/gateway-context.ts";
import { recordHeartbeat } from "../../../src/gateway/heartbeat.ts";
import { reportAndWait, type ReportVerdict } from "../../../src/gateway/report-and-wait.ts";
import { StepFetcher } from "../../../src/gateway/step-fetcher.ts";
import type { FetchRequest } from "../../../src/gateway/waiting-fetch.ts";
import { type AgentId, asId, type TokenId } from "../../../src/domain/ids.ts";
import { LOG_LIMIT } from "../../support/log-limit.ts";
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";
import { gatewayBoard, portsOf } from "./simulated-ports.ts";

/** As long as on a real gateway: see src/gateway/gateway-context.ts. */
const HEARTBEAT_MS = 3_000;

/** The agent's side of a stream, as the gateway sees it. */
export interface Caller {
  readonly agentId: AgentId;
  readonly hello: Hello;
  readonly write: (message: AgentMessage) => void;
  /** The gateway ends the stream. */
  readonly end: () => void;
}

export class Gateway {
  readonly process: Process;
  readonly #context: SessionContext;
  readonly #sessions: AgentSessions;
  readonly #fetcher: StepFetcher;

  constructor(world: World) {
    this.process = world.newProcess("gateway");
    const own = portsOf(world, this.process);
    const ports = { ...own, board: gatewayBoard(world, this.process, own) };
    const { timers } = this.process;
    this.#context = {
      ...ports,
      gatewayId: this.process.name,
      builder: new DispatchBuilder({
        stores: ports.stores,
        secrets: { read: () => Promise.resolve(new Map()) },
        logLimits: { of: () => Promise.resolve(LOG_LIMIT) },
        handout: { refusal: () => Promise.resolve(undefined) },
        onRefused: (step, reason) => reportRefusedDispatch(ports, step, reason),
      }),
      claimQueue: new ClaimQueue(ports, timers, () => world.draws.name("uuid")),
      heartbeatIntervalMs: HEARTBEAT_MS,
      timers,
      newUuid: () => world.draws.name("uuid"),
    };
    this.#sessions = new AgentSessions(this.#context);
    this.#fetcher = new StepFetcher(this.#context);
    this.#start();
  }

  /** Serves one stream, as src/grpc/agent-channel.ts does. Null when it is refused: another process of the agent is alive. */
  accept({ agentId, hello, write, end }: Caller): ServedStream | null {
    const session = this.#begin({
      caller: { kind: "agent", agentId, tokenId: asId<TokenId>("tok_simulated") },
      hello,
      write: (message) => Promise.resolve(write(message)),
      end: () => close(),
    });
    if (session === null) {
      end();
      return null;
    }
    const close = (): void => {
      end();
      this.#sessions.forget(agentId, session);
    };
    session.open().catch(close);
    return new ServedStream(session, () => this.#sessions.forget(agentId, session));
  }

  /** Answers a heartbeat of an agent without a stream, as src/grpc/agent-service.ts does. */
  async beat(agentId: AgentId, heartbeat: Heartbeat, hungUp: AbortSignal): Promise<readonly AgentMessage[]> {
    const missed = await recordHeartbeat(this.#context, agentId, heartbeat, hungUp);
    const messages = await Promise.all(missed.map((notice) => agentMessageOf(this.#context.builder, notice)));
    return messages.filter((message) => message !== undefined);
  }

  /** Answers the steps that an agent without a stream has to run. */
  async fetch(request: FetchRequest, hungUp: AbortSignal): Promise<readonly Dispatch[]> {
    const steps = await this.#fetcher.fetch(request, hungUp);
    const dispatches = await Promise.all(steps.map((step) => this.#context.builder.build(step)));
    return dispatches.filter((dispatch) => dispatch !== undefined);
  }

  /** Answers what became of the report of an agent without a stream. */
  report(agentId: AgentId, report: StepReport, waitMs: number, hungUp: AbortSignal): Promise<ReportVerdict> {
    this.#context.claimQueue.pauses.learnFrom(agentId, report.phase);
    return reportAndWait(this.#context, agentId, report, waitMs, hungUp);
  }

  #begin(options: AgentSessionOptions): AgentSession | null {
    try {
      return this.#sessions.begin(options);
    } catch (error) {
      if (error instanceof MillraceError && error.reason === "already_exists") return null;
      throw error;
    }
  }

  #start(): void {
    this.#context.claimQueue.start().catch(() => this.process.after(500, () => this.#start()));
  }
}

/** The messages of one agent to its session. */
export class ServedStream {
  readonly #session: AgentSession;
  readonly #forget: () => void;

  constructor(session: AgentSession, forget: () => void) {
    this.#session = session;
    this.#forget = forget;
  }

  heartbeat(heartbeat: Heartbeat): void {
    this.#session.heartbeat(heartbeat);
  }

  report(report: StepReport): void {
    void this.#session.report(report);
  }

  /** The agent has ended the stream in good order. */
  leave(): void {
    this.#session.leave().catch(() => undefined);
    this.#forget();
  }

  /** The connection is broken. */
  close(): void {
    this.#forget();
  }
}
