/** The faults of a seed that happen at a time, and not to one call: kills, freezes, outages and losses. */
import type { Draws } from "./engine/draws.ts";
import type { Faults } from "./engine/faults.ts";
import type { Process } from "./engine/process.ts";
import type { Service } from "./engine/service.ts";
import type { World } from "./engine/world.ts";
import type { Fleet } from "./fleet.ts";

/** Longest time for which a process is frozen or cut off, and a server is away, milliseconds. */
const FREEZE_MS = 9_000;
const OUTAGE_MS = 8_000;
/** How far the wall clock of a process jumps at most, milliseconds. A worker whose clock is wrong by more owns nothing. */
const JUMP_MS = 50_000;

/** Schedules the incidents within `forMs` from now. All of them are over when `forMs` have passed. */
export function scheduleIncidents(world: World, draws: Draws, fleet: Fleet, faults: Faults, forMs: number): void {
  const { scheduler, redis, storeService, trace } = world;
  const endsAt = scheduler.now + forMs;
  const leftMs = (most: number): number => Math.min(draws.fraction() * most, endsAt - scheduler.now);
  const times = (count: number, happen: () => void): void => {
    for (let nth = 0; nth < count; nth++) scheduler.after(draws.fraction() * forMs, happen);
  };
  const toOne = (processes: () => readonly Process[], happen: (process: Process) => void) => (): void => {
    const alive = processes();
    if (alive.length > 0) happen(draws.pick(alive));
  };
  const kill = (process: Process): void => process.kill();
  const freeze = (process: Process): void => process.freeze(leftMs(FREEZE_MS));

  times(
    faults.workerKills,
    toOne(() => fleet.alive("workers"), kill),
  );
  times(
    faults.workerFreezes,
    toOne(() => fleet.alive("workers"), freeze),
  );
  times(
    faults.gatewayKills,
    toOne(() => fleet.alive("gateways"), kill),
  );
  times(
    faults.gatewayFreezes,
    toOne(() => fleet.alive("gateways"), freeze),
  );
  times(
    faults.edgeKills,
    toOne(() => fleet.alive("edges"), kill),
  );
  times(
    faults.agentKills,
    toOne(() => fleet.alive("agents"), kill),
  );
  times(
    faults.agentFreezes,
    toOne(() => fleet.alive("agents"), freeze),
  );
  times(faults.workerLeaves, () => {
    const alive = fleet.workers.filter(({ process }) => process.isAlive);
    if (alive.length > 0) draws.pick(alive).leave();
  });
  times(faults.streamCuts, () => draws.pick(fleet.agents).cutStream());
  times(faults.redisEmptied, () => redis.empty());
  times(faults.redisRestarted, () => redis.restart(draws.chance(0.5)));

  const outage = (service: Service, name: string) => (): void => beAway(world, service, name, leftMs(OUTAGE_MS));
  times(faults.redisOutages, outage(redis.service, "Redis"));
  times(faults.storeOutages, outage(storeService, "the store"));
  times(faults.cutOffs, () => {
    const service = draws.pick([redis.service, storeService]);
    const process = draws.pick([...fleet.alive("workers"), ...fleet.alive("gateways"), ...fleet.alive("edges")]);
    if (process === undefined) return;
    trace.note(() => `${process.name} is cut off from ${service === storeService ? "the store" : "Redis"}`);
    service.cutOff.add(process);
    scheduler.after(leftMs(OUTAGE_MS), () => service.cutOff.delete(process));
  });
}

/** Incidents of the host of repositories, and jumps of the wall clocks of processes. As {@link scheduleIncidents}. */
export function scheduleOutsideIncidents(world: World, draws: Draws, fleet: Fleet, forMs: number): void {
  const { scheduler, host, trace } = world;
  const endsAt = scheduler.now + forMs;
  const leftMs = (): number => Math.min(draws.fraction() * OUTAGE_MS, endsAt - scheduler.now);
  const times = (most: number, happen: () => void): void => {
    const count = draws.chance(0.5) ? draws.between(1, most) : 0;
    for (let nth = 0; nth < count; nth++) scheduler.after(draws.fraction() * forMs, happen);
  };
  times(2, () => beAway(world, host.service, "the host", leftMs()));
  times(2, () => {
    trace.note(() => "the host wants fewer calls");
    host.busyUntil = scheduler.now + leftMs();
  });
  times(3, () => {
    const process = draws.pick([...fleet.alive("workers"), ...fleet.alive("edges")]);
    if (process === undefined) return;
    process.aheadMs = Math.round((2 * draws.fraction() - 1) * JUMP_MS);
    world.haveClocksJumped = true;
    trace.note(() => `the clock of ${process.name} is ${process.aheadMs} ms ahead`);
    scheduler.after(leftMs(), () => (process.aheadMs = 0));
  });
}

function beAway({ trace, scheduler }: World, service: Service, name: string, ms: number): void {
  trace.note(() => `${name} is away`);
  service.isDown = true;
  scheduler.after(ms, () => (service.isDown = false));
}
