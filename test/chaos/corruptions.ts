/**
 * Corruptions of a good record: each changes the evidence as one broken promise would have, and leaves the rest of it
 * consistent, so that no other check notices by chance. A judge that accepts one of them would accept that fault.
 */
import type { Evidence, JobEvidence, SetStatus, ViolationKind } from "./check/evidence.ts";
import type { Random } from "./world/random.ts";
import {
  isPlainSuccess,
  need,
  numbered,
  pickFrom,
  pickPaused,
  pickRun,
  pickStart,
  pickStep,
  replaced,
  startedBy,
  stepIdsOf,
  wholeLogs,
  withLog,
  withRun,
  withStatus,
  without,
  withoutActors,
  withoutJob,
  withoutRun,
} from "./changed-evidence.ts";

export interface Corruption {
  readonly name: string;
  /** The kind of violation that the judge must find. */
  readonly kind: ViolationKind;
  /** Throws when the record has nothing that can be corrupted so. */
  readonly corrupt: (record: Evidence, random: Random) => Evidence;
}

const corruption = (name: string, kind: ViolationKind, corrupt: Corruption["corrupt"]): Corruption => {
  return { name, kind, corrupt };
};

export const CORRUPTIONS: readonly Corruption[] = [
  corruption("a run is lost", "lost", (record, random) => {
    const { runId } = random.pick(record.runs);
    return { ...record, runs: record.runs.filter((run) => run.runId !== runId) };
  }),
  corruption("a trigger made two runs", "doubled", (record, random) => {
    const run = random.pick(record.runs);
    return { ...record, runs: [...record.runs, { ...run, runId: `${run.runId}-again` }] };
  }),
  corruption("a cell is lost with all its traces", "lost", (record, random) => {
    const isCell = ({ values, cell }: JobEvidence) => values.length > 0 && cell === null;
    const run = pickRun(record, random, ({ jobs }) => jobs.some(isCell));
    return withRun(record, withoutJob(run, random.pick(run.jobs.filter(isCell))), "untraced");
  }),
  corruption("a job is lost with all its traces", "lost", (record, random) => {
    const run = pickRun(record, random, ({ jobs }) => jobs.length > 1);
    const { name } = random.pick(run.jobs);
    return withRun(record, run.jobs.filter((job) => job.name === name).reduce(withoutJob, run), "untraced");
  }),
  corruption("a step is lost with all its traces", "lost", (record, random) => {
    const { run, job, step } = pickStep(record, random, isPlainSuccess);
    const less = { ...job, steps: job.steps.filter((other) => other !== step) };
    const lost = withoutActors({ ...run, jobs: replaced(run.jobs, job, less) }, [step.stepRunId]);
    return withRun(record, lost, "untraced");
  }),
  corruption("a job ran that the definition has not", "wrong", (record, random) => {
    const run = pickRun(record, random, () => true);
    return withRun(record, {
      ...run,
      jobs: [...run.jobs, { ...run.jobs[0]!, name: "unplanned", jobId: "job_x", steps: [] }],
    });
  }),
  corruption("a step was left out that should have run", "wrong", (record, random) => {
    const { run, step } = pickStep(record, random, isPlainSuccess);
    const marks = record.marks.filter(({ stepRunId }) => stepRunId !== step.stepRunId);
    const events = run.events.filter(({ stepRunId, lifecycle }) => {
      return stepRunId !== step.stepRunId || lifecycle === "completed";
    });
    return withRun({ ...record, marks }, withStatus({ ...run, ...numbered(events) }, step, "skipped"));
  }),
  corruption("a job was retried without a loss", "wrong", (record, random) => {
    const { run, job } = pickStep(record, random, isPlainSuccess);
    const again = {
      ...job,
      attempt: 2,
      jobId: `${job.jobId}-2`,
      token: null,
      steps: job.steps.map((step) => ({ ...step, stepRunId: `${step.stepRunId}-2`, token: null })),
    };
    return withRun(record, { ...run, jobs: [...run.jobs, again] });
  }),
  corruption("an ended run has an open step", "stuck", (record, random) => {
    const { run, step } = pickStep(record, random, isPlainSuccess);
    const events = run.events.filter(({ stepRunId, lifecycle }) => {
      return stepRunId !== step.stepRunId || lifecycle !== "completed";
    });
    return withRun(record, withStatus({ ...run, ...numbered(events) }, step, "running"));
  }),
  corruption("a run does not end", "stuck", (record, random) => {
    const run = pickRun(record, random, () => true);
    return withRun(record, { ...run, status: "running" });
  }),
  corruption("an effect stays owed", "stuck", (record, random) => {
    return withRun(record, { ...pickRun(record, random, () => true), settled: false, owed: 1 });
  }),
  corruption("a settled run owes an effect", "wrong", (record, random) => {
    return withRun(record, { ...pickRun(record, random, ({ settled }) => settled), owed: 1 });
  }),
  corruption("a run ended with a wrong status", "wrong", (record, random) => {
    const run = pickRun(record, random, ({ status }) => status === "success");
    const events = [
      ...run.events.slice(0, -1),
      { ...run.events.at(-1)!, status: "failed", lifecycle: "failed" as const },
    ];
    const actors = run.actors.map((actor) => (actor.kind === "run" ? { ...actor, phase: "failed" } : actor));
    return withRun(record, { ...run, status: "failed", events, actors });
  }),
  corruption("an event number is missing", "lost", (record, random) => {
    const run = pickRun(record, random, () => true);
    return withRun(record, { ...run, events: without(run.events, random) });
  }),
  corruption("a transition was applied twice", "doubled", (record, random) => {
    const run = pickRun(record, random, () => true);
    const at = run.events.findLastIndex(({ lifecycle }) => lifecycle === "started");
    return withRun(record, { ...run, ...numbered(run.events.toSpliced(at, 0, run.events[at]!)) });
  }),
  corruption("two transitions stand in the wrong order", "reordered", (record, random) => {
    const { run, step } = pickStep(record, random, isPlainSuccess);
    const at = (word: string) =>
      run.events.findIndex((event) => event.stepRunId === step.stepRunId && event.lifecycle === word);
    const [first, last] = [at("started"), at("completed")];
    const events = run.events.with(first, run.events[last]!).with(last, run.events[first]!);
    return withRun(record, { ...run, ...numbered(events) });
  }),
  corruption("a projection is behind its snapshot", "wrong", (record, random) => {
    const run = pickRun(record, random, ({ rows }) => rows.before.length > 0);
    const row = random.pick(run.rows.before);
    return withRun(record, {
      ...run,
      rows: { ...run.rows, before: replaced(run.rows.before, row, { ...row, status: "stale" }) },
    });
  }),
  corruption("a projection holds an older state", "wrong", (record, random) => {
    const run = pickRun(record, random, ({ rows }) => rows.before.length > 0);
    const row = random.pick(run.rows.before);
    const state = { ...(row.state as object), endedAt: -1 };
    return withRun(record, {
      ...run,
      rows: { ...run.rows, before: replaced(run.rows.before, row, { ...row, state }) },
    });
  }),
  corruption("a projection is missing even after a load", "wrong", (record, random) => {
    const run = pickRun(record, random, ({ rows }) => rows.after.length > 0);
    return withRun(record, { ...run, rows: { ...run.rows, after: without(run.rows.after, random) } });
  }),
  corruption("a projection says that an agent still holds an ended step", "wrong", (record, random) => {
    const run = pickRun(record, random, ({ rows }) => rows.before.some(({ kind }) => kind === "step"));
    const row = random.pick(run.rows.before.filter(({ kind }) => kind === "step"));
    const rows = replaced(run.rows.before, row, { ...row, agentId: "agt_x" });
    return withRun(record, { ...run, rows: { ...run.rows, before: rows } });
  }),
  corruption("an agent counts as lost that was never away", "wrong", (record, random) => {
    const { run, job } = pickStep(record, random, isPlainSuccess);
    const lost = { ...run, jobs: replaced(run.jobs, job, { ...job, reason: "agent_lost" }) };
    return withRun({ ...record, absences: [], outages: [] }, lost);
  }),
  corruption("an outage of 15 s counts as the loss of an agent", "wrong", (record, random) => {
    const { run, job, step } = pickStep(record, random, isPlainSuccess);
    const at = run.events.findLast(({ stepRunId }) => stepRunId === step.stepRunId)!.timeMs;
    const lost = { ...run, jobs: replaced(run.jobs, job, { ...job, reason: "agent_lost" }) };
    const outages = [{ fromMs: at - 15_000, untilMs: at }];
    return withRun({ ...record, absences: [], outages }, lost);
  }),
  corruption("an agent that was frozen for 10 s counts as lost", "wrong", (record, random) => {
    const { run, job, step } = pickStep(record, random, isPlainSuccess);
    const at = run.events.findLast(({ stepRunId }) => stepRunId === step.stepRunId)!.timeMs;
    const lost = { ...run, jobs: replaced(run.jobs, job, { ...job, reason: "agent_lost" }) };
    const away = { agentId: job.agentId!, how: "frozen", fromMs: at - 10_000, untilMs: at } as const;
    return withRun({ ...record, absences: [away], outages: [] }, lost);
  }),
  corruption("a step was started twice", "doubled", (record, random) => {
    const mark = random.pick(record.marks.filter(({ word }) => word === "start"));
    return { ...record, marks: [...record.marks, mark] };
  }),
  corruption("a step ran on after another agent had its job", "doubled", (record, random) => {
    const { run, job, step } = pickStep(record, random, isPlainSuccess);
    const at = run.events.findLast(({ stepRunId }) => stepRunId === step.stepRunId)!.timeMs + 5_000;
    return { ...record, marks: [...record.marks, { word: "beat", stepRunId: step.stepRunId, jobId: job.jobId, at }] };
  }),
  corruption("two runs of one concurrency group worked at once", "doubled", (record, random) => {
    const members = random.shuffled(record.acknowledged.filter(({ exclusion }) => exclusion?.kind === "queueing"));
    const stepsOf = (runId: string) => new Set(stepIdsOf(record.runs.find((run) => run.runId === runId)!));
    const worked = members.map(({ runId }) => record.marks.filter(({ stepRunId }) => stepsOf(runId).has(stepRunId)));
    const [one, other] = worked.filter((marks) => marks.length > 1);
    const shiftMs = need(one, "a run of a group")[0]!.at - need(other, "a second run of that group")[0]!.at;
    const moved = other!.map((mark) => ({ ...mark, at: mark.at + shiftMs + 1 }));
    return { ...record, marks: [...record.marks.filter((mark) => !other!.includes(mark)), ...moved] };
  }),
  corruption("a step ran that the store does not know", "lost", (record, random) => {
    return { ...record, marks: [...record.marks, { ...random.pick(record.marks), stepRunId: "step_x" }] };
  }),
  corruption("the token of another grant came back", "wrong", (record, random) => {
    const { run, job, step } = pickStep(record, random, isPlainSuccess);
    const steps = replaced(job.steps, step, { ...step, token: step.token! + 1 });
    return withRun(record, { ...run, jobs: replaced(run.jobs, job, { ...job, steps }) });
  }),
  corruption("two attempts of a job have one token", "doubled", (record, random) => {
    const { run, job } = pickStep(record, random, isPlainSuccess);
    const again = { ...job, attempt: 2, jobId: `${job.jobId}-2`, steps: [] };
    return withRun(record, { ...run, jobs: [...run.jobs, again] });
  }),
  corruption("a line is missing", "lost", (record, random) => withLog(record, random, (seen) => without(seen, random))),
  corruption("the last line is missing", "lost", (record, random) =>
    withLog(record, random, (seen) => seen.slice(0, -1)),
  ),
  corruption("a line came twice", "doubled", (record, random) =>
    withLog(record, random, (seen) => {
      const at = random.between(0, seen.length - 1);
      return seen.toSpliced(at, 0, seen[at]!);
    }),
  ),
  corruption("two lines changed places", "reordered", (record, random) =>
    withLog(record, random, (seen) => {
      const at = random.between(0, seen.length - 2);
      return seen.with(at, seen[at + 1]!).with(at + 1, seen[at]!);
    }),
  ),
  corruption("a line has the text of another one", "wrong", (record, random) =>
    withLog(record, random, (seen) => seen.with(0, { ...seen[0]!, text: "line 0" })),
  ),
  corruption("a gap record has no cause", "lost", (record, random) =>
    withLog({ ...record, absences: [] }, random, (seen) => {
      const at = random.between(0, seen.length - 2);
      return seen.toSpliced(at, 2, { number: at + 1, text: "", lostThrough: at + 2 });
    }),
  ),
  corruption("no viewer looked at a log", "lost", (record, random) => ({
    ...record,
    logs: without(wholeLogs(record), random),
  })),
  corruption("an acknowledged vote is missing", "lost", (record, random) => {
    const run = pickRun(record, random, ({ approvals }) => approvals.some(({ approvers }) => approvers.length > 0));
    const approvals = run.approvals.map((approval) => ({ ...approval, approvers: [] }));
    return withRun(record, { ...run, approvals });
  }),
  corruption("a vote counts twice", "doubled", (record, random) => {
    const run = pickRun(record, random, ({ approvals }) => approvals.some(({ approvers }) => approvers.length > 0));
    const approvals = run.approvals.map((one) => ({ ...one, approvers: [...one.approvers, ...one.approvers] }));
    return withRun(record, { ...run, approvals });
  }),
  corruption("an approval was given without a vote", "doubled", (record, random) => {
    const vote = random.pick(record.votes.filter(({ word }) => word === "approve"));
    return { ...record, votes: record.votes.filter((other) => other !== vote) };
  }),
  corruption("an acknowledged pause did not pause", "lost", (record, random) => {
    const run = pickPaused(record, random);
    return withRun(record, {
      ...run,
      ...numbered(run.events.filter(({ lifecycle }) => !/paused|resumed/.test(lifecycle))),
    });
  }),
  corruption("a step was dispatched during a pause", "wrong", (record, random) => {
    const run = pickPaused(record, random);
    const dispatch = need(
      run.events.findLast((event) => event.object === "step" && event.lifecycle === "queued"),
      "a dispatch",
    );
    const others = run.events.filter((event) => event !== dispatch);
    const at = others.findIndex(({ lifecycle }) => lifecycle === "paused");
    return withRun(record, { ...run, ...numbered(others.toSpliced(at + 1, 0, dispatch)) });
  }),
  corruption("a paused run resumed by itself", "wrong", (record, random) => {
    const { runId } = pickPaused(record, random);
    const pauses = record.pauses.map((one) =>
      one.runId === runId ? { ...one, resumeSentAt: one.resumeSentAt + 60_000 } : one,
    );
    return { ...record, pauses };
  }),
  corruption("an acknowledged stop did not stop", "lost", (record, random) => {
    return { ...record, stops: [...record.stops, pickRun(record, random, ({ status }) => status === "success").runId] };
  }),
  corruption("a job is reused in a run that repeats no other", "wrong", (record, random) => {
    const repeats = new Set(
      record.acknowledged.flatMap((trigger) => (trigger.repeats === null ? [] : [trigger.runId])),
    );
    const run = pickRun(record, random, ({ runId }) => !repeats.has(runId));
    const job = random.pick(run.jobs);
    return withRun(record, { ...run, jobs: replaced(run.jobs, job, { ...job, reused: true }) });
  }),
  corruption("a secret stands in a log", "leaked", (record) => {
    const leak = { secret: "version 1 of project/PLAIN", form: "in base64", place: "table log_chunks", detail: "" };
    return { ...record, leaks: [leak] };
  }),
  corruption("a step got a value that its secret never had", "wrong", (record, random) => {
    const given = random.pick(record.secretsGiven);
    return { ...record, secretsGiven: replaced(record.secretsGiven, given, { ...given, sum: "0" }) };
  }),
  corruption("a step did not get its secret", "lost", (record, random) => {
    const ended = new Set(record.marks.flatMap(({ word, stepRunId }) => (word === "end" ? [stepRunId] : [])));
    const given = random.pick(record.secretsGiven.filter(({ stepRunId }) => ended.has(stepRunId)));
    return { ...record, secretsGiven: record.secretsGiven.filter((one) => one !== given) };
  }),
  corruption("a time of a schedule has no run", "lost", (record, random) => {
    const { by } = pickStart(record, random, ({ by: cause }) => cause.startsWith("schedule"));
    return withoutRun(record, startedBy(record, by));
  }),
  corruption("a delivery started no run by one of its triggers", "lost", (record, random) => {
    const { by } = pickStart(record, random, ({ by: cause }) => cause.startsWith("delivery"));
    return withoutRun(record, startedBy(record, by));
  }),
  corruption("a time or a delivery started two runs", "doubled", (record, random) => {
    const run = startedBy(record, pickStart(record, random, () => true).by);
    return { ...record, runs: [...record.runs, { ...run, runId: `${run.runId}-again` }] };
  }),
  corruption("the API does not tell of a run that was started", "lost", (record, random) => {
    const start = pickStart(record, random, () => true);
    return { ...record, starts: replaced(record.starts, start, { ...start, told: [] }) };
  }),
  corruption("the host is not told the end of a run", "lost", (record, random) => {
    const { commit } = pickStart(record, random, (start) => start.commit !== null);
    // A fault may have made a worker tell the end twice.
    const last = record.statuses.findLast((status) => status.commit === commit);
    const isEnd = (status: SetStatus) => status.commit === commit && status.state === last?.state;
    return { ...record, statuses: record.statuses.filter((status) => !isEnd(status)) };
  }),
  corruption("the host is told an old state after a newer one", "reordered", (record, random) => {
    const last = pickFrom(record.statuses, random, "status");
    return { ...record, statuses: [...record.statuses, { ...last, state: "success" }, { ...last, state: "running" }] };
  }),
  corruption("the host is told a state again without a fault", "doubled", (record, random) => {
    const last = pickFrom(record.statuses, random, "status");
    return { ...record, statuses: [...record.statuses, last, ...Array.from({ length: record.kills + 1 }, () => last)] };
  }),
  corruption("a message could not be decided", "wrong", (record) => ({
    ...record,
    deadLetters: ["a message of no state"],
  })),
];
