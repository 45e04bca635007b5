/** Pipelines and runs for tests of the gRPC calls, and a stand-in for the owner of a run's shard. */
import type { JobState } from "../../actors/job/state.ts";
import type { StepState } from "../../actors/step/state.ts";
import type { Verdict } from "../../src/domain/effects.ts";
import { asId, newId, type RunId } from "../../src/domain/ids.ts";
import { commandChannel } from "../../src/feed/feed.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import type { StoredRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import type { Gateway } from "./gateway.ts";
import type { UserCalls } from "./user-calls.ts";

export const NO_FIELDS = { metadata: {}, replaceMetadata: false };
export const SHELL = { uses: "shell", args: { script: "make" } };
export const SPEC = {
  stages: [
    {
      name: "build",
      jobs: [
        {
          name: "make",
          matrix: { axes: { node: [20] } },
          steps: [
            { name: "one", ...SHELL },
            { name: "two", ...SHELL },
          ],
        },
        { name: "test", needs: ["make"], steps: [{ name: "t", ...SHELL }] },
      ],
    },
    {
      name: "ship",
      approval: { requiredApprovers: ["ann"] },
      jobs: [{ name: "ship", steps: [{ name: "s", ...SHELL }] }],
    },
  ],
};

export async function newPipeline(calls: UserCalls): Promise<string> {
  const fields = { ...NO_FIELDS, name: newId("pl"), defaultBranch: "main" };
  return (await calls.pipeline("createPipeline", { fields })).pipeline!.pipelineId;
}

/** A pipeline with the definition {@link SPEC}. */
export async function savedPipeline(calls: UserCalls): Promise<string> {
  const pipelineId = await newPipeline(calls);
  await calls.pipeline("saveSpec", { pipelineId, spec: SPEC });
  return pipelineId;
}

/** A run of {@link SPEC} that has begun. */
export async function newRun(gateway: Gateway, calls: UserCalls): Promise<StoredRun> {
  const pipelineId = await savedPipeline(calls);
  const { runId } = await calls.pipeline("triggerPipeline", { pipelineId, variables: {} });
  const { actors } = (await gateway.stores.aggregates.load(runId as RunId))!;
  const jobs = actors.flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : []));
  const steps = actors.flatMap(({ kind, state }) => (kind === "step" ? [state as StepState] : []));
  jobs.sort((a, b) => a.index - b.index);
  return {
    runId: asId(runId),
    pipelineId: asId(pipelineId),
    jobIds: jobs.map(({ jobId }) => jobId),
    stepIds: jobs.map((job) => steps.filter(({ jobId }) => jobId === job.jobId).map(({ stepRunId }) => stepRunId)),
  };
}

/** Answers the next command of the run, as the owner of its shard would. */
export async function decideNext(gateway: Gateway, runId: string, verdict: Verdict): Promise<Command> {
  const { inbox } = gateway.stores;
  const command = await until("a stored command", async () => (await inbox.pending(asId<RunId>(runId)))[0]);
  await inbox.answer(command.id, verdict);
  await gateway.context.feed.publish(commandChannel(command.id), verdict);
  return command;
}
