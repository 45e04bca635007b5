/**
 * Scenarios: a definition in YAML and, beside it, what must become of it. Definition, planner and actors are the real
 * ones; in place of agents a script of each step says how it ends: `exit <n>`, `hang` (its timeout ends it), `lose`
 * (its agent dies the first time the job runs), or `fail <n>` (with exit code 7, in its first n attempts). Lines `name=value` before it are what the step writes. What a
 * gateway would dispatch is looked at too: `says` is the last line of a script as it is then. Time passes
 * only where nothing else can.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { stepFacts } from "../../actors/job/facts.ts";
import { isHeld, type StepState, stepStatus } from "../../actors/step/state.ts";
import { jobName, type JobState, jobStatus } from "../../actors/job/state.ts";
import type { ReportPhase } from "../../actors/step/messages.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import type { JobSpec } from "../../src/domain/plan.ts";
import { LateTextError, resolveLate } from "../../src/planner/late-texts.ts";
import { planRun } from "../../src/planner/plan-run.ts";
import { AGENT, RUN_ID, SimulatedRun } from "../support/simulated-run.ts";

interface Expected {
  /** What the trigger gives. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly run: string;
  /** By name; each attempt's status in order. */
  readonly jobs: Record<string, string | readonly string[]>;
  /** By job name; statuses of the newest attempt's steps, each with all its attempts. */
  readonly steps?: Record<string, readonly string[]>;
  /** By job name; why the newest attempt ended as it did. */
  readonly reasons?: Record<string, string>;
  /** What steps have in the variable SAYS, in the order in which they ran. */
  readonly says?: readonly string[];
  /** Milliseconds between the run's start and its end. */
  readonly tookMs?: number;
  /** Job names in the order in which they began. */
  readonly order?: readonly string[];
}

const FOLDER = new URL("./", import.meta.url);

describe("scenario", () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  for (const name of names) {
    it(name.replace(".yaml", "").replaceAll("_", " "), () => {
      const expected = JSON.parse(readFileSync(new URL(name.replace(".yaml", ".json"), FOLDER), "utf8")) as Expected;
      check(play(readFileSync(new URL(name, FOLDER), "utf8"), expected.variables ?? {}), expected);
    });
  }
});

interface Played {
  readonly run: SimulatedRun;
  readonly order: readonly string[];
}

function play(text: string, variables: Readonly<Record<string, string>>): Played {
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  expect(diagnostics.filter(({ severity }) => severity === "error")).to.deep.equal([]);
  const planned = planRun({
    definition: definition!,
    runId: RUN_ID,
    attempt: 1,
    revisionId: "rev_1",
    trigger: { kind: "manual", ref: "main", payload: {} },
    variables: Object.entries(variables),
    pipelineId: asId<PipelineId>("pl_TEST"),
    pipelineName: "scenario",
    projectId: asId<ProjectId>("default"),
  });
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  const run = new SimulatedRun(planned.plan).start();
  const order: string[] = [];
  for (let rounds = 0; run.run.endedAt === null && rounds < 1_000; rounds++) playRound(run, planned.jobs, order);
  return { run, order };
}

function playRound(run: SimulatedRun, specs: readonly JobSpec[], order: string[]): void {
  if (!run.steps().some(isHeld) && run.jobs().every(({ state }) => state !== "queued")) fireRetries(run);
  for (const job of run.jobs()) {
    if (job.state !== "queued") continue;
    order.push(jobName(run.plan.jobs[job.index]!, job));
    run.tell("job", job.jobId, {
      type: "claimRequested",
      agentId: AGENT,
      bootId: "boot-1",
      requestId: `claim-${job.jobId}`,
    });
  }
  for (const step of run.steps().filter(isHeld)) {
    const script = dispatched(run, specs[step.jobIndex]!, step);
    if (script === undefined) continue;
    if (script === "lose" && step.jobAttempt === 1) {
      run.tell("job", step.jobId, { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "" });
      continue;
    }
    report(run, step, phaseOf(script, step.attempt), exitCodeOf(script, step.attempt), "");
  }
}

/** The last line of the step's script as its agent gets it; what stands before is written. */
function dispatched(run: SimulatedRun, spec: JobSpec, step: StepState): string | undefined {
  const peers = { state: (id: string) => run.actors.get(id)?.state, outputs: run.readOutputs };
  const facts = stepFacts(run.actors.get(step.jobId)!.state as JobState, run.plan, peers);
  try {
    const { args, env, jobEnv } = resolveLate(spec, spec.steps[step.index]!, facts);
    const lines = String(args["script"]).split("\n");
    const written = lines.slice(0, -1).map((line) => line.split("=") as [string, string]);
    if (written.length > 0) run.outputs.set(step.stepRunId, written);
    const said = env.concat(jobEnv).find(([name]) => name === "SAYS")?.[1];
    if (said !== undefined) run.said.push(said);
    return lines.at(-1);
  } catch (error) {
    if (!(error instanceof LateTextError)) throw error;
    report(run, step, "failed", -1, error.message);
    return undefined;
  }
}

function report(run: SimulatedRun, step: StepState, phase: ReportPhase, exitCode: number, reason: string): void {
  run.tell("step", step.stepRunId, {
    type: "reported",
    agentId: AGENT,
    token: step.grant!.token,
    phase,
    exitCode,
    reason,
    hasOutputs: run.outputs.has(step.stepRunId),
    lastLine: 0,
    durationMs: 5,
  });
}

function fireRetries(run: SimulatedRun): void {
  for (const { retryTimer, jobId } of run.jobs()) {
    if (retryTimer === null) continue;
    run.now = Math.max(run.now, retryTimer.dueAt);
    run.tell("job", jobId, { type: "timer", timer: "retry", generation: retryTimer.generation });
  }
}

function exitCodeOf(script: string, attempt: number): number {
  const failures = Number(/^fail (\d+)$/.exec(script)?.[1] ?? 0);
  return attempt <= failures ? 7 : Number(/^exit (\d+)$/.exec(script)?.[1] ?? 0);
}

function phaseOf(script: string, attempt: number): ReportPhase {
  if (script === "hang") return "timedOut";
  return exitCodeOf(script, attempt) === 0 ? "succeeded" : "failed";
}

function check({ run, order }: Played, expected: Expected): void {
  const nameOf = (job: JobState): string => jobName(run.plan.jobs[job.index]!, job);
  const jobs: Record<string, string[]> = {};
  for (const job of run.jobs()) (jobs[nameOf(job)] ??= []).push(jobStatus(job.state));
  expect(run.undecided).to.deep.equal([]);
  expect(jobs).to.deep.equal(
    Object.fromEntries(Object.entries(expected.jobs).map(([name, statuses]) => [name, [statuses].flat()])),
  );
  for (const [name, statuses] of Object.entries(expected.steps ?? {})) {
    const newest = run.jobs().findLast((job) => nameOf(job) === name)!;
    const steps = run
      .steps()
      .filter((step) => step.jobId === newest.jobId)
      .sort((one, other) => one.index - other.index || one.attempt - other.attempt);
    expect(
      steps.map((step) => stepStatus(step.state)),
      `steps of ${name}`,
    ).to.deep.equal(statuses);
  }
  for (const [name, reason] of Object.entries(expected.reasons ?? {})) {
    expect(run.jobs().findLast((job) => nameOf(job) === name)!.reason, name).to.equal(reason);
  }
  if (expected.says !== undefined) expect(run.said).to.deep.equal(expected.says);
  if (expected.tookMs !== undefined) expect(run.run.endedAt! - run.run.startedAt!).to.equal(expected.tookMs);
  if (expected.order !== undefined) expect(order).to.deep.equal(expected.order);
  expect(run.run.state).to.equal(expected.run);
}
