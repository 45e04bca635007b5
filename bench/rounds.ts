/** The order of measurements: in each round every contestant is started, does its workloads and is stopped. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Workload } from "./arguments.ts";
import type { Subject } from "./results.ts";
import type { Figure, Marks } from "./system.ts";

/** A system that runs; each workload throws when a step was lost or ran twice. */
export interface Started {
  readonly workloads: Readonly<Partial<Record<Workload, () => Promise<readonly Figure[]>>>>;
  stop(): Promise<void>;
}

/** A way to start a system, so that it can do some of the workloads. */
export interface Contestant extends Subject {
  /** In the order in which they are done. */
  readonly workloads: readonly Workload[];
  /** True for what does not vary: it is done in the first round alone. */
  readonly once?: boolean;
  /** `folder`: empty. */
  start(folder: string, marks: Marks): Promise<Started>;
}

export interface RoundsOptions {
  readonly contestants: readonly Contestant[];
  readonly only: ReadonlySet<Workload>;
  readonly rounds: number;
  /** For the folders of contestants, each removed after its use. */
  readonly folder: string;
  readonly marks: Marks;
  readonly onFigures: (round: number, workload: Workload, subject: Subject, figures: readonly Figure[]) => void;
  readonly onRound: (round: number) => Promise<void>;
}

/** Interleaved, so that what happens to the machine meanwhile happens to all. Rejects with the first fault. */
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
