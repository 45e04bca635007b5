/** One simulation: everything in it follows from its seed. */
import type { Violation } from "../chaos/check/evidence.ts";
import { drawsOfSeed } from "./engine/draws.ts";
import { drawFaults, type Faults, NO_FAULTS } from "./engine/faults.ts";
import type { Tracing } from "./engine/trace.ts";
import { World } from "./engine/world.ts";
import { Fleet } from "./fleet.ts";
import { scheduleIncidents, scheduleOutsideIncidents } from "./incidents.ts";
import { isOutsideDone } from "./judge/deliveries.ts";
import { Effects } from "./judge/effects.ts";
import { Executions } from "./judge/executions.ts";
import { checkFinal, isSettled } from "./judge/final.ts";
import { areTimesDone } from "./judge/schedules.ts";
import { QuietWatch } from "./judge/quiet.ts";
import { Clients } from "./load/clients.ts";
import { beginLoad } from "./load/load.ts";
import { missTimes } from "./load/schedules.ts";
import { beginOutsideLoad, prepareOutside } from "./outside/load.ts";

export interface Outcome {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly faults: Faults;
  readonly runs: number;
  readonly events: number;
  /** Virtual time, milliseconds. */
  readonly tookMs: number;
  readonly traceHash: string;
  readonly trace: readonly string[];
}

/** What happens in every simulation again and again, and says nothing about a violation. */
const ROUTINE =
  / (redis\.(identity|renew|beat|fetch|active|attend|online)|store\.(shards with|roots with|owing|due|queued jobs))/;
const LAST_LINES = 150;

/** The violations of a seed, how to repeat it, and the last events that may matter, for people. */
export function describeFailure({ seed, violations, trace }: Outcome): string {
  const said = violations.map(({ kind, text }) => `  ${kind}: ${text}`);
  const repeat = `npm run simulate -- --seed ${seed} --trace`;
  const lines = trace.filter((line) => !ROUTINE.test(line)).slice(-LAST_LINES);
  return [`seed ${seed} violates (repeat it with \`${repeat}\`):`, ...said, ...lines].join("\n");
}

/** When clients trigger runs, milliseconds from the start. */
const LOAD_MS = 6_000;
/** A run ends within this time after the last fault, milliseconds. */
const END_MS = 240_000;
/** Time after the last run, in which what was performed late would show. */
const AFTER_MS = 15_000;

export async function simulate(seed: number, tracing: Tracing = "none"): Promise<Outcome> {
  const plan = drawsOfSeed(seed, "plan");
  const shards = plan.between(1, 3);
  const world = new World({
    seed,
    shards,
    // With a quota for every project, the kernel keeps a place for each bound job: so the judge sees what it watches.
    quotas: { everyProject: plan.pick([2, 1_000]), projects: new Map(), labels: [] },
    tracing,
  });
  const { scheduler, store } = world;
  const startedAt = scheduler.now;
  const executions = new Executions(scheduler, world.trace);
  const effects = new Effects(() => scheduler.now);
  const size = {
    workers: plan.between(1, 3),
    gateways: plan.between(1, 2),
    edges: plan.between(1, 2),
    agents: plan.between(1, 3),
    slots: plan.between(1, 3),
    unable: plan.chance(0.2) ? 0.1 : 0,
    pulling: new Set([0, 1, 2].filter(() => plan.chance(0.3))),
  };
  const ofOutside = drawsOfSeed(seed, "outside");
  const outside = prepareOutside(world, ofOutside);
  const ofLone = drawsOfSeed(seed, "lone");
  // The edges of one gateway, for which the quota is without effect.
  if (size.gateways === 1 && world.quotas.everyProject === 1_000 && ofLone.chance(0.7)) {
    const [aloneMs, otherMs] = [ofLone.between(3_000, 20_000), ofLone.chance(0.5) ? ofLone.between(500, 6_000) : 0];
    const isAlone = (): boolean => scheduler.now % (aloneMs + otherMs) < aloneMs;
    world.lone = { board: undefined, isAlone };
  }
  const fleet = new Fleet(world, size, executions, effects);
  if (drawsOfSeed(seed, "beside").chance(0.4)) world.beside = fleet.besides();
  const ofSchedules = drawsOfSeed(seed, "schedules");
  if (ofSchedules.chance(0.3)) missTimes(world, ofSchedules);
  const faults = drawFaults(plan);
  const clients = new Clients(world, drawsOfSeed(seed, "clients"), () => fleet.edges);
  const epochs = (): number => [...store.shards.values()].reduce((sum, { epoch }) => sum + epoch, 0);
  const passes = (ms: number): Promise<void> => {
    const until = scheduler.now + ms;
    return scheduler.runUntil(() => scheduler.now >= until);
  };
  // The first workers share the shards before anything happens.
  await passes(1_500);
  const epochsBefore = epochs();
  const load = beginLoad(world, plan, clients, LOAD_MS);
  const pushes = beginOutsideLoad(world, ofOutside, clients, outside, LOAD_MS);

  const faultMs = faults === NO_FAULTS ? LOAD_MS : LOAD_MS + plan.fraction() * 8_000;
  world.setFaults(faults);
  scheduleIncidents(world, plan, fleet, faults, faultMs);
  if (faults !== NO_FAULTS && world.hasOutside) scheduleOutsideIncidents(world, ofOutside, fleet, faultMs);
  await passes(faultMs);
  world.trace.note(() => "no more faults");
  world.setFaults(NO_FAULTS);
  load.calm();
  // Calls that are under way may still be slow, and processes that died are not yet back.
  await passes(faults.slowMs + 8_000);
  const quiet = new QuietWatch(world, effects, faults.redisEmptied + faults.redisRestarted > 0);
  const deadline = scheduler.now + END_MS;
  const isOver = (): boolean => {
    if (scheduler.now >= deadline) return true;
    if (clients.isWaiting || !areTimesDone(store) || !isOutsideDone(store)) return false;
    return clients.triggered.every(({ runId }) => isSettled(store, runId));
  };
  do {
    await scheduler.runUntil(isOver);
    await passes(AFTER_MS);
    // The schedule may have started another run meanwhile, which ends before anything is judged.
  } while (!isOver());
  quiet.stop();
  // An owner that takes a shard over may repeat what the owner before has performed.
  const isFaultless = faults === NO_FAULTS && epochs() === epochsBefore;
  const { host, haveClocksJumped } = world;
  const evidence = { store, host, pushes, clients, executions, effects, isFaultless, haveClocksJumped };
  return {
    seed,
    violations: [...quiet.violations, ...checkFinal(evidence)],
    faults,
    runs: clients.triggered.length,
    events: scheduler.happened,
    tookMs: scheduler.now - startedAt,
    traceHash: world.trace.hash,
    trace: world.trace.lines,
  };
}
