/** Removal of many runs by retention beside a steady load of triggers. */
import { setTimeout as pause } from "node:timers/promises";
import { storeFile } from "../../src/node/data-dir.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { percentile } from "../measure/percentiles.ts";
import { makeFinishedRuns } from "./finished-runs.ts";
import { Installation } from "./installation.ts";
import { NO_OP, Runs } from "./runs.ts";

/** Triggers of one phase and the time between two of them. */
export interface Pace {
  readonly triggers: number;
  readonly everyMs: number;
  readonly warmUps: number;
}

export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Removal {
  readonly before: Latency;
  readonly during: Latency;
  readonly after: Latency;
  readonly removed: number;
  readonly seconds: number;
  /** The p99 during the removal divided by the mean of those before and after it. */
  readonly ratio: number;
}

const USUAL: Pace = { triggers: 1_000, everyMs: 40, warmUps: 300 };
/** What the last triggers have begun is stored by then. */
const POLL_MS = 500;
const DEADLINE_MS = 3 * 3_600_000;

/**
 * Stores `count` runs of one pipeline in the new folder `dataDir`, lets retention keep half of them, and triggers runs of
 * another pipeline before, during and after the removal. Rejects when runs other than the oldest half were removed.
 */
export async function measureRemoval(dataDir: string, count: number, pace: Pace = USUAL): Promise<Removal> {
  const pipelineId = await makeFinishedRuns(dataDir, count);
  const kept = Math.floor(count / 2);
  const installation = await Installation.start(dataDir);
  const store = new SqliteConnection(storeFile(dataDir), { readonly: true });
  const left = store.prepare(
    "SELECT count(*) AS runs, min(created_at) AS oldest FROM aggregates WHERE pipeline_id = ?",
  );
  const nth = store.prepare(
    "SELECT created_at FROM aggregates WHERE pipeline_id = ? ORDER BY created_at DESC LIMIT 1 OFFSET ?",
  );
  const oldestKept = (nth.get(pipelineId, kept - 1) as { created_at: number }).created_at;
  const older = store.prepare("SELECT 1 FROM aggregates WHERE pipeline_id = ? AND created_at < ? LIMIT 1");
  try {
    const load = await Load.prepare(installation, pace.everyMs);
    await load.run(pace.warmUps);
    const before = await load.run(pace.triggers);
    const from = performance.now();
    let isRemoved = false;
    const during = load.until(() => isRemoved);
    const body = { runs: { perPipeline: kept } };
    await installation.api.call("PUT", "/projects/default/retention", body);
    // One row of an index: counting them would hold up the triggers of this process.
    while (older.get(pipelineId, oldestKept) !== undefined) {
      if (performance.now() - from > DEADLINE_MS) throw new Error("runs are still to be removed");
      await pause(POLL_MS);
    }
    const seconds = (performance.now() - from) / 1_000;
    isRemoved = true;
    const meanwhile = await during;
    const after = await load.run(pace.triggers);
    const { runs: stored, oldest } = left.get(pipelineId) as { readonly runs: number; readonly oldest: number };
    if (stored !== kept || oldest !== oldestKept)
      throw new Error(`${stored} runs are left, the oldest of ${oldest}, not ${kept} of ${oldestKept}`);
    const ratio = meanwhile.p99 / ((before.p99 + after.p99) / 2);
    return { before, during: meanwhile, after, removed: count - stored, seconds, ratio };
  } finally {
    store.close();
    await installation.stop();
  }
}

/** Triggers runs of one step at a steady pace, whatever the triggers before them take. */
class Load {
  readonly #trigger: () => Promise<unknown>;
  readonly #everyMs: number;

  static async prepare(installation: Installation, everyMs: number): Promise<Load> {
    const runs = new Runs(installation);
    // No agent takes them: steps would share the processors with what is measured.
    const pipeline = await runs.pipeline([{ steps: [NO_OP], labels: { missing: "on-every-agent" } }]);
    return new Load(() => runs.trigger(pipeline), everyMs);
  }

  private constructor(trigger: () => Promise<unknown>, everyMs: number) {
    this.#trigger = trigger;
    this.#everyMs = everyMs;
  }

  run(triggers: number): Promise<Latency> {
    let count = 0;
    return this.until(() => count++ >= triggers);
  }

  async until(isDone: () => boolean): Promise<Latency> {
    const took: number[] = [];
    const calls: Promise<void>[] = [];
    for (let due = performance.now(); !isDone(); due += this.#everyMs) {
      await pause(Math.max(0, due - performance.now()));
      // From the time at which the trigger was due: a call that waits for others before it waited, too.
      calls.push(this.#trigger().then(() => void took.push(performance.now() - due)));
    }
    await Promise.all(calls);
    return { count: took.length, p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
  }
}
