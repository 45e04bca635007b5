/** A data directory with very many ended runs: one run that really ran, and copies of it under other ids. */
import { cp } from "node:fs/promises";
import { basename } from "node:path";
import { jobRunId, newId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { JobSpec, RunPlan } from "../../src/domain/plan.ts";
import { storeFile } from "../../src/node/data-dir.ts";
import type { Aggregate } from "../../src/stores/ports/aggregates.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { until } from "../../test/support/until.ts";
import { Installation } from "./installation.ts";
import { NO_OP, Runs } from "./runs.ts";

export const FINISHED_RUNS = 100_000;

/** Number of runs that are written in one commit. */
const BATCH = 500;

export class FinishedRuns {
  readonly #dataDir: string;
  #made: Promise<void> | undefined;

  /** `dataDir` is the path at which the first copy makes the original data. */
  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Copies the data to `dataDir` and answers `dataDir`. The first call makes the data and takes half a minute. */
  async copyTo(dataDir: string): Promise<string> {
    await (this.#made ??= make(this.#dataDir));
    // Without Redis's folder: its socket cannot be copied, Redis holds nothing of ended runs, and the node makes the
    // folder.
    await cp(this.#dataDir, dataDir, { recursive: true, filter: (path) => basename(path) !== "redis" });
    return dataDir;
  }
}

async function make(dataDir: string): Promise<void> {
  const installation = await Installation.start(dataDir);
  const stores = await openSqliteStores({ path: storeFile(dataDir) });
  try {
    const runs = new Runs(installation);
    await runs.run(await runs.pipeline([{ steps: [NO_OP] }]));
    const original = await readOriginal(stores);
    await installation.stop();
    for (let count = 0; count < FINISHED_RUNS; count += BATCH) {
      await Promise.all(Array.from({ length: BATCH }, () => store(stores, copyOf(original))));
    }
  } finally {
    await stores.close();
    await installation.stop();
  }
}

/** Everything that the store holds of a run of one job with one step. */
interface StoredRun {
  readonly runId: RunId;
  readonly aggregate: Aggregate;
  readonly events: readonly RunEvent[];
  readonly plan: RunPlan;
  readonly jobs: readonly JobSpec[];
}

/** Reads the only run of the store, once it is settled. */
async function readOriginal({ aggregates, events, plans }: Stores): Promise<StoredRun> {
  const { list } = await aggregates.listRuns({}, { page: 1, pageSize: 1, descending: true });
  const runId = list[0]!.rootId;
  const aggregate = await until("the run settled", async () => {
    const stored = (await aggregates.load(runId))!;
    return stored.head.settled && stored;
  });
  return {
    runId,
    aggregate,
    events: await events.read(runId, 0, aggregate.head.eventNumber),
    plan: (await plans.loadPlan(runId))!,
    jobs: [(await plans.loadJob(runId, 0))!],
  };
}

function copyOf(original: StoredRun): StoredRun {
  const runId = newId("run");
  const newIds = idsOf(runId);
  let text = JSON.stringify(original);
  for (const [index, id] of idsOf(original.runId).entries()) text = text.replaceAll(id, newIds[index]!);
  return JSON.parse(text) as StoredRun;
}

function idsOf(runId: RunId): readonly string[] {
  const jobId = jobRunId(runId, 0, 1);
  return [runId, jobId, stepRunId(runId, jobId, 0, 1)];
}

async function store({ aggregates, events, plans }: Stores, run: StoredRun): Promise<void> {
  await Promise.all([
    plans.put(run.runId, run.plan, run.jobs),
    aggregates.create(run.aggregate),
    events.append(run.events),
  ]);
}
