/**
 * The order of measurements: in each round, one contestant after the other is started, does its workloads and is
 * stopped.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Workload } from "./arguments.ts";
import type { Subject } from "./results.ts";
import type { Figure, Marks } from "./system.ts";

/** A running system. Each workload rejects when a step was lost or ran twice. */
export interface Started {
  readonly workloads: Readonly<Partial<Record<Workload, () => Promise<readonly Figure[]>>>>;
  stop(): Promise<void>;
}

/** A way to start a system, so that it can do some of the workloads. */
export interface Contestant extends Subject {
  /** In the order in which they run. */
  readonly workloads: readonly Workload[];
  /** True for figures that do not vary: they are measured only in the first round. */
  readonly once?: boolean;
  /** `folder` exists and is empty. */
  start(folder: string, marks: Marks): Promise<Started>;
}

export interface RoundsOptions {
  readonly contestants: readonly Contestant[];
  readonly only: ReadonlySet<Workload>;
  readonly rounds: number;
  /** The parent of the contestants' folders. Each of these is removed after its use. */
  readonly folder: string;
  readonly marks: Marks;
  readonly onFigures: (round: number, workload: Workload, subject: Subject, figures: readonly Figure[]) => void;
  readonly onRound: (round: number) => Promise<void>;
}

/**
 * Plays the rounds. Contestants take turns, so that changes of the machine affect all of them. Rejects with the first
 * fault.
 */
export async function playRounds({ contestants, only, rounds, onRound, ...place }: RoundsOptions): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    for (const [index, contestant] of contestants.entries()) {
      const workloads = contestant.workloads.filter((workload) => only.has(workload));
      if (workloads.length === 0 || (contestant.once && round > 1)) continue;
      await play(contestant, workloads, round, join(place.folder, `${round}-${index}`), place);
    }
    await onRound(round);
  }
}

async function play(
  contestant: Contestant,
  workloads: readonly Workload[],
  round: number,
  folder: string,
  { marks, onFigures }: Pick<RoundsOptions, "marks" | "onFigures">,
): Promise<void> {
  await mkdir(folder);
  let started: Started | undefined;
  try {
    started = await contestant.start(folder, marks);
    for (const workload of workloads) onFigures(round, workload, contestant, await started.workloads[workload]!());
  } catch (error) {
    throw new Error(`${workloads.join(", ")} of ${contestant.system} (${contestant.store}) failed`, { cause: error });
  } finally {
    await started?.stop();
    await rm(folder, { recursive: true });
  }
}
