/** Plays rounds of races in batches: the rounds of a batch go on at the same time and share one fault. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../chaos/world/random.ts";
import type { RaceWorld } from "./race-world.ts";
import { createRacePipeline, type Moment, playRound } from "./round.ts";

export const BATCH = 10;
/** Batches in the order in which they are played. The rounds of the first kind race with the start and with the end. */
const BATCHES = ["start and end", "edge restart", "owner change"] as const;

/** Plays so many rounds. Rejects with the first viewer that saw something else than what is stored. */
export async function playRaces(
  world: RaceWorld,
  rounds: number,
  random: Random,
  onBatch: (played: number) => void = () => undefined,
): Promise<void> {
  const pipelineId = await createRacePipeline(world);
  for (let played = 0; played < rounds; played += BATCH) {
    const at = played / BATCH;
    const batch = BATCHES[at % BATCHES.length]!;
    let inject!: () => void;
    const faultAt = new Promise<void>((resolve) => (inject = resolve));
    const playing = Array.from({ length: Math.min(BATCH, rounds - played) }, (_, index) => {
      const moment: Moment = batch === "start and end" ? (index % 2 === 0 ? "start" : "end") : batch;
      return playRound(world, pipelineId, moment, random.fork(`${at}/${index}`), faultAt);
    });
    const fault = (async () => {
      await sleep(random.between(200, 900));
      inject();
      if (batch === "edge restart") await world.restartEdge(random.between(0, 1));
      if (batch === "owner change") await world.replaceWorker(random.between(0, 1));
    })();
    await Promise.all([...playing, fault]);
    onBatch(played + playing.length);
  }
}
