/**
 * One agent's control channel: what the plane orders goes down in order, what the agent reports goes up, and free
 * slots are filled from the board. It keeps nothing that the store lacks: an agent that connects elsewhere misses nothing.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectResponse, HeartbeatRequest, Hello, StepReport } from "../../proto/generated/agent/v1/agent.ts";
import type { AgentCaller } from "../app/identity/access.ts";
import { CLAIM_WAIT_MS, type Claimant, claimNext } from "./claim-queue.ts";
import { type AgentBoot, reportStep, sendReport, type StepReport as Report } from "./actor-messages.ts";
import { type AgentNotice, listenToAgent, supersedeStreams } from "../board/agent-notices.ts";
import { agentFacts, refreshAgent } from "./registration.ts";
import { AgentStanding } from "./agent-standing.ts";
import { type AgentHoldings, handBackJobs, missedOrders } from "./reconciliation.ts";
import { type ErrorReason, MillraceError } from "../domain/errors.ts";
import type { JobRunId, RunId, StepRunId } from "../domain/ids.ts";
import type { Labels } from "../domain/labels.ts";
import { chosenId, noticeMessage, readHoldings, readReport } from "../grpc/messages/agent-messages.ts";
import type { GatewayContext } from "./gateway-context.ts";
import { Outbox } from "./outbox.ts";
import { parse } from "../grpc/status.ts";

/** Messages that may wait for an agent that reads too slowly. */
const OUTBOX_CAPACITY = 1_000;
const MAX_WAITING_REPORTS = 1_000;
/** Between two tries to hand on a report that no mailbox takes. */
const REPORT_RETRY_MS = 500;
/** Few, so that agents share what is offered at once; enough that a burst does not wait for one round trip a job. */
const CLAIMS_AT_ONCE = 8;
/** An agent that has not been heard for so many heartbeats gets no jobs: it may stand still, and would lose them. */
const SILENT_HEARTBEATS = 2;
/** What another heartbeat cannot mend. */
const FATAL: readonly ErrorReason[] = ["malformed_request", "unauthenticated"];

export interface AgentSessionOptions {
  readonly caller: AgentCaller;
  readonly hello: Hello;
  readonly write: (message: ConnectResponse) => Promise<void>;
  /** Ends the stream; called once. */
  readonly end: (reason: MillraceError) => void;
}

export class AgentSession implements Claimant {
  /** Another object whenever they change: the board remembers what it has found for one. */
  labels: Labels;
  readonly #context: GatewayContext;
  readonly #standing: AgentStanding;
  readonly #boot: AgentBoot;
  readonly #hello: Hello;
  readonly #slots: number;
  readonly #streamId = randomUUID();
  readonly #end: (reason: MillraceError) => void;
  readonly #outbox: Outbox<ConnectResponse>;
  readonly #over = new AbortController();
  /** Jobs that take a slot, with the monotonic time at which that was last heard. */
  readonly #bound = new Map<JobRunId, number>();
  /** Claims that have not been answered, by request id. */
  readonly #claims = new Map<string, NodeJS.Timeout>();
  /** Steps dispatched over this stream: their reports need no look into the store. */
  readonly #dispatched = new Map<StepRunId, { readonly runId: RunId; readonly token: number }>();
  readonly #cleanups: (() => unknown)[] = [];
  #announced = false;
  #draining = false;
  /** As the agent told last. */
  #holdings: AgentHoldings = { steps: [], jobIds: [], takesNoJobs: "" };
  /** When the agent was last heard, by the monotonic clock. */
  #heardAt: number;
  #woken = false;
  #claiming = false;
  /** Jobs that were released while the store was being read. */
  readonly #released = new Set<JobRunId>();
  #reports: Promise<void> = Promise.resolve();
  #waitingReports = 0;
  #heartbeat: HeartbeatRequest | undefined;
  #beating = false;

  /** Throws `malformed_request` for a hello that says nothing sensible. */
  constructor(context: GatewayContext, { caller, hello, write, end }: AgentSessionOptions) {
    const { labels, slots } = parse(agentFacts, hello);
    this.#context = context;
    this.#standing = new AgentStanding(context, caller);
    this.#boot = { agentId: caller.agentId, bootId: parse(chosenId, hello.bootId) };
    this.#hello = hello;
    this.labels = labels;
    this.#slots = slots;
    this.#end = end;
    this.#heardAt = context.clock.monotonic();
    this.#outbox = new Outbox({
      capacity: OUTBOX_CAPACITY,
      write,
      onFault: (error) => this.#warn(error, "a message to the agent could not be made; the next heartbeat brings it"),
      onOverflow: () => this.end(new MillraceError("unavailable", "the agent reads too slowly: connect again")),
    });
  }

  /** Rejects when presence or the store cannot be reached: then the stream ends, and the agent tries again. */
  async open(): Promise<void> {
    const { agentId } = this.#boot;
    const holdings = readHoldings(this.#hello);
    await refreshAgent(this.#context, agentId, parse(agentFacts, this.#hello));
    this.#atEnd(await listenToAgent(this.#context, agentId, (notice) => this.#hear(notice)));
    await supersedeStreams(this.#context, agentId, this.#streamId);
    await this.#beat(holdings);
    const { eventNamespace } = this.#context;
    const heartbeatIntervalMs = BigInt(this.#context.heartbeatIntervalMs);
    this.#outbox.open({ message: { $case: "welcome", value: { agentId, heartbeatIntervalMs, eventNamespace } } });
    await this.#reconcile(holdings);
    this.#atEnd(this.#context.desk.join(this));
    this.wake();
  }

  /** Handles heartbeats by and by, since only the newest matters. Throws `conflict` for one of another boot. */
  heartbeat(heartbeat: HeartbeatRequest): void {
    if (heartbeat.bootId !== this.#boot.bootId) {
      throw new MillraceError("conflict", "the heartbeat's boot id is not that of this stream's hello");
    }
    this.#heardAt = this.#context.clock.monotonic();
    this.#heartbeat = heartbeat;
    if (!this.#beating) void this.#answerHeartbeats();
  }

  /**
   * Hands reports on one after the other. Resolves at once unless many wait: then when all are with their actors, so
   * that the agent is held back. Throws `malformed_request` for what is no report.
   */
  async report(message: StepReport | undefined): Promise<void> {
    const report = readReport(message);
    this.#context.desk.pauses.hear(this.#boot.agentId, report.phase);
    this.#waitingReports++;
    this.#reports = this.#reports.then(async () => {
      await this.#handOn(report);
      this.#waitingReports--;
    });
    if (this.#waitingReports >= MAX_WAITING_REPORTS) await this.#reports;
  }

  drain(): void {
    this.#draining = true;
    this.#showPresence().catch((error: unknown) => this.#warn(error, "the next heartbeat tells of the drain"));
  }

  /** The agent ends: what it still holds begins anew elsewhere. Rejects when the store or a mailbox cannot be reached. */
  async goodbye(): Promise<void> {
    this.#draining = true;
    await this.#reports;
    await handBackJobs(this.#context, this.#boot);
  }

  freeSlots(): number {
    const { clock, desk, heartbeatIntervalMs } = this.#context;
    const isSilent = clock.monotonic() - this.#heardAt > SILENT_HEARTBEATS * heartbeatIntervalMs;
    const isPaused = desk.pauses.isPaused(this.#boot.agentId);
    const takesNone = this.#draining || isSilent || isPaused || this.#holdings.takesNoJobs !== "";
    return takesNone ? 0 : this.#slots - this.#bound.size - this.#claims.size;
  }

  wake(): void {
    this.#woken = true;
    if (!this.#claiming) void this.#claim();
  }

  end(reason: MillraceError): void {
    if (this.#over.signal.aborted) return;
    this.close();
    this.#end(reason);
  }

  /** Stops everything; idempotent. */
  close(): void {
    this.#over.abort();
    for (const timer of this.#claims.values()) clearTimeout(timer);
    this.#claims.clear();
    for (const cleanup of this.#cleanups.splice(0)) this.#run(cleanup);
  }

  /** The agent has said goodbye: it need not be missed first. */
  async leave(): Promise<void> {
    await this.#context.presence.leave(this.#boot.agentId, this.#boot.bootId);
  }

  /** The stream may have ended while something was being set up. */
  #atEnd(cleanup: () => unknown): void {
    if (this.#over.signal.aborted) this.#run(cleanup);
    else this.#cleanups.push(cleanup);
  }

  #run(cleanup: () => unknown): void {
    void Promise.resolve(cleanup()).catch((error: unknown) => this.#warn(error, "a subscription could not be ended"));
  }

  #hear(notice: AgentNotice): void {
    switch (notice.type) {
      case "superseded":
        // All gateways hear these in one order: what comes after this stream's own announcement is newer.
        if (notice.by === this.#streamId) this.#announced = true;
        else if (this.#announced) this.end(superseded());
        return;
      case "dispatch":
        if (notice.order.bootId === this.#boot.bootId) this.#tell(notice);
        return;
      case "refuseClaim":
        this.#settleClaim(notice.requestId);
        return;
      case "labels":
        this.#relabel(notice.labels);
        return;
      case "revoke":
      case "release":
      case "acknowledge":
      case "refuse":
        this.#tell(notice);
    }
  }

  #tell(notice: AgentNotice): void {
    if (notice.type === "dispatch") {
      const { jobId, stepRunId, runId, token, requestId } = notice.order;
      this.#bound.set(jobId, this.#context.clock.monotonic());
      this.#dispatched.set(stepRunId, { runId, token });
      this.#settleClaim(requestId);
    } else if (notice.type === "acknowledge" || notice.type === "refuse") {
      this.#dispatched.delete(notice.stepRunId);
    } else if (notice.type === "release") {
      this.#bound.delete(notice.jobId);
      this.#released.add(notice.jobId);
      this.wake();
    }
    this.#outbox.push(() => noticeMessage(this.#context.builder, notice));
  }

  #relabel(labels: Labels): void {
    this.labels = labels;
    this.wake();
    this.#showPresence().catch((error: unknown) => this.#warn(error, "new labels are shown with the next heartbeat"));
  }

  /** Tries until the report is in its actor's mailbox or the stream is over; then the agent sends it again. */
  async #handOn(report: Report): Promise<void> {
    const { stepRunId, token } = report;
    while (!this.#over.signal.aborted) {
      try {
        const known = this.#dispatched.get(stepRunId);
        if (known?.token === token) await sendReport(this.#context, this.#boot.agentId, known.runId, report);
        else if ((await reportStep(this.#context, this.#boot.agentId, report)) === "refused") {
          this.#tell({ type: "refuse", stepRunId, token });
        }
        return;
      } catch (error) {
        this.#warn(error, "a report could not be handed on; trying again");
        await sleep(REPORT_RETRY_MS, undefined, { signal: this.#over.signal }).catch(() => {});
      }
    }
  }

  async #claim(): Promise<void> {
    this.#claiming = true;
    try {
      while (this.#woken) {
        this.#woken = false;
        while (await this.#claimSome());
      }
    } catch (error) {
      this.#warn(error, "no job could be claimed; the next wake-up tries again");
    } finally {
      this.#claiming = false;
    }
  }

  /** Answers whether there may be more to claim. */
  async #claimSome(): Promise<boolean> {
    const count = Math.min(this.freeSlots(), CLAIMS_AT_ONCE);
    if (count <= 0 || this.#over.signal.aborted) return false;
    const requestIds = Array.from({ length: count }, () => randomUUID());
    // The slots are taken before the board is asked: the answer may come before the request has returned.
    for (const requestId of requestIds) {
      this.#claims.set(
        requestId,
        setTimeout(() => this.#settleClaim(requestId), CLAIM_WAIT_MS),
      );
    }
    let claimed = 0;
    try {
      claimed = (await claimNext(this.#context, this.#boot, this.labels, requestIds)).length;
    } finally {
      for (const requestId of requestIds.slice(claimed)) this.#forgetClaim(requestId);
    }
    return claimed === count;
  }

  #settleClaim(requestId: string): void {
    if (this.#forgetClaim(requestId)) this.wake();
  }

  #forgetClaim(requestId: string): boolean {
    clearTimeout(this.#claims.get(requestId));
    return this.#claims.delete(requestId);
  }

  async #answerHeartbeats(): Promise<void> {
    this.#beating = true;
    for (let next = this.#heartbeat; next !== undefined && !this.#over.signal.aborted; next = this.#heartbeat) {
      this.#heartbeat = undefined;
      const { sequence } = next;
      try {
        const holdings = readHoldings(next);
        const stored = await this.#standing.check();
        if (stored !== undefined && !isDeepStrictEqual(stored.labels, this.labels)) this.labels = stored.labels;
        await this.#beat(holdings);
        await this.#reconcile(holdings);
        this.#outbox.push(() => ({ message: { $case: "heartbeatAck", value: { sequence } } }));
      } catch (error) {
        if (error instanceof MillraceError && FATAL.includes(error.reason)) this.end(error);
        else this.#warn(error, "a heartbeat could not be recorded and is not acknowledged");
      }
    }
    this.#beating = false;
  }

  #beat(holdings: AgentHoldings): Promise<void> {
    const isBack = this.#holdings.takesNoJobs !== "" && holdings.takesNoJobs === "";
    this.#holdings = holdings;
    if (isBack) this.wake();
    return this.#showPresence();
  }

  #showPresence(): Promise<void> {
    const { gatewayId, presence } = this.#context;
    const { jobIds, takesNoJobs } = this.#holdings;
    const [slots, busy, draining] = [this.#slots, jobIds.length, this.#draining];
    return presence.beat({ ...this.#boot, gatewayId, labels: this.labels, slots, busy, draining, takesNoJobs });
  }

  async #reconcile(holdings: AgentHoldings): Promise<void> {
    this.#released.clear();
    const startedAt = this.#context.clock.monotonic();
    const { notices, boundJobIds } = await missedOrders(this.#context, this.#context.builder, this.#boot, holdings);
    if (this.#over.signal.aborted) return;
    const now = this.#context.clock.monotonic();
    for (const jobId of [...boundJobIds, ...holdings.jobIds])
      if (!this.#released.has(jobId)) this.#bound.set(jobId, now);
    for (const [jobId, heardAt] of this.#bound) if (heardAt < startedAt) this.#bound.delete(jobId);
    for (const notice of notices) this.#tell(notice);
  }

  #warn(error: unknown, message: string): void {
    this.#context.log.warn({ agentId: this.#boot.agentId, error: String(error) }, message);
  }
}

export function superseded(): MillraceError {
  return new MillraceError("conflict", "the agent has opened a newer stream, or its token is revoked");
}
