/**
 * What a definition of the load makes of a run: its jobs, cells and steps, and how each ends when nothing is lost. This
 * is an account of its own, made from the definition alone: it shares nothing with the planner and the actors, so it
 * finds what they have both forgotten. It knows the part of the language that the load uses, and throws for the rest.
 * Pure.
 */
import type { Pairs } from "../../../src/domain/pairs.ts";
import type { Scalar } from "../../../src/domain/plan.ts";
import type { JobStatus, StepStatus } from "../../../src/domain/status.ts";
import type { Definition, Job, LoadStep } from "../load/step.ts";
import type { Vote } from "./evidence.ts";

export interface ExpectedJob {
  readonly name: string;
  /** The values of the cell; empty for a job without a matrix. */
  readonly values: Pairs<Scalar>;
  /** True for a job whose cells are made during the run: they have the steps, and it has none. */
  readonly isSpread: boolean;
  readonly status: JobStatus;
  readonly steps: readonly ExpectedStep[];
}

export interface ExpectedStep {
  /** The status of each attempt. */
  readonly statuses: readonly StepStatus[];
  /** True for a step that runs no shell and so writes no marks. */
  readonly isSilent: boolean;
}

type Ends = ReadonlyMap<string, JobStatus>;

/** Every job of the run, its cells one by one. `vote` is the answer of the people to every approval. */
export function expand(definition: Definition, vote: Vote): readonly ExpectedJob[] {
  const stages = definition.stages ?? [{ name: "default", jobs: definition.jobs ?? [] }];
  const ends = new Map<string, JobStatus>();
  const jobs: ExpectedJob[] = [];
  let hasFailed = definition.approval !== undefined && vote === "reject";
  for (const stage of stages) {
    const failedBefore = hasFailed;
    for (const job of inOrderOfNeeds(stage.jobs)) {
      const cells = expandJob(job, { ends, failedBefore, vote, all: stage.jobs });
      jobs.push(...cells);
      ends.set(job.name, worst(cells.map(({ status }) => status)));
      hasFailed ||= ends.get(job.name) !== "success";
    }
  }
  return jobs;
}

interface Surroundings {
  /** How the jobs before ended. */
  readonly ends: Ends;
  /** True when an earlier stage failed. */
  readonly failedBefore: boolean;
  readonly vote: Vote;
  readonly all: readonly Job[];
}

function expandJob(job: Job, { ends, failedBefore, vote, all }: Surroundings): readonly ExpectedJob[] {
  const neededFailed = (job.needs ?? []).some((name) => ends.get(name) !== "success");
  const begins = isTrue(job.when, failedBefore || neededFailed, ends);
  const isRejected = begins && job.approval !== undefined && vote === "reject";
  const cells = cellsOf(job, all);
  const notBegun = (status: JobStatus): ExpectedJob => {
    const steps = job.steps.map((step): ExpectedStep => ({ statuses: ["skipped"], isSilent: isSilent(step) }));
    return { name: job.name, values: [], isSpread: false, status, steps };
  };
  // A condition that is false lets the job pass. A rejection does not, and neither does a failure before a job whose
  // condition does not ask for failures.
  const mayPass = !begins && (asksForFailures(job.when) || !(failedBefore || neededFailed));
  const outcome = begins && !isRejected ? runJob(job) : notBegun(mayPass ? "success" : "cancelled");
  const isSpread = cells.isLate && begins && !isRejected;
  const each = cells.values.map((values) => ({ ...outcome, values }));
  return isSpread ? [{ ...outcome, isSpread, steps: [] }, ...each] : each;
}

function runJob(job: Job): ExpectedJob {
  let hasFailed = false;
  const steps = job.steps.map((step): ExpectedStep => {
    if (!isTrue(step.when, hasFailed, new Map())) return { statuses: ["skipped"], isSilent: isSilent(step) };
    const statuses = statusesOf(step);
    hasFailed ||= statuses.at(-1) !== "success";
    return { statuses, isSilent: isSilent(step) };
  });
  return { name: job.name, values: [], isSpread: false, status: hasFailed ? "failed" : "success", steps };
}

/** The status of each attempt of a step that runs. The builtin `http` asks a server that refuses every request. */
function statusesOf({ uses, env, timeout }: LoadStep): readonly StepStatus[] {
  if (uses === "http") return ["failed"];
  if (uses !== "shell") return ["success"];
  if (env?.["FLAKY"] === "fails") return ["failed", "success"];
  if (env?.["FLAKY"] === "hangs") return ["timeout", "success"];
  if (timeout !== undefined && Number(env?.["BEATS"]) * 100 > secondsOf(timeout) * 1_000) return ["timeout"];
  return [env?.["EXIT_CODE"] === 0 ? "success" : "failed"];
}

function isSilent({ uses }: LoadStep): boolean {
  return uses !== "shell";
}

/** The combinations of a matrix, in the order of its axes; one without values for a job without a matrix. */
function cellsOf(
  job: Job,
  all: readonly Job[],
): { readonly isLate: boolean; readonly values: readonly Pairs<Scalar>[] } {
  let isLate = false;
  let values: readonly Pairs<Scalar>[] = [[]];
  for (const [axis, given] of Object.entries(job.matrix?.axes ?? {})) {
    isLate ||= typeof given === "string";
    const items = typeof given === "string" ? writtenList(given, all) : given;
    values = values.flatMap((cell) => items.map((item): Pairs<Scalar> => [...cell, [axis, item]]));
  }
  return { isLate, values };
}

/** The list that a step of an earlier job writes, for an axis such as `${{ fromJSON(jobs.lists.outputs.cells) }}`. */
function writtenList(axis: string, all: readonly Job[]): readonly Scalar[] {
  const [, jobName, output] = /^\$\{\{ fromJSON\(jobs\.(\w+)\.outputs\.(\w+)\) \}\}$/.exec(axis) ?? unknown(axis);
  const source = all.find(({ name }) => name === jobName);
  const text = source?.outputs?.[output!] ?? unknown(axis);
  const [, stepId, name] = /^\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}$/.exec(text) ?? unknown(text);
  const written = String(source?.steps.find(({ id }) => id === stepId)?.env?.["WRITES"]);
  if (!written.startsWith(`${name}=`)) return unknown(written);
  return JSON.parse(written.slice(`${name}=`.length)) as readonly Scalar[];
}

/** `hasFailed`: something that the job or step waits for failed. Runs of the load are triggered by a call. */
function isTrue(when: string | undefined, hasFailed: boolean, ends: Ends): boolean {
  if (when === undefined) return !hasFailed;
  if (when === "always()") return true;
  if (when === "failure()") return hasFailed;
  if (when === "trigger.kind == 'cron'") return false;
  const [, name, result] = /^jobs\.(\w+)\.result == '(\w+)'$/.exec(when) ?? unknown(when);
  return !hasFailed && ends.get(name!) === result;
}

function asksForFailures(when: string | undefined): boolean {
  return when === "always()" || when === "failure()";
}

function inOrderOfNeeds(jobs: readonly Job[]): readonly Job[] {
  const ordered: Job[] = [];
  for (let rest = jobs; rest.length > 0;) {
    const ready = rest.filter(({ needs = [] }) => needs.every((name) => ordered.some((job) => job.name === name)));
    if (ready.length === 0) return unknown(rest[0]!.name);
    ordered.push(...ready);
    rest = rest.filter((job) => !ready.includes(job));
  }
  return ordered;
}

function worst(statuses: readonly JobStatus[]): JobStatus {
  return (["failed", "cancelled"] as const).find((status) => statuses.includes(status)) ?? "success";
}

function secondsOf(duration: string): number {
  const [, number] = /^(\d+)s$/.exec(duration) ?? unknown(duration);
  return Number(number);
}

function unknown(text: string): never {
  throw new Error(
    `the expansion of the judge does not know ${JSON.stringify(text)}: teach it, or leave it out of the load`,
  );
}
