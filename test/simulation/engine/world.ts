/** What all parts of one simulation share. */
import type { AddressedMessage } from "../../../queues/envelope.ts";
import type { Board } from "../../../src/board/board.ts";
import type { BegunRun } from "../../../src/app/begun-runs.ts";
import type { RunId } from "../../../src/domain/ids.ts";
import type { Quotas } from "../../../src/domain/quotas.ts";
import type { newId } from "../../../src/domain/ids.ts";
import { ulid } from "ulid";
import { CodeHost } from "../outside/code-host.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { type SimulatedStores, storesOf } from "../store/store-client.ts";
import { StoreServer } from "../store/store-server.ts";
import { type Draws, drawsOfSeed } from "./draws.ts";
import { type CallFaults, NO_FAULTS } from "./faults.ts";
import { Process } from "./process.ts";
import { Scheduler } from "./scheduler.ts";
import { Service } from "./service.ts";
import { Trace, type Tracing } from "./trace.ts";

/** When every simulation begins, Unix milliseconds. */
const START = Date.UTC(2026, 0, 1);
/** A simulation with more events does not end. */
const MAX_EVENTS = 400_000;

export interface WorldOptions {
  readonly seed: number;
  readonly shards: number;
  readonly quotas: Quotas;
  readonly tracing: Tracing;
}

/** The owners of shards, as the edges and gateways of their own process reach them: in memory. */
export interface OwnersBeside {
  adopt(run: BegunRun): void;
  creatorIsDone(runId: RunId): void;
  /** As {@link OwnedHere.take}. */
  take(shard: number, message: AddressedMessage): Promise<boolean> | undefined;
}

export interface LoneNode {
  /** That of the living gateway. */
  board: Pick<Board, "reserve"> | undefined;
  isAlone(): boolean;
}

export class World {
  /** Set when edges, gateways and workers are one process: messages and new runs reach a living owner without Redis. */
  beside: OwnersBeside | undefined;
  /** Set when the only gateway keeps the vacancies of its agents to itself and the edges, as a node does that is alone. */
  lone: LoneNode | undefined;
  readonly scheduler = new Scheduler(START, MAX_EVENTS);
  readonly trace: Trace;
  readonly draws: Draws;
  readonly shards: number;
  readonly quotas: Quotas;
  readonly redis: RedisServer;
  readonly store = new StoreServer();
  readonly storeService: Service;
  /** Takes the commit statuses. */
  readonly host: CodeHost;
  /** True when workers process deliveries and report to the host. */
  hasOutside = false;
  haveClocksJumped = false;
  /** Makes ids from the virtual clock. */
  readonly newId: typeof newId;
  /** Faults of messages between agents and gateways. */
  streamFaults: CallFaults = NO_FAULTS;

  constructor({ seed, shards, quotas, tracing }: WorldOptions) {
    this.draws = drawsOfSeed(seed, "world");
    this.store.savesEventsAtOnce = seed % 2 === 1;
    this.trace = new Trace(this.scheduler, tracing);
    this.shards = shards;
    this.quotas = quotas;
    const shared = { scheduler: this.scheduler, draws: this.draws, trace: this.trace };
    const redisService = new Service({ ...shared, name: "redis", isOrdered: true });
    this.storeService = new Service({ ...shared, name: "store", isOrdered: false });
    this.host = new CodeHost(new Service({ ...shared, name: "host", isOrdered: false }));
    const ofIds = drawsOfSeed(seed, "ids");
    this.newId = ((prefix) => `${prefix}_${ulid(Math.floor(this.now), () => ofIds.fraction())}`) as typeof newId;
    this.redis = new RedisServer(this.scheduler, this.draws, this.trace, redisService, shards);
  }

  get now(): number {
    return this.scheduler.now;
  }

  newProcess(name: string): Process {
    return new Process(this.scheduler, this.trace, this.draws.name(name));
  }

  storesFor(process: Process): SimulatedStores {
    return storesOf(this.store, this.storeService.callsOf(process), (name) => {
      this.scheduler.fail(new Error(`${process.name} uses stores.${name}, which is not simulated`));
    });
  }

  /** Makes calls fail with these probabilities from now on. */
  setFaults(faults: CallFaults): void {
    this.redis.service.faults = this.storeService.faults = this.host.service.faults = this.streamFaults = faults;
  }
}
