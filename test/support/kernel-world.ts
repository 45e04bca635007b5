/** A kernel over a real store, with ports that record what it performs. For tests of one shard. */
import { Kernel } from "../../actors/kernel/kernel.ts";
import type { KernelTiming } from "../../actors/kernel/kernel-context.ts";
import { takeFirstTurn } from "../../actors/kernel/first-turn.ts";
import type { JobState } from "../../actors/job/state.ts";
import { aggregateTypeOf } from "../../actors/aggregates.ts";
import { RUN_AGGREGATE } from "../../actors/run/aggregate.ts";
import { createRunAggregate } from "../../actors/run/create.ts";
import type { RunState } from "../../actors/run/state.ts";
import { systemClock } from "../../src/domain/clock.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { UserCommand } from "../../src/domain/commands.ts";
import { type AgentId, asId, jobRunId, newId, type RootId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { AggregateSave } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { RecordingPorts, silentLog } from "./kernel-ports.ts";
import { jobSpecsOf, MANUAL_ORIGIN, planOf } from "./plans.ts";
import { openTestSqlite } from "./stores.ts";

export const KERNEL_SHARD = 3;
export const KERNEL_AGENT = asId<AgentId>("agt_A");
export const FAST_TIMING: Partial<KernelTiming> = {
  sweepMs: 20,
  passivateMs: 40,
  parkMinMs: 5,
  parkMaxMs: 20,
  watchMs: 20,
  lossMarginMs: 60,
};

export class KernelWorld {
  readonly stores: Stores;
  readonly ports = new RecordingPorts();
  readonly presence = new Map<AgentId, { bootId: string; beat: string }>();
  /** How often a kernel has read presence: only a kernel that watches an agent reads it. */
  presenceReads = 0;
  /** Cleared to make presence unreadable. */
  presenceReadable = true;
  /** The saves that the store received, in order. */
  readonly saves: AggregateSave<RootId>[] = [];
  readonly #close: () => Promise<void>;
  readonly #kernels: Kernel[] = [];

  private constructor(stores: Stores, close: () => Promise<void>) {
    this.stores = stores;
    this.#close = close;
    const save = stores.aggregates.save.bind(stores.aggregates);
    stores.aggregates.save = (change) => {
      this.saves.push(change);
      return save(change);
    };
  }

  static async open(): Promise<KernelWorld> {
    const { stores, close } = await openTestSqlite();
    return new KernelWorld(stores, close);
  }

  /** Stops every kernel of this world, and closes the store. */
  async close(): Promise<void> {
    await Promise.all(this.#kernels.map((kernel) => kernel.stop()));
    await this.#close();
  }

  kernel(timing: Partial<KernelTiming> = FAST_TIMING, log: Logger = silentLog): Kernel {
    const { stores, ports } = this;
    const kernel = new Kernel({
      stores,
      feed: ports.feed,
      board: ports.board,
      mailboxes: ports.mailboxes,
      presence: {
        online: () => Promise.resolve([]),
        declareLost: () => Promise.resolve(),
        read: () => {
          this.presenceReads++;
          if (!this.presenceReadable) return Promise.reject(new Error("no Redis"));
          const shown = [...this.presence].map(([id, beat]) => [id, { gatewayId: "", at: 0, ...beat }] as const);
          return Promise.resolve(new Map(shown));
        },
      },
      typeOf: aggregateTypeOf,
      shards: 16,
      clock: systemClock,
      log,
      timing,
    });
    this.#kernels.push(kernel);
    return kernel;
  }

  /** Stores a run that has taken no turn. */
  async trigger(plan: RunPlan = planOf([[{}]])): Promise<RunId> {
    const runId = newId("run");
    await this.stores.plans.put(runId, plan, jobSpecsOf(plan));
    const now = Date.now();
    await this.stores.aggregates.create(
      createRunAggregate({ runId, shard: KERNEL_SHARD, plan, origin: MANUAL_ORIGIN, now }),
    );
    return runId;
  }

  /** Stores a run as an edge does: its first turn is taken, and its owed effects are not performed yet. */
  async triggerBegun(plan: RunPlan): Promise<RunId> {
    const runId = newId("run");
    const now = Date.now();
    const created = createRunAggregate({ runId, shard: KERNEL_SHARD, plan, origin: MANUAL_ORIGIN, now });
    await this.stores.plans.put(runId, plan, jobSpecsOf(plan));
    await this.stores.aggregates.create(takeFirstTurn(created, plan, now, RUN_AGGREGATE, () => []));
    return runId;
  }

  async stateOf<State>(rootId: RunId, id: string): Promise<State> {
    const aggregate = await this.stores.aggregates.load(rootId);
    return aggregate!.actors.find((actor) => actor.id === id)!.state as State;
  }

  runOf(rootId: RunId): Promise<RunState> {
    return this.stateOf<RunState>(rootId, rootId);
  }

  jobOf(rootId: RunId, index = 0, attempt = 1): Promise<JobState> {
    return this.stateOf<JobState>(rootId, jobRunId(rootId, index, attempt));
  }

  /** Stores a command as an edge does, without a doorbell. Returns its id. */
  async command(rootId: RunId, kind: UserCommand["kind"]): Promise<string> {
    const id = newId("cmd");
    const from = { reason: "", operator: "test", actor: "test", storedAt: 0 };
    await this.stores.inbox.insert({ id, rootId, shard: KERNEL_SHARD, kind, ...from });
    return id;
  }
}

/** A message of an envelope, as the kernel receives it. */
export function doorbell(rootId: RunId) {
  return { rootId, to: null, message: null };
}

export function claimOf(rootId: RunId, index = 0, requestId = "r1", quotas: readonly string[] = []) {
  return {
    rootId,
    to: { kind: "job", id: jobRunId(rootId, index, 1) },
    message: { type: "claimRequested", agentId: KERNEL_AGENT, bootId: "boot-1", requestId, quotas },
  };
}

/** The token of a first grant under epoch 1. */
const TOKEN = 2;

export function reportOf(rootId: RunId, phase: string, index = 0) {
  const message = {
    type: "reported",
    agentId: KERNEL_AGENT,
    token: TOKEN,
    phase,
    exitCode: 0,
    reason: "",
    lastLine: 0,
  };
  return {
    rootId,
    to: { kind: "step", id: stepRunId(rootId, jobRunId(rootId, index, 1), 0, 1) },
    message: { ...message, durationMs: 1 },
  };
}
