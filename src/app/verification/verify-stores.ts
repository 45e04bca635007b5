/**
 * Verifies a live store: every aggregate against itself, its look-ups and its events; every record against its owner;
 * and Redis, where it can be read, against the jobs. Reads only, one page at a time. A difference is reported when a
 * second look confirms it, so nodes may work meanwhile.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { aggregateTypeOf } from "../../../actors/aggregates.ts";
import type { JobState } from "../../../actors/job/state.ts";
import type { AggregateType } from "../../../actors/kernel/actor-kind.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import type { RunState } from "../../../actors/run/state.ts";
import { PLACE_MS } from "../../board/board.ts";
import { systemClock } from "../../domain/clock.ts";
import type { JobRunId, RootId, RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import { NO_PIPELINE } from "../../stores/ports/aggregates.ts";
import {
  type InspectedAggregate,
  RECORD_KINDS,
  type RecordKind,
  type RecordOwner,
} from "../../stores/ports/inspection.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import { checkAggregate, EventCheck } from "./check-aggregate.ts";
import { checkSystemLog } from "./check-system-events.ts";
import { checkFoundOffer, checkFoundPlace, checkOffers, expectedOf } from "./check-hints.ts";
import { confirm, type Suspect } from "./confirm.ts";
import type { Difference } from "./difference.ts";
import { type Hints, ownedShards, readableHints, UnreadableHints } from "./hints.ts";

export interface VerifyOptions {
  /** Absent or null: Redis is not looked at. */
  readonly hints?: Hints | null;
  /** The number of shards; absent: as the store says. */
  readonly shards?: number;
  /** Pauses before a second look, milliseconds: for records of the store, for what owners repair, for places. */
  readonly pauses?: Partial<Pauses>;
  readonly signal?: AbortSignal;
}

interface Pauses {
  readonly storeMs: number;
  /** Owners write missing hints again within about 10 s. */
  readonly hintMs: number;
  /** A place that no owner renews expires by itself. */
  readonly placeMs: number;
}

export interface Verification {
  /** What was read. */
  readonly read: {
    readonly aggregates: number;
    readonly events: number;
    readonly owners: number;
    readonly offers: number;
    readonly places: number;
  };
  /** Confirmed differences. */
  readonly differences: readonly Difference[];
  /** True when more differed at the first look than could be looked at again. */
  readonly more: boolean;
  /** What was not looked at, and why. */
  readonly skipped: readonly string[];
}

export type VerifiedStores = Pick<
  Stores,
  "inspection" | "plans" | "removals" | "shards" | "aggregates" | "pipelines" | "systemEvents"
>;

interface Inspected {
  readonly aggregate: InspectedAggregate;
  readonly plan: RunPlan | undefined;
  readonly type: AggregateType;
}

/** What an owner has, for people. */
const RECORDS: Readonly<Record<RecordKind, string>> = {
  rows: "a look-up",
  events: "events",
  commands: "commands",
  outputs: "outputs",
  notes: "notes",
  logs: "log lines",
  attempts: "an ended attempt",
};
const DEFAULT_PAUSES: Pauses = { storeMs: 2_000, hintMs: 12_000, placeMs: PLACE_MS + 5_000 };
const PAGE = 200;
const EVENTS_A_PAGE = 5_000;
/** Objects that are looked at again, for each kind of pause. */
const MAX_SUSPECTS = 1_000;
/** A timer that is overdue by more than this has been forgotten; less may be a difference of clocks. */
const OVERDUE_MS = 60_000;
/** What is no run begins with the first command to it. */
const BEGUN_BY_COMMANDS = /^(grp|sch|tmt)_/;

/** Rejects when the store cannot be read, and when `signal` is aborted. */
export async function verifyStores(stores: VerifiedStores, options: VerifyOptions = {}): Promise<Verification> {
  return new StoreVerification(stores, options).run();
}

class StoreVerification {
  readonly #stores: VerifiedStores;
  readonly #options: VerifyOptions;
  readonly #pauses: Pauses;
  readonly #suspects: Record<keyof Pauses, Suspect[]> = { storeMs: [], hintMs: [], placeMs: [] };
  readonly #read = { aggregates: 0, events: 0, owners: 0, offers: 0, places: 0 };
  readonly #skipped: string[] = [];
  #hints: Hints | null;
  /** Shards whose owner has lived at each look. What owners must do is expected of these only. */
  #owned: ReadonlySet<number> = new Set();
  #shards = 0;
  #more = false;

  constructor(stores: VerifiedStores, options: VerifyOptions) {
    this.#stores = stores;
    this.#options = options;
    this.#pauses = { ...DEFAULT_PAUSES, ...options.pauses };
    this.#hints = options.hints == null ? null : readableHints(options.hints);
  }

  async run(): Promise<Verification> {
    this.#shards = this.#options.shards ?? Number(await this.#stores.inspection.setting("MAILBOX_SHARDS"));
    if (this.#hints === null) this.#skipped.push("offers, places and owners: Redis was not given");
    await this.#withHints(async (hints) => {
      this.#owned = await ownedShards(hints);
      await this.#suspect("hintMs", () => this.#checkShards(hints));
    });
    await this.#walkAggregates();
    await this.#walkOwners();
    await this.#walkSystemLogs();
    await this.#withHints((hints) => this.#walkHints(hints));
    const differences: Difference[] = [];
    for (const [name, suspects] of Object.entries(this.#suspects) as [keyof Pauses, Suspect[]][]) {
      differences.push(...(await confirm(suspects, () => this.#pause(this.#pauses[name]))));
    }
    const without = this.#shards - this.#owned.size;
    if (this.#hints !== null && without > 0)
      this.#skipped.push(`offers, places and owed effects of ${without} shards: no worker that lives owns them`);
    return { read: { ...this.#read }, differences, more: this.#more, skipped: [...new Set(this.#skipped)] };
  }

  /** Calls `work` while Redis can be read. Once it cannot, nothing more is expected of what Redis holds. */
  async #withHints(work: (hints: Hints) => Promise<void>): Promise<void> {
    if (this.#hints === null) return;
    try {
      await work(this.#hints);
    } catch (error) {
      if (!(error instanceof UnreadableHints)) throw error;
      // Work within this work has told it.
      if (this.#hints === null) return;
      this.#hints = null;
      this.#owned = new Set();
      this.#skipped.push(`offers, places and owners: Redis cannot be read (${String(error.cause)})`);
    }
  }

  /** An owner that is gone is replaced within seconds; each owned shard has an epoch. */
  async #checkShards(hints: Hints): Promise<readonly Difference[]> {
    const [owners, nodes, epochs] = await Promise.all([hints.owners(), hints.nodes(), this.#stores.shards.epochs()]);
    const differences: Difference[] = [];
    const say = (shard: number, text: string) => differences.push({ kind: "shard", object: `shard ${shard}`, text });
    for (const [shard, owner] of owners) {
      if (owner === null) continue;
      if (!nodes.has(owner)) say(shard, `is owned by node ${owner}, which does not live`);
      if ((epochs.get(shard) ?? 0) < 1) say(shard, "has an owner, and the store has issued no epoch");
    }
    for (const shard of epochs.keys()) {
      if (shard >= this.#shards) say(shard, `has an epoch, and there are ${this.#shards} shards`);
    }
    return differences;
  }

  async #walkAggregates(): Promise<void> {
    for (let after = ""; ;) {
      const page = await this.#stores.inspection.pageRoots(after, PAGE);
      for (const rootId of page) {
        this.#options.signal?.throwIfAborted();
        this.#read.aggregates++;
        const first = await this.#inspect(rootId);
        await this.#suspect("storeMs", (again) => this.#checkStored(rootId, again ? undefined : first));
        await this.#suspect("hintMs", (again) => this.#checkOwned(rootId, again ? undefined : first));
      }
      if (page.length < PAGE) return;
      after = page.at(-1)!;
    }
  }

  async #checkStored(rootId: RootId, first: Inspected | undefined): Promise<readonly Difference[]> {
    const found = first ?? (await this.#inspect(rootId));
    if (found === undefined) return [];
    const { aggregate, plan, type } = found;
    const differences = checkAggregate(aggregate, { type, plan, shard: shardOf(rootId, this.#shards) });
    if (!type.isPlanned || aggregate.eventsGone) return differences;
    return [...differences, ...(await this.#checkEvents(aggregate))];
  }

  async #checkEvents(aggregate: InspectedAggregate): Promise<readonly Difference[]> {
    const check = new EventCheck(aggregate);
    for (let after = 0; ;) {
      const numbers = await this.#stores.inspection.eventNumbers(aggregate.head.rootId as RunId, after, EVENTS_A_PAGE);
      check.add(numbers);
      this.#read.events += numbers.length;
      if (numbers.length < EVENTS_A_PAGE) return check.end();
      after = numbers.at(-1)!;
    }
  }

  /** What a living owner has done within seconds. */
  async #checkOwned(rootId: RootId, first: Inspected | undefined): Promise<readonly Difference[]> {
    if (!this.#isOwned(rootId)) return [];
    const found = first ?? (await this.#inspect(rootId));
    if (found === undefined) return [];
    const { aggregate, plan, type } = found;
    const { head } = aggregate;
    const differences: Difference[] = [];
    const say = (text: string) => differences.push({ kind: "owed", object: rootId, text });
    if (head.final && !head.settled) say(`has ended and still owes ${head.owed.length} effects`);
    if (head.nextDueAt !== null && head.nextDueAt < systemClock.now() - OVERDUE_MS)
      say(`has a timer that was due at ${new Date(head.nextDueAt).toISOString()}`);
    if (await this.#isAbandoned(aggregate)) {
      const text = `is not stopped, and its pipeline ${head.summary.pipelineId} does not exist`;
      differences.push({ kind: "orphan", object: rootId, text });
    }
    if (head.settled || (type.isPlanned && plan === undefined)) return differences;
    const expected = expectedOf(aggregate, plan ?? ({} as RunPlan), type);
    const { board } = this.#hints!;
    differences.push(
      ...checkOffers(expected.offers, await board.findOffers(expected.offers.map(({ jobId }) => jobId))),
    );
    for (const { jobId, quota } of expected.places) {
      if (!(await board.hasPlace(quota, jobId)))
        differences.push({ kind: "place", object: jobId, text: `runs, and has no place in the quota ${quota}` });
    }
    return differences;
  }

  /** A live run of a deleted pipeline ends, so its stop has begun. */
  async #isAbandoned({ head, actors }: InspectedAggregate): Promise<boolean> {
    const { pipelineId } = head.summary;
    if (head.final || pipelineId === NO_PIPELINE) return false;
    const run = actors.find(({ id }) => id === head.rootId)?.state as RunState | undefined;
    return run?.state !== "stopping" && (await this.#stores.pipelines.find(pipelineId)) === undefined;
  }

  async #inspect(rootId: RootId): Promise<Inspected | undefined> {
    const type = aggregateTypeOf(rootId);
    const aggregate = await this.#stores.inspection.read(rootId);
    if (aggregate === undefined) return undefined;
    const plan = type.isPlanned ? await this.#stores.plans.loadPlan(rootId as RunId) : undefined;
    // A run that was removed between the two reads has no plan, and is no longer there.
    if (type.isPlanned && plan === undefined && (await this.#stores.inspection.read(rootId)) === undefined)
      return undefined;
    return { aggregate, plan, type };
  }

  async #walkOwners(): Promise<void> {
    const { inspection } = this.#stores;
    for (const kind of RECORD_KINDS) {
      for (let after = ""; ;) {
        this.#options.signal?.throwIfAborted();
        const page = await inspection.pageOwners(kind, after, PAGE);
        this.#read.owners += page.length;
        for (const owner of await inspection.missingOwners(page)) {
          await this.#suspect("storeMs", () => this.#checkOrphan(kind, owner));
        }
        if (page.length < PAGE) break;
        after = page.at(-1)!.key;
      }
    }
  }

  async #checkOrphan(kind: RecordKind, owner: RecordOwner): Promise<readonly Difference[]> {
    const { inspection } = this.#stores;
    const { rootId, actorId } = owner;
    if (kind === "commands" && BEGUN_BY_COMMANDS.test(rootId ?? "")) return [];
    if ((await inspection.missingOwners([owner])).length === 0 || (await this.#isBeingRemoved(owner))) return [];
    const text = `has ${RECORDS[kind]} in the store, and does not exist`;
    return [{ kind: "orphan", object: actorId ?? rootId!, text: rootId && actorId ? `of ${rootId} ${text}` : text }];
  }

  /** A removal deletes the snapshot first; a removal that was cut off is finished later. */
  async #isBeingRemoved({ rootId, actorId }: RecordOwner): Promise<boolean> {
    const { removals } = this.#stores;
    if (rootId !== null) return ((await removals.find(rootId as RunId))?.removal ?? null) !== null;
    const unfinished = await removals.unfinished(PAGE);
    return unfinished.some(({ stepRunIds }) => (stepRunIds as readonly string[]).includes(actorId!));
  }

  async #walkSystemLogs(): Promise<void> {
    const { systemEvents } = this.#stores;
    for (let log = await systemEvents.nextLog(""); log !== undefined; log = await systemEvents.nextLog(log)) {
      const systemLog = log;
      await this.#suspect("storeMs", async (again) => {
        const { differences, read } = await checkSystemLog(systemEvents, systemLog, this.#options.signal);
        if (!again) this.#read.events += read;
        return differences;
      });
    }
  }

  async #walkHints({ board }: Hints): Promise<void> {
    for await (const page of board.offers()) {
      for (const offer of page) {
        this.#options.signal?.throwIfAborted();
        this.#read.offers++;
        await this.#suspect("hintMs", async () => {
          if (!this.#isOwned(offer.runId)) return [];
          const still = await board.findOffers([offer.jobId]);
          return still.length === 0 ? [] : checkFoundOffer(offer, (await this.#jobOf(offer.jobId))?.job);
        });
      }
    }
    for await (const page of board.places()) {
      for (const place of page) {
        this.#options.signal?.throwIfAborted();
        this.#read.places++;
        await this.#suspect("placeMs", async () => {
          const still = await board.hasPlace(place.quota, place.jobId);
          const found = await this.#jobOf(place.jobId);
          const isExpected = found === undefined ? this.#owned.size === this.#shards : this.#isOwned(found.runId);
          return !still || !isExpected ? [] : checkFoundPlace(place, found?.job);
        });
      }
    }
  }

  async #jobOf(jobId: JobRunId): Promise<{ readonly runId: RunId; readonly job: JobState } | undefined> {
    const found = await this.#stores.aggregates.findJob(jobId);
    return found && { runId: found.runId, job: found.actor.state as JobState };
  }

  #isOwned(rootId: RootId): boolean {
    return this.#owned.has(shardOf(rootId, this.#shards));
  }

  /** Looks once; what differs is looked at again later. */
  async #suspect(pause: keyof Pauses, look: (again: boolean) => Promise<readonly Difference[]>): Promise<void> {
    const differences = await this.#look(() => look(false), pause);
    if (differences.length === 0) return;
    const suspects = this.#suspects[pause];
    if (suspects.length < MAX_SUSPECTS) suspects.push({ differences, look: () => this.#look(() => look(true), pause) });
    else this.#more = true;
  }

  /** A look at hints finds nothing when Redis cannot be read. */
  async #look(look: () => Promise<readonly Difference[]>, pause: keyof Pauses): Promise<readonly Difference[]> {
    if (pause === "storeMs") return look();
    let found: readonly Difference[] = [];
    await this.#withHints(async () => void (found = await look()));
    return found;
  }

  /** A node that died during the pause has repaired nothing, so nothing is expected of it afterwards. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, this.#options.signal === undefined ? {} : { signal: this.#options.signal });
    await this.#withHints(async (hints) => {
      const still = await ownedShards(hints);
      this.#owned = new Set([...this.#owned].filter((shard) => still.has(shard)));
    });
  }
}
