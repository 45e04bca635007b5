/**
 * The session of one connected agent. It passes notices on to the agent in order, sends the agent's reports to their
 * actors, and claims jobs from the board for free slots. A session keeps nothing that the store lacks: an agent that
 * connects to another gateway misses nothing.
 */
import { isDeepStrictEqual } from "node:util";
import type { AgentBoot } from "../app/agents/agent-removal.ts";
import type { AgentCaller } from "../app/identity/access.ts";
import { type AgentNotice, listenToAgent, relabelled, supersedeStreams, tellAgent } from "../board/agent-notices.ts";
import type { PresenceRecord } from "../board/board.ts";
import { type ErrorReason, MillraceError } from "../domain/errors.ts";
import type { AgentId, JobRunId, RunId, StepRunId } from "../domain/ids.ts";
import { type LabelledAgent, labelledAgent } from "../domain/labels.ts";
import { isDrained } from "../stores/ports/identity.ts";
import { pause } from "../domain/clock.ts";
import { reportStep, requireJobOf, sendReport, type StepReport } from "./actor-messages.ts";
import { type AgentMessage, agentMessageOf } from "./agent-message.ts";
import { StoredAgent } from "./stored-agent.ts";
import type { Claimant } from "./claim-queue.ts";
import { type SessionContext, waitsOf } from "./gateway-context.ts";
import { Outbox } from "./outbox.ts";
import { PendingClaims } from "./pending-claims.ts";
import { RecentDispatches } from "./recent-dispatches.ts";
import { type AgentHoldings, returnJobs, reconcile } from "./reconciliation.ts";
import { type AgentFacts, refreshAgent } from "./registration.ts";
import { anotherProcess, isAnotherAlive, requireConnected, SILENT_HEARTBEATS } from "./second-process.ts";
import { Slots } from "./slots.ts";

/** Messages that may wait for a slow agent; with more, the stream ends. */
const OUTBOX_CAPACITY = 1_000;
/** Reports that may wait for their actors before the agent is held back. */
const MAX_WAITING_REPORTS = 1_000;
/** Between two attempts to send a report when the store or the mailbox cannot be reached. */
const REPORT_RETRY_MS = 500;
/**
 * Claims at the same time. Few, so that agents share the offers; enough that a burst of jobs does not take one round
 * trip each.
 */
const CLAIMS_AT_ONCE = 8;
/**
 * Vacancies that an agent shows at the same time: enough for the runs that one commit creates together, each of which
 * saves a turn when it finds one.
 */
const SHOWN_AT_ONCE = 64;
/** Errors that end the stream, because the next heartbeat would meet them again. */
const FATAL: readonly ErrorReason[] = ["malformed_request", "unauthenticated", "conflict"];

/** What an agent says when it connects. */
export interface Hello {
  /** The agent chooses it at its start; a new boot id tells that the earlier process is gone. */
  readonly bootId: string;
  readonly facts: AgentFacts;
  readonly holdings: AgentHoldings;
}

export interface Heartbeat {
  readonly bootId: string;
  readonly sequence: bigint;
  readonly holdings: AgentHoldings;
}

export interface AgentSessionOptions {
  readonly caller: AgentCaller;
  readonly hello: Hello;
  /** Resolves when the next message may be written. Rejects when the agent has gone. */
  readonly write: (message: AgentMessage) => Promise<void>;
  /** Ends the stream; called at most once. */
  readonly end: (reason: MillraceError) => void;
}

export class AgentSession implements Claimant {
  /** Replaced, never changed in place: the board caches what it computes for the object. */
  agent: LabelledAgent;
  readonly claims: PendingClaims;
  readonly #context: SessionContext;
  readonly #storedAgent: StoredAgent;
  readonly #boot: AgentBoot;
  readonly #hello: Hello;
  readonly #slots: Slots;
  readonly #streamId: string;
  readonly #end: (reason: MillraceError) => void;
  readonly #outbox: Outbox<AgentMessage>;
  readonly #closed = new AbortController();
  /** Steps that were dispatched in this session: their reports need no look-up in the store. */
  readonly #dispatched = new Map<
    StepRunId,
    { readonly runId: RunId; readonly jobId: JobRunId; readonly token: number }
  >();
  readonly #recent = new RecentDispatches();
  readonly #cleanups: (() => unknown)[] = [];
  /** This stream's own `superseded` notice has arrived. */
  #announced = false;
  /** The agent ends. */
  #draining = false;
  /** An operator has drained the agent. */
  #drained = false;
  /** What the agent held at its last hello or heartbeat. */
  #holdings: AgentHoldings = { steps: [], jobIds: [], takesNoJobs: "" };
  /** When the last heartbeat arrived, by the monotonic clock. */
  #heardAt: number;
  /** Offers may have come, or slots may be free, since the last claim began. */
  #mayClaim = false;
  #claiming = false;
  #reports: Promise<void> = Promise.resolve();
  #waitingReports = 0;
  /** The newest heartbeat that is not answered yet. */
  #unanswered: Heartbeat | undefined;
  #isAnswering = false;

  constructor(context: SessionContext, { caller, hello, write, end }: AgentSessionOptions) {
    this.#context = context;
    this.#streamId = context.newUuid();
    this.#storedAgent = new StoredAgent(context, caller.agentId);
    this.#boot = { agentId: caller.agentId, bootId: hello.bootId };
    this.#hello = hello;
    this.agent = { labels: hello.facts.labels };
    this.#slots = new Slots(hello.facts.slots, () => context.clock.monotonic());
    this.claims = new PendingClaims(context, this.#boot, {
      streamId: this.#streamId,
      newId: context.newUuid,
      onSettled: () => this.wake(),
    });
    this.#end = end;
    this.#heardAt = context.clock.monotonic();
    this.#outbox = new Outbox({
      capacity: OUTBOX_CAPACITY,
      write,
      onFault: (error) => this.#warn(error, "a message to the agent could not be built; the next heartbeat repeats it"),
      onOverflow: () => this.end(new MillraceError("unavailable", "the agent reads too slowly: connect again")),
    });
  }

  /**
   * Starts the session: shows presence, welcomes the agent, and passes on what the agent has missed. Rejects with
   * `already_exists` when another gateway hears the agent; and when presence or the store cannot be reached: then the
   * stream ends, and the agent connects again.
   */
  async open(): Promise<void> {
    const { agentId } = this.#boot;
    const { presence } = this.#context;
    const { facts, holdings } = this.#hello;
    if (await isAnotherAlive(this.#context, this.#boot, this.#streamId)) throw anotherProcess(agentId);
    // Before the agent is read: else a change between the two would be missed.
    this.#onClose(await listenToAgent(this.#context, agentId, (notice) => this.#receive(notice)));
    const hungUp = this.#closed.signal;
    requireConnected(hungUp);
    const agent = await refreshAgent(this.#context, this.#boot, facts, hungUp);
    requireConnected(hungUp);
    this.agent = labelledAgent(agent);
    this.#drained = isDrained(agent);
    await supersedeStreams(this.#context, agentId, this.#streamId);
    requireConnected(hungUp);
    this.#holdings = holdings;
    this.#slots.bound(holdings.jobsLeft, holdings.jobIds);
    await presence.beat(this.#presenceRecord());
    const { eventNamespace, heartbeatIntervalMs } = this.#context;
    this.#outbox.open({ type: "welcome", agentId, heartbeatIntervalMs, eventNamespace });
    await this.#reconcile(holdings);
    this.#onClose(this.#context.claimQueue.join(this));
    this.wake();
  }

  /**
   * Records a heartbeat and acknowledges it; of several that wait, only the newest one. Throws `conflict` for a
   * heartbeat of another boot.
   */
  heartbeat(heartbeat: Heartbeat): void {
    if (heartbeat.bootId !== this.#boot.bootId) {
      throw new MillraceError("conflict", "the heartbeat's boot id is not that of this stream's hello");
    }
    this.#heardAt = this.#context.clock.monotonic();
    // At once: a report that follows in the stream may free the slot of a job that the agent counts.
    this.#slots.bound(heartbeat.holdings.jobsLeft, heartbeat.holdings.jobIds);
    this.#unanswered = heartbeat;
    if (!this.#isAnswering) void this.#answerHeartbeats();
  }

  /**
   * Sends reports to their actors in the order of the calls. Resolves at once unless many reports wait; then it
   * resolves when all have been sent, which holds the agent back.
   */
  async report(report: StepReport): Promise<void> {
    this.#context.claimQueue.pauses.learnFrom(this.#boot.agentId, report.phase);
    this.#waitingReports++;
    this.#reports = this.#reports.then(async () => {
      await this.#send(report);
      this.#waitingReports--;
    });
    if (this.#waitingReports >= MAX_WAITING_REPORTS) await this.#reports;
  }

  /** The agent takes no further job; its jobs go on. */
  drain(): void {
    this.#draining = true;
    this.claims.hide();
    this.#showDrain();
  }

  /**
   * The agent ends, and its jobs start again on other agents. Rejects when the store or a mailbox cannot be reached.
   */
  async goodbye(): Promise<void> {
    this.#draining = true;
    this.claims.hide();
    await this.#reports;
    await returnJobs(this.#context, this.#boot);
  }

  get agentId(): AgentId {
    return this.#boot.agentId;
  }

  /** Slots for which jobs may be claimed now; 0 while the agent drains, is silent, is paused, or takes no jobs. */
  freeSlots(): number {
    // A silent agent may have stopped, and would lose a job.
    const isPaused = this.#context.claimQueue.pauses.isPaused(this.#boot.agentId);
    const takesNone =
      this.#draining || this.#drained || !this.isHeard() || isPaused || this.#holdings.takesNoJobs !== "";
    return takesNone ? 0 : this.#slots.free - this.claims.count;
  }

  /** True while the stream is open and the agent's heartbeats come. */
  isHeard(): boolean {
    const { clock, heartbeatIntervalMs } = this.#context;
    const silentMs = clock.monotonic() - this.#heardAt;
    return !this.#closed.signal.aborted && silentMs <= SILENT_HEARTBEATS * heartbeatIntervalMs;
  }

  /** Claims jobs for the free slots, now or after the claims that are under way. */
  wake(): void {
    this.#mayClaim = true;
    if (!this.#claiming) void this.#claim();
  }

  /** Closes the session and ends the stream with this reason. Idempotent. */
  end(reason: MillraceError): void {
    if (this.#closed.signal.aborted) return;
    this.close();
    this.#end(reason);
  }

  /** Stops everything without ending the stream. Idempotent. */
  close(): void {
    this.#closed.abort();
    this.claims.close();
    for (const cleanup of this.#cleanups.splice(0)) this.#run(cleanup);
  }

  /** Takes the agent out of presence at once. Rejects when presence cannot be reached. */
  async leave(): Promise<void> {
    await this.#context.presence.leave(this.#boot.agentId, this.#boot.bootId);
  }

  /** Runs `cleanup` when the session closes; at once if it has closed while the resource was being set up. */
  #onClose(cleanup: () => unknown): void {
    if (this.#closed.signal.aborted) this.#run(cleanup);
    else this.#cleanups.push(cleanup);
  }

  #run(cleanup: () => unknown): void {
    void Promise.resolve(cleanup()).catch((error: unknown) => this.#warn(error, "a subscription could not be ended"));
  }

  #receive(notice: AgentNotice): void {
    switch (notice.type) {
      case "superseded":
        // All gateways get these notices in the same order: one that comes after this stream's own is of a newer
        // stream.
        if (notice.by === this.#streamId) this.#announced = true;
        else if (this.#announced) this.end(superseded());
        return;
      case "dispatch":
        if (notice.order.bootId !== this.#boot.bootId) return;
        this.#recent.add(notice.order);
        return this.#passOn(notice);
      case "refuseClaim":
        this.claims.settle(notice.requestId);
        return;
      case "probe":
        if (notice.by !== this.#streamId && this.isHeard()) this.#answerProbe(notice.by);
        return;
      case "alive":
        return;
      case "labels":
        this.#relabel(relabelled(this.agent, notice));
        return;
      case "drain":
        this.#setDrained(notice.isDrained);
        return this.#showDrain();
      case "revoke":
      case "release":
      case "acknowledge":
      case "refuse":
        this.#passOn(notice);
    }
  }

  #passOn(notice: AgentNotice): void {
    if (notice.type === "dispatch") {
      const { jobId, stepRunId, runId, token, requestId } = notice.order;
      this.#slots.take(jobId);
      this.#dispatched.set(stepRunId, { runId, jobId, token });
      this.claims.granted(requestId);
      // Runs have taken most of the vacancies.
      if (2 * this.claims.vacancies < Math.min(this.freeSlots(), SHOWN_AT_ONCE)) this.wake();
    } else if (notice.type === "acknowledge" || notice.type === "refuse") {
      this.#dispatched.delete(notice.stepRunId);
    } else if (notice.type === "release") {
      this.#slots.release(notice.jobId);
      this.wake();
    }
    this.#outbox.push(async () => {
      try {
        return await agentMessageOf(this.#context.builder, notice);
      } catch (error) {
        if (notice.type === "dispatch") this.#recent.forget(notice.order);
        throw error;
      }
    });
  }

  #answerProbe(by: string): void {
    tellAgent(this.#context, this.#boot.agentId, { type: "alive", to: by }).catch((error: unknown) =>
      this.#warn(error, "another gateway could not be told that the agent is connected here"),
    );
  }

  #relabel(agent: LabelledAgent): void {
    this.agent = agent;
    this.wake();
    this.#showPresence().catch((error: unknown) =>
      this.#warn(error, "new labels could not be shown in presence; the next heartbeat shows them"),
    );
  }

  #setDrained(isDrained: boolean): void {
    this.#drained = isDrained;
    if (isDrained) this.claims.hide();
    else this.wake();
  }

  #showDrain(): void {
    this.#showPresence().catch((error: unknown) =>
      this.#warn(error, "the drain, or its end, could not be shown in presence; the next heartbeat shows it"),
    );
  }

  /**
   * Tries until the report is in its actor's mailbox or the session closes; the agent repeats a report that was not
   * sent.
   */
  async #send(report: StepReport): Promise<void> {
    const { stepRunId, token } = report;
    while (!this.#closed.signal.aborted) {
      try {
        const known = this.#dispatched.get(stepRunId);
        if (known?.token === token) {
          requireJobOf(report, known);
          await sendReport(this.#context, this.#boot.agentId, known.runId, report);
        } else if ((await reportStep(this.#context, this.#boot.agentId, report)) === "refused") {
          this.#passOn({ type: "refuse", stepRunId, token });
        }
        return;
      } catch (error) {
        if (error instanceof MillraceError && error.reason === "malformed_request") return this.end(error);
        this.#warn(error, "a report could not be sent to its step; trying again");
        await pause(this.#context.timers, REPORT_RETRY_MS, this.#closed.signal);
      }
    }
  }

  async #claim(): Promise<void> {
    this.#claiming = true;
    try {
      while (this.#mayClaim) {
        this.#mayClaim = false;
        while (await this.#claimSome());
      }
    } catch (error) {
      this.#warn(error, "no job could be claimed; the next wake-up tries again");
    } finally {
      this.#claiming = false;
    }
  }

  /** Claims up to {@link CLAIMS_AT_ONCE} jobs. Answers whether there may be more offers. */
  async #claimSome(): Promise<boolean> {
    const shown = Math.min(this.freeSlots(), SHOWN_AT_ONCE);
    if (shown <= 0) this.claims.hide();
    if (shown <= 0 || this.#closed.signal.aborted) return false;
    const count = Math.min(shown, CLAIMS_AT_ONCE);
    return (await this.claims.claim(this.agent, count, shown)) === count;
  }

  async #answerHeartbeats(): Promise<void> {
    this.#isAnswering = true;
    for (let next = this.#unanswered; next !== undefined && !this.#closed.signal.aborted; next = this.#unanswered) {
      this.#unanswered = undefined;
      const { sequence, holdings } = next;
      this.#recent.heard();
      try {
        await this.#learn();
        await this.#updateHoldings(holdings);
        await this.#reconcile(holdings);
        this.#outbox.push(() => ({ type: "heartbeatAck", sequence }));
      } catch (error) {
        if (error instanceof MillraceError && FATAL.includes(error.reason)) this.end(error);
        else this.#warn(error, "a heartbeat could not be recorded and is not acknowledged");
      }
    }
    this.#isAnswering = false;
  }

  /** Learns what operators have changed, in case that a notice was lost. */
  async #learn(): Promise<void> {
    const stored = await this.#storedAgent.read();
    if (stored === undefined) return;
    if (isDrained(stored) !== this.#drained) this.#setDrained(isDrained(stored));
    const agent = labelledAgent(stored);
    if (isDeepStrictEqual(agent, this.agent)) return;
    this.agent = agent;
    this.wake();
  }

  #updateHoldings(holdings: AgentHoldings): Promise<void> {
    const isBack = this.#holdings.takesNoJobs !== "" && holdings.takesNoJobs === "";
    this.#holdings = holdings;
    if (isBack) this.wake();
    return this.#showPresence();
  }

  /**
   * Throws `conflict` when a newer boot of the agent has said hello: this session knows nothing of what that boot holds,
   * and must not speak for the agent any more.
   */
  async #showPresence(): Promise<void> {
    if (!(await this.#context.presence.renew(this.#presenceRecord()))) throw superseded();
  }

  #presenceRecord(): PresenceRecord {
    const { jobIds, takesNoJobs } = this.#holdings;
    const { agentId, bootId } = this.#boot;
    const { labels, trusted, reach } = this.agent;
    // The spreads come last, and are empty for most agents: V8 takes microseconds for each member behind a spread.
    return {
      agentId,
      bootId,
      gatewayId: this.#context.gatewayId,
      labels,
      slots: this.#slots.count,
      busy: jobIds.length,
      draining: this.#draining || this.#drained,
      drained: this.#drained,
      takesNoJobs,
      ...(trusted && { trusted }),
      ...(reach && { reach }),
      ...waitsOf(this.#context, agentId),
    };
  }

  /** Compares what the agent holds with the store, and passes on what the agent has missed. */
  async #reconcile(holdings: AgentHoldings): Promise<void> {
    let missed: readonly AgentNotice[] = [];
    await this.#slots.reconcile(async () => {
      const { notices, boundJobIds } = await reconcile(
        this.#context,
        this.#context.builder,
        this.#boot,
        holdings,
        this.#closed.signal,
      );
      if (this.#closed.signal.aborted) return undefined;
      missed = notices;
      return [...boundJobIds, ...holdings.jobIds];
    });
    for (const notice of missed) {
      if (notice.type !== "dispatch" || !this.#recent.has(notice.order)) this.#passOn(notice);
    }
    if (this.claims.vacancies > Math.max(0, this.freeSlots())) this.wake();
  }

  #warn(error: unknown, message: string): void {
    this.#context.log.warn({ agentId: this.#boot.agentId, error: String(error) }, message);
  }
}

/** The reason of a stream that ends because the agent has opened a newer one. */
export function superseded(): MillraceError {
  return new MillraceError("conflict", "the agent has opened a newer stream, or its token is revoked");
}
