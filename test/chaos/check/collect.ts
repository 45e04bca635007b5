/**
 * Collects the evidence of a scenario: from the database, below the stores of the program, and from the files that the
 * steps wrote.
 */
import { readFile } from "node:fs/promises";
import { asId, type RunId } from "../../../src/domain/ids.ts";
import { secretLedgerOf } from "../load/step.ts";
import type { Installation } from "../world/installation.ts";
import type { Mark, RunEvidence, SecretGiven } from "./evidence.ts";
import { openRawStore } from "./raw-store.ts";
import { causeOf, runEvidence } from "./run-evidence.ts";

const RUNS_AT_ONCE = 10;

/** Every run of the pipelines, with all attempts and events, as the database holds them. */
export async function collectRuns(
  installation: Pick<Installation, "stores" | "mongoDatabase" | "storeFile" | "format">,
  pipelineIds: readonly string[],
): Promise<readonly RunEvidence[]> {
  const raw = openRawStore(installation);
  try {
    const found = await raw.runs(pipelineIds);
    const runs: RunEvidence[] = [];
    for (let at = 0; at < found.length; at += RUNS_AT_ONCE) {
      const some = found.slice(at, at + RUNS_AT_ONCE).map(async (run) => {
        const before = await raw.rowsOf(run.runId);
        // This look repairs projections; the checker compares them before and after.
        const loaded = await installation.stores.aggregates.load(asId<RunId>(run.runId));
        const startedBy = loaded === undefined ? null : causeOf(loaded.head.origin.trigger);
        const rows = { before, after: await raw.rowsOf(run.runId) };
        return runEvidence(run, { rows, startedBy }, installation.format);
      });
      runs.push(...(await Promise.all(some)));
    }
    return runs;
  } finally {
    await raw.close();
  }
}

/** Ids of the pipelines of all runs but those in `known`, also of deleted pipelines. */
export async function otherPipelines(
  installation: Pick<Installation, "mongoDatabase" | "storeFile">,
  known: readonly string[],
): Promise<readonly string[]> {
  const raw = openRawStore(installation);
  try {
    return (await raw.pipelineIds()).filter((id) => !known.includes(id));
  } finally {
    await raw.close();
  }
}

/** The marks in the ledger file. Empty when no step has run yet, because the first step creates the file. */
export async function readMarks(ledger: string): Promise<readonly Mark[]> {
  return (await wordsOf(ledger)).map(([word, stepRunId, jobId, at]): Mark => {
    return { word: word as Mark["word"], stepRunId: stepRunId!, jobId: jobId!, at: Number(at) };
  });
}

/** The checksums of secret values that steps reported, from the file beside the ledger file. */
export async function readSecretsGiven(ledger: string): Promise<readonly SecretGiven[]> {
  return (await wordsOf(secretLedgerOf(ledger))).map(([stepRunId, secret, sum]): SecretGiven => {
    return { stepRunId: stepRunId!, secret: secret!, sum: sum! };
  });
}

async function wordsOf(file: string): Promise<readonly (readonly string[])[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "));
}
