/** Collects the evidence of a scenario from the store and from the files that the steps wrote. */
import { readFile } from "node:fs/promises";
import type { JobState } from "../../../actors/job/state.ts";
import { jobStatus } from "../../../actors/job/state.ts";
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import { asId, type PipelineId, type RunId } from "../../../src/domain/ids.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { secretLedgerOf } from "../load/step.ts";
import type { Mark, RunEvidence, SecretGiven, StepEvidence } from "./evidence.ts";

const PAGE = 100;

/** Every run of the pipelines, with all attempts and events. */
export async function collectRuns(stores: Stores, pipelineIds: readonly string[]): Promise<readonly RunEvidence[]> {
  const runs: RunEvidence[] = [];
  for (const pipelineId of pipelineIds) {
    for (let page = 1; ; page++) {
      const filter = { pipelineId: asId<PipelineId>(pipelineId) };
      const { list, total } = await stores.aggregates.listRuns(filter, { page, pageSize: PAGE, descending: false });
      for (const { rootId } of list) runs.push(await collectRun(stores, rootId));
      if (page * PAGE >= total) break;
    }
  }
  return runs;
}

async function collectRun(stores: Stores, runId: RunId): Promise<RunEvidence> {
  const aggregate = (await stores.aggregates.load(runId))!;
  const jobs = aggregate.actors.flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : []));
  const steps = aggregate.actors.flatMap(({ kind, state }) => (kind === "step" ? [state as StepState] : []));
  const events: RunEvidence["events"][number][] = [];
  for (let after = 0; ;) {
    const read = await stores.events.read(runId, after, 1_000);
    events.push(...read);
    if (read.length === 0) break;
    after = read.at(-1)!.number;
  }
  return {
    runId,
    status: aggregate.head.summary.status,
    settled: aggregate.head.settled,
    eventNumber: aggregate.head.eventNumber,
    events,
    jobs: await withSpecs(stores, runId, jobEvidence(jobs, steps)),
    approvals: aggregate.actors.flatMap(({ kind, id, index }) =>
      kind === "approval" ? [{ approvalId: id, status: index.status }] : [],
    ),
  };
}

async function withSpecs(stores: Stores, runId: RunId, jobs: RunEvidence["jobs"]): Promise<RunEvidence["jobs"]> {
  return Promise.all(
    jobs.map(async (job) => {
      const spec = await stores.plans.loadJob(runId, job.index);
      const withSpec = (step: StepEvidence): StepEvidence => {
        const stepSpec = spec?.steps[step.index];
        return stepSpec?.uses === "shell" ? { ...step, secrets: stepSpec.secrets.length } : { ...step, silent: true };
      };
      return { ...job, steps: job.steps.map(withSpec) };
    }),
  );
}

/** All attempts of jobs and steps, in the form that the checker reads. */
export function jobEvidence(jobs: readonly JobState[], steps: readonly StepState[]): RunEvidence["jobs"] {
  return jobs.map(({ jobId, index, cell, attempt, state, reason, grant, reusedFrom }) => ({
    jobId,
    index,
    cell,
    attempt,
    status: jobStatus(state),
    reason,
    agentId: grant?.agentId ?? null,
    reused: reusedFrom !== null,
    steps: steps
      .filter((step) => step.jobId === jobId)
      .map((step) => ({
        stepRunId: step.stepRunId,
        index: step.index,
        status: stepStatus(step.state),
        reason: step.reason,
        reused: step.reusedFrom !== null,
      })),
  }));
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
