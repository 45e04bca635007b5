/** How an agent that pulls talks to gateways: it beats, fetches steps and reports by calls, and has no stream. */
import type { ReportPhase } from "../../../actors/step/messages.ts";
import { MillraceError } from "../../../src/domain/errors.ts";
import type { AgentId } from "../../../src/domain/ids.ts";
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";
import type { AgentBoot } from "./agent-boot.ts";
import type { JournalEntry } from "./agent-journal.ts";
import type { Gateway } from "./gateway.ts";
import { callGateway } from "./unary-calls.ts";

const HEARTBEAT_MS = 3_000;
const AGAIN_MS = 500;
/** How long a fetch waits for a step, and a report for its verdict. */
const WAIT_MS = 5_000;

export interface PullLoopOptions {
  readonly world: World;
  readonly process: Process;
  readonly agentId: AgentId;
  readonly slots: number;
  readonly gateways: () => readonly Gateway[];
  readonly boot: AgentBoot;
}

export class PullLoop {
  readonly #options: PullLoopOptions;
  /** Of the next heartbeat. The first one keeps its number until it is acknowledged, because it begins the boot. */
  #sequence = 1n;

  constructor(options: PullLoopOptions) {
    this.#options = options;
  }

  /** The first heartbeat makes the agent known; then it fetches. */
  start(): void {
    this.#beat().then(
      () => {
        this.#keepBeating();
        this.#fetch(this.#options.world.draws.name("fetch"));
      },
      (error: unknown) => {
        this.#endIfReplaced(error);
        this.#options.process.after(AGAIN_MS, () => this.start());
      },
    );
  }

  report({ stepRunId, token }: Pick<JournalEntry, "stepRunId" | "token">, phase: ReportPhase, exitCode: number): void {
    const { agentId, boot } = this.#options;
    const lastLine = 0;
    const report = { stepRunId, token, phase, exitCode, reason: "", outputs: [], lastLine, durationMs: 0, usage: null };
    this.#call(`the report ${phase} of ${stepRunId}`, (gateway, hungUp) => {
      return gateway.report(agentId, report, WAIT_MS, hungUp);
    }).then(
      (verdict) => {
        if (phase === "started" && verdict === "processed") return;
        boot.receive({ type: verdict === "processed" ? "acknowledge" : "refuse", stepRunId, token });
      },
      // The agent reports again every end that has no verdict.
      () => undefined,
    );
  }

  async #beat(): Promise<void> {
    const { agentId, boot, process, world } = this.#options;
    const sentAt = world.now;
    const heartbeat = { bootId: process.name, sequence: this.#sequence, holdings: boot.holdings };
    const missed = await this.#call("a heartbeat", (gateway, hungUp) => gateway.beat(agentId, heartbeat, hungUp));
    this.#sequence = heartbeat.sequence + 1n;
    boot.renew(sentAt);
    for (const message of missed) boot.receive(message);
  }

  #keepBeating(): void {
    this.#options.process.after(HEARTBEAT_MS, () => {
      this.#beat().catch((error: unknown) => this.#endIfReplaced(error));
      this.#keepBeating();
    });
  }

  /** An agent that is told of a newer process of it ends, as docs/agent-protocol.md says. */
  #endIfReplaced(error: unknown): void {
    if (error instanceof MillraceError && error.reason === "conflict") this.#options.process.kill();
  }

  /** A fetch that fails is repeated under its id, so that it never claims two jobs. */
  #fetch(requestId: string): void {
    const { agentId, boot, process, slots, world } = this.#options;
    const freeSlots = Math.max(0, slots - boot.holdings.jobIds.length);
    const request = { agentId, bootId: process.name, requestId, freeSlots, waitMs: WAIT_MS };
    this.#call("steps", (gateway, hungUp) => gateway.fetch(request, hungUp)).then(
      (dispatches) => {
        for (const dispatch of dispatches) boot.receive({ type: "dispatch", dispatch });
        // The next fetch must not find the same steps before the reports of their starts have arrived.
        process.after(dispatches.length > 0 ? AGAIN_MS : 0, () => this.#fetch(world.draws.name("fetch")));
      },
      () => process.after(AGAIN_MS, () => this.#fetch(requestId)),
    );
  }

  #call<T>(what: string, perform: (gateway: Gateway, hungUp: AbortSignal) => Promise<T>): Promise<T> {
    const { gateways, process, world } = this.#options;
    const gateway = world.draws.pick(gateways());
    return callGateway(world, process, gateway, what, (hungUp) => perform(gateway, hungUp));
  }
}
