/** A data directory with very many ended runs: one run that really ran, and copies of it under other ids. */
import { cp } from "node:fs/promises";
import { basename } from "node:path";
import { storeFile } from "../../src/node/data-dir.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { until } from "../../test/support/until.ts";
import { copyRuns } from "./copied-runs.ts";
import { Installation } from "./installation.ts";
import { NO_OP, Runs } from "./runs.ts";

export const FINISHED_RUNS = 100_000;

export class FinishedRuns {
  readonly #dataDir: string;
  #made: Promise<unknown> | undefined;

  /** `dataDir` is the path at which the first copy makes the original data. */
  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Copies the data to `dataDir` and answers `dataDir`. The first call makes the data and takes half a minute. */
  async copyTo(dataDir: string): Promise<string> {
    await (this.#made ??= makeFinishedRuns(this.#dataDir, FINISHED_RUNS));
    // Without Redis's folder: its socket cannot be copied, Redis holds nothing of ended runs, and the node makes the
    // folder.
    await cp(this.#dataDir, dataDir, { recursive: true, filter: (path) => basename(path) !== "redis" });
    return dataDir;
  }
}

/**
 * Makes a data directory with `count` ended runs of one step in one pipeline. Resolves with the pipeline's id. No process
 * uses the directory afterwards.
 */
export async function makeFinishedRuns(dataDir: string, count: number): Promise<string> {
  const installation = await Installation.start(dataDir);
  let pipelineId: string;
  try {
    const runs = new Runs(installation);
    const pipeline = await runs.pipeline([{ steps: [NO_OP] }]);
    pipelineId = pipeline.id;
    await runs.run(pipeline);
    await untilCounted(dataDir);
  } finally {
    await installation.stop();
  }
  copyRuns(storeFile(dataDir), count);
  return pipelineId;
}

/** Resolves when the only run is settled and the upkeep has counted it, after which nothing changes it. */
async function untilCounted(dataDir: string): Promise<void> {
  const db = new SqliteConnection(storeFile(dataDir), { readonly: true });
  try {
    const done = db.prepare("SELECT 1 FROM aggregates WHERE settled = 1 AND counted = 1 AND pipeline_id <> ''");
    await until("the run is settled and counted", () => done.get() !== undefined);
  } finally {
    db.close();
  }
}
