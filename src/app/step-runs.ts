/** Looks up a step run by the three ids that name it in the API: pipeline, job and step run. */
import type { StepState } from "../../actors/step/state.ts";
import { MillraceError } from "../domain/errors.ts";
import { asId, type JobRunId, type PipelineId, type ProjectId, type RunId, type StepRunId } from "../domain/ids.ts";
import type { Caller } from "./identity/access.ts";
import type { WithStores } from "./context.ts";
import { reach, reachRun, type RightsContext } from "./reaching.ts";
import { RecentlyRead } from "./recently-read.ts";

export interface StepRunName {
  readonly pipelineId: PipelineId;
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
}

export interface LocatedStepRun {
  readonly runId: RunId;
  /** The builtin that runs the step, such as `shell`, or a plugin reference. Empty when the plan has no such step. */
  readonly uses: string;
  /** The step run that wrote the log: for a reused step, the step run of the earlier run; else the step run itself. */
  readonly logOf: StepRunId;
}

/** What is known of a step run from its creation on, and never changes. */
interface StepRunFacts extends LocatedStepRun {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  readonly jobId: JobRunId;
}

/** Step runs that a process remembers, a few hundred bytes each. */
const REMEMBERED = 10_000;

/** Finds step runs. What it has found it finds again without the store, also after the run was removed. */
export class StepRunFinder {
  readonly #context: RightsContext;
  readonly #facts: RecentlyRead<StepRunFacts>;

  constructor(context: RightsContext & WithStores<"aggregates" | "plans">) {
    this.#context = context;
    this.#facts = new RecentlyRead(REMEMBERED, (id) => readFacts(context, asId<StepRunId>(id)));
  }

  /** Throws `forbidden`, and `not_found` when there is no such step run or the three ids do not belong together. */
  async locate(
    caller: Caller,
    operation: "readLogs" | "readEvents",
    { pipelineId, jobId, stepRunId }: StepRunName,
  ): Promise<LocatedStepRun> {
    const { found: facts } = await reach(this.#context, caller, operation, {
      find: () => this.#facts.read(stepRunId),
      projectOf: ({ projectId }) => projectId,
      missing: () => noStepRun(stepRunId),
    });
    if (facts.jobId !== jobId || facts.pipelineId !== pipelineId) {
      throw new MillraceError(
        "not_found",
        `step run ${JSON.stringify(stepRunId)} is not of job ${JSON.stringify(jobId)} in pipeline ${JSON.stringify(pipelineId)}`,
      );
    }
    return facts;
  }
}

/** A step run with what wrote its log. */
export interface LoggedStep extends LocatedStepRun {
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
  /** The state of the step run that wrote the log; for a reused step, that of the earlier run. */
  readonly writer: StepState;
}

/** A step run, for callers who may read its log. Throws `forbidden`, and `not_found` for a step of another run. */
export async function reachLog(
  context: RightsContext & WithStores<"aggregates" | "plans">,
  caller: Caller,
  {
    pipelineId,
    runId,
    stepRunId,
  }: { readonly pipelineId?: PipelineId | undefined; readonly runId: RunId; readonly stepRunId: StepRunId },
): Promise<LoggedStep> {
  const { stores } = context;
  await reachRun(context, caller, "readLogs", runId, pipelineId);
  const location = await stores.aggregates.findStep(stepRunId);
  if (location === undefined || location.runId !== runId) throw noStepRun(stepRunId, runId);
  const { jobIndex, index, reusedFrom } = location.actor.state as StepState;
  const uses = (await stores.plans.loadJob(runId, jobIndex))?.steps[index]?.uses ?? "";
  const writer = reusedFrom === null ? location : await stores.aggregates.findStep(reusedFrom);
  if (writer === undefined) throw noStepRun(reusedFrom!);
  const { jobId } = location;
  return { runId, jobId, stepRunId, uses, logOf: writer.stepRunId, writer: writer.actor.state as StepState };
}

async function readFacts({ stores }: WithStores<"aggregates" | "plans">, stepRunId: StepRunId): Promise<StepRunFacts> {
  const location = await stores.aggregates.findStep(stepRunId);
  if (location === undefined) throw noStepRun(stepRunId);
  const { runId, jobId } = location;
  const head = await stores.aggregates.loadHead(runId);
  if (head === undefined) throw noStepRun(stepRunId);
  const step = location.actor.state as StepState;
  const job = await stores.plans.loadJob(runId, step.jobIndex);
  const uses = job?.steps[step.index]?.uses ?? "";
  const { pipelineId, projectId } = head.summary;
  return { runId, pipelineId, projectId, jobId, uses, logOf: step.reusedFrom ?? stepRunId };
}

export function noStepRun(stepRunId: StepRunId, runId?: RunId): MillraceError {
  const where = runId === undefined ? "" : ` in run ${JSON.stringify(runId)}`;
  return new MillraceError("not_found", `there is no step run ${JSON.stringify(stepRunId)}${where}`);
}
