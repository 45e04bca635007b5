/** The load of one seed: when clients trigger runs of which shapes, and what they do to the runs meanwhile. */
import { FINAL_RUN_STATUSES } from "../../../src/domain/status.ts";
import type { Draws } from "../engine/draws.ts";
import type { World } from "../engine/world.ts";
import type { Clients, Triggered } from "./clients.ts";
import { SHAPES } from "./shapes.ts";

const MAX_RUNS = 5;
/** Between two looks of the users at approvals, and of the users who run ended runs again. */
const LOOK_MS = 700;

export interface Load {
  /** No user pauses or stops anything any more, and paused runs are resumed. */
  calm(): void;
}

/** `forMs`: how long clients trigger runs. */
export function beginLoad(world: World, draws: Draws, clients: Clients, forMs: number): Load {
  const { scheduler } = world;
  let isCalm = false;
  const runs = draws.between(1, MAX_RUNS);
  for (let nth = 0; nth < runs; nth++) {
    const shape = draws.pick(SHAPES);
    scheduler.after(draws.fraction() * forMs, () => disturb(clients.trigger(shape)));
  }

  function disturb(run: Triggered): void {
    if (draws.chance(0.3)) {
      const index = draws.between(0, run.shape.definition.stages[0]!.jobs.length - 1);
      const priority = draws.between(-2, 2);
      scheduler.after(draws.fraction() * 1_000, () => clients.updateStep(run, index, priority));
    }
    if (!draws.chance(0.3)) return;
    const delayMs = draws.fraction() * 4_000;
    const act = draws.pick(["stop", "pause", "pause", "cancelJob", "rerun"] as const);
    scheduler.after(delayMs, () => {
      if (isCalm) return;
      if (act === "stop") clients.control(run, "stop");
      else if (act === "cancelJob")
        clients.cancelJob(run, draws.between(0, run.shape.definition.stages[0]!.jobs.length - 1));
      else if (act === "rerun") rerunLater(run);
      else {
        clients.control(run, "pause");
        scheduler.after(draws.fraction() * 5_000, () => clients.control(run, "resume"));
      }
    });
  }

  function rerunLater(run: Triggered): void {
    if (isCalm) return;
    const isOver = world.store.documents.get(run.runId)?.head.final === true;
    if (isOver) clients.rerun(run, { kind: draws.pick(["all", "failed"]) });
    else scheduler.after(LOOK_MS, () => rerunLater(run));
  }

  const look = (): void => {
    clients.vote();
    if (draws.chance(0.5)) clients.pushEvents();
    if (isCalm) {
      for (const run of clients.triggered) {
        if (world.store.documents.get(run.runId)?.head.summary.status === "paused") clients.control(run, "resume");
      }
    }
    // A run that was asked for before the calm may be acknowledged after it, and may ask for an approval then.
    if (!isCalm || clients.isWaiting || !clients.triggered.every(isFinal)) scheduler.after(LOOK_MS, look);
  };
  const isFinal = ({ runId }: Triggered): boolean => {
    const status = world.store.documents.get(runId)?.head.summary.status;
    return status !== undefined && FINAL_RUN_STATUSES.includes(status);
  };
  scheduler.after(LOOK_MS, look);
  return { calm: () => (isCalm = true) };
}
