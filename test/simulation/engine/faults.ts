/** The faults of one seed: which kinds happen at all, and how often. */
import type { Draws } from "./draws.ts";

/** Probabilities for each call or message. */
export interface CallFaults {
  /** The process dies before it makes the call. */
  readonly crashBefore: number;
  /** The call has its effect, and the process dies before the answer. */
  readonly crashAfter: number;
  /** The call never arrives; the caller gets an error. */
  readonly callLost: number;
  /** The call has its effect; the caller gets an error. */
  readonly answerLost: number;
  /** The call, or its answer, takes up to `slowMs`. */
  readonly slow: number;
  readonly slowMs: number;
  readonly messageDropped: number;
  readonly messageDoubled: number;
}

/** Number of faults of each kind while the load runs. */
export interface TimedFaults {
  readonly workerKills: number;
  readonly workerFreezes: number;
  readonly workerLeaves: number;
  readonly gatewayKills: number;
  readonly gatewayFreezes: number;
  readonly edgeKills: number;
  readonly agentKills: number;
  readonly agentFreezes: number;
  readonly streamCuts: number;
  readonly redisEmptied: number;
  readonly redisRestarted: number;
  readonly redisOutages: number;
  readonly storeOutages: number;
  /** One process cannot reach Redis, or the store. */
  readonly cutOffs: number;
}

export interface Faults extends CallFaults, TimedFaults {}

export const NO_FAULTS: Faults = {
  crashBefore: 0,
  crashAfter: 0,
  callLost: 0,
  answerLost: 0,
  slow: 0,
  slowMs: 0,
  messageDropped: 0,
  messageDoubled: 0,
  workerKills: 0,
  workerFreezes: 0,
  workerLeaves: 0,
  gatewayKills: 0,
  gatewayFreezes: 0,
  edgeKills: 0,
  agentKills: 0,
  agentFreezes: 0,
  streamCuts: 0,
  redisEmptied: 0,
  redisRestarted: 0,
  redisOutages: 0,
  storeOutages: 0,
  cutOffs: 0,
};

/**
 * Draws the faults of a seed. Each kind is left out in about half of the seeds, because faults that always come
 * together hide what each of them does alone; one seed in twenty has none at all.
 */
export function drawFaults(draws: Draws): Faults {
  if (draws.chance(0.05)) return NO_FAULTS;
  const rare = (most: number): number => (draws.chance(0.5) ? most * draws.fraction() ** 2 : 0);
  const times = (most: number): number => (draws.chance(0.4) ? draws.between(1, most) : 0);
  return {
    crashBefore: rare(0.003),
    crashAfter: rare(0.003),
    callLost: rare(0.05),
    answerLost: rare(0.05),
    slow: rare(0.05),
    slowMs: draws.pick([50, 500, 4_000, 9_000]),
    messageDropped: rare(0.1),
    messageDoubled: rare(0.1),
    workerKills: times(3),
    workerFreezes: times(3),
    workerLeaves: times(2),
    gatewayKills: times(2),
    gatewayFreezes: times(2),
    edgeKills: times(2),
    agentKills: times(2),
    agentFreezes: times(2),
    streamCuts: times(3),
    redisEmptied: times(2),
    redisRestarted: times(1),
    redisOutages: times(2),
    storeOutages: times(2),
    cutOffs: times(2),
  };
}
