/** Tests of the checker of the kill tests: it finds every kind of violation, and nothing in valid evidence. */
import { expect } from "chai";
import fc from "fast-check";
import { checkExclusion } from "./check/exclusion.ts";
import { check } from "./check/checker.ts";
import { checkCommitStatuses } from "./check/commit-statuses.ts";
import type { Evidence, Mark, RunEvidence, SetStatus, Span, Transition, ViolationKind } from "./check/evidence.ts";
import { type Definition } from "./load/step.ts";
import {
  attempt,
  consistent,
  DEFINITION,
  lineOf,
  plain,
  T0,
  talks,
  validEvidence,
  WITH_OLD,
} from "./valid-evidence.ts";

function withRun(change: Partial<RunEvidence>): Evidence {
  const evidence = validEvidence();
  return { ...evidence, runs: [consistent({ ...evidence.runs[0]!, ...change })] };
}

function withEvents(change: (events: Transition[]) => Transition[]): Evidence {
  return withRun({ events: change([...validEvidence().runs[0]!.events]) });
}

/** Gives the events new numbers and times, as if the store had numbered them. */
function renumbered(events: readonly Transition[]): Evidence {
  const numbered = events.map((event, at) => ({ ...event, number: at + 1, timeMs: T0 + (at + 1) * 1_000 }));
  return withRun({ events: numbered, eventNumber: numbered.length });
}

const kinds = (evidence: Evidence): readonly ViolationKind[] => check(evidence).map(({ kind }) => kind);
const anyEvent = fc.nat(validEvidence().runs[0]!.events.length - 1);

describe("the checker of the kill tests", () => {
  it("judges the runs of attackers without asking who has triggered them", () => {
    const evidence = validEvidence();
    const [own] = evidence.runs;
    const foreign: RunEvidence = { ...own!, runId: "foreign" };
    expect(check({ ...evidence, attackers: [foreign] })).to.deep.equal([]);
    expect(check({ ...evidence, runs: [own!, foreign] })).to.not.deep.equal([]);
    const twice = { ...foreign, events: [...foreign.events, foreign.events.at(-1)!] };
    for (const bad of [twice, { ...foreign, settled: false }, { ...foreign, status: "running" } as const]) {
      expect(check({ ...evidence, attackers: [bad] })).to.not.deep.equal([]);
    }
  });

  it("finds nothing in valid evidence", () => {
    expect(check(validEvidence())).to.deep.equal([]);
  });

  it("finds a reused step that ran again or that has transitions", () => {
    const job = { ...attempt("old", 2, 1, "success", "", [{ ...plain("old-0"), reused: true }]), reused: true };
    const jobs = [...validEvidence().runs[0]!.jobs, job];
    const [trigger] = validEvidence().acknowledged;
    const acknowledged = [{ ...trigger!, definition: WITH_OLD, repeats: "run-0" }];
    const rerun = { ...withRun({ jobs }), acknowledged };
    expect(kinds(rerun)).to.deep.equal([]);
    const mark: Mark = { word: "start", stepRunId: "old-0", jobId: "old", at: T0 };
    expect(kinds({ ...rerun, marks: [...validEvidence().marks, mark] })).to.deep.equal(["doubled"]);
    expect(kinds({ ...rerun, acknowledged: [{ ...acknowledged[0]!, repeats: null }] })).to.deep.equal(["wrong"]);
    const { jobId, steps } = jobs[1]!;
    const claimed = jobs.with(1, {
      ...jobs[1]!,
      reused: true,
      steps: steps.map((reused) => ({ ...reused, reused: true })),
    });
    expect(check(withRun({ jobs: claimed })).map(({ text }) => text)).to.include(
      `${jobId} of run run-1 was reused, but has transitions`,
    );
  });

  it("finds a reused attempt, also one that another attempt has followed", () => {
    const { jobs } = validEvidence().runs[0]!;
    for (const [at, job] of jobs.entries()) {
      const found = kinds(withRun({ jobs: jobs.with(at, { ...job, reused: true }) }));
      expect(found, job.jobId).to.include("wrong");
    }
  });

  it("finds any transition that is missing", () => {
    fc.assert(fc.property(anyEvent, (at) => kinds(withEvents((events) => events.toSpliced(at, 1))).includes("lost")));
  });

  it("finds a missing transition even when the later ones are renumbered", () => {
    const events = validEvidence().runs[0]!.events;
    // Without `resumed` or `retried`, the other transitions of the object are still in order.
    const silent = ["resumed", "retried"];
    const telling = events.flatMap(({ lifecycle }, at) => (silent.includes(lifecycle) ? [] : [at]));
    for (const at of telling) {
      expect(check(renumbered(events.toSpliced(at, 1))), `without ${events[at]!.lifecycle}`).not.to.deep.equal([]);
    }
  });

  it("finds any transition that is stored twice, under its own number or under a new one", () => {
    fc.assert(
      fc.property(anyEvent, (at) => {
        const events = validEvidence().runs[0]!.events;
        const twice = events.toSpliced(at, 0, events[at]!);
        return kinds(withEvents(() => twice)).includes("doubled") && kinds(renumbered(twice)).includes("doubled");
      }),
    );
  });

  it("finds any two swapped transitions of an object", () => {
    const events = validEvidence().runs[0]!.events;
    const idOf = ({ jobId, stepRunId }: Transition) => stepRunId ?? jobId ?? "run";
    for (const [at, event] of events.entries()) {
      const next = events.findIndex((other, index) => index > at && idOf(other) === idOf(event));
      if (next < 0 || event.lifecycle === "paused") continue;
      const swapped = events.with(at, events[next]!).with(next, event);
      expect(check(renumbered(swapped)), `${event.lifecycle} and ${events[next]!.lifecycle}`).not.to.deep.equal([]);
      expect(kinds(withEvents(() => swapped))).to.include("reordered");
    }
  });

  it("finds a snapshot that is behind its events or ahead of them", () => {
    const events = validEvidence().runs[0]!.events;
    expect(kinds(withRun({ eventNumber: events.length - 1 }))).to.include("lost");
    expect(kinds(withRun({ eventNumber: events.length + 1 }))).to.include("lost");
    expect(kinds(withRun({ status: "cancelled" }))).to.include("lost");
  });

  it("finds a run that did not end or that still owes effects", () => {
    expect(kinds(withRun({ status: "running" }))).to.include("stuck");
    expect(kinds(withRun({ settled: false, owed: 1 }))).to.deep.equal(["stuck"]);
    expect(kinds(withRun({ owed: 1 }))).to.deep.equal(["wrong"]);
  });

  it("finds triggers without a run, shared runs, and runs without a trigger", () => {
    const { acknowledged, ...rest } = validEvidence();
    const [one] = acknowledged;
    expect(kinds({ ...rest, acknowledged: [one!, { ...one!, requestId: "r-2", runId: "run-2" }] })).to.deep.equal([
      "lost",
    ]);
    expect(kinds({ ...rest, acknowledged: [one!, { ...one!, requestId: "r-2" }] })).to.deep.equal(["lost"]);
    expect(kinds({ ...rest, acknowledged: [] })).to.deep.equal(["doubled"]);
  });

  it("finds a run that ended with a wrong status", () => {
    const { acknowledged, ...rest } = validEvidence();
    expect(kinds({ ...rest, acknowledged: [{ ...acknowledged[0]!, ends: ["success"] }] })).to.deep.equal(["wrong"]);
  });

  it("finds a step that was started twice and a step that left no mark", () => {
    const { marks, ...rest } = validEvidence();
    expect(kinds({ ...rest, marks: marks.toSpliced(2, 0, marks[2]!) })).to.deep.equal(["doubled"]);
    expect(kinds({ ...rest, marks: marks.filter(({ stepRunId }) => stepRunId !== "a2-0") })).to.deep.equal(["lost"]);
  });

  it("finds two attempts that run at the same time, and a step that runs after its end", () => {
    const { marks, ...rest } = validEvidence();
    const late: Mark = { ...marks[1]!, at: T0 + 14_900 };
    expect(kinds({ ...rest, marks: marks.with(1, late) })).to.deep.equal(["doubled", "doubled"]);
  });

  it("finds a step that ran but is not in the store, and a skipped step that ran", () => {
    const { marks, ...rest } = validEvidence();
    const stray = (stepRunId: string): Mark => ({ ...marks[4]!, stepRunId });
    expect(kinds({ ...rest, marks: [...marks, stray("x-0")] })).to.deep.equal(["lost"]);
    expect(kinds({ ...rest, marks: [...marks, stray("b1-1")] })).to.deep.equal(["wrong"]);
  });

  it("finds lines that a viewer missed, saw twice or saw out of order", () => {
    const { logs, ...rest } = validEvidence();
    const seen = (...numbers: readonly number[]) => ({
      ...rest,
      logs: [{ ...logs[0]!, seen: numbers.map(lineOf) }],
    });
    expect(kinds(seen(1, 3))).to.deep.equal(["lost"]);
    expect(kinds(seen(1, 2))).to.deep.equal(["lost"]);
    expect(kinds(seen(1, 2, 2, 3))).to.deep.equal(["doubled"]);
    expect(kinds(seen(1, 3, 2))).to.include.members(["lost", "reordered"]);
    expect(kinds({ ...rest, logs: [{ ...logs[0]!, seen: [{ ...lineOf(1), text: "line 2" }] }] })).to.include("wrong");
  });

  it("finds lines that a viewer missed although the step failed, and a log that no viewer saw", () => {
    const evidence = validEvidence();
    const short = { stepRunId: "b1-0", written: 3, mayOverflow: false, seen: [lineOf(1)] };
    expect(kinds({ ...evidence, logs: [...evidence.logs, short] })).to.deep.equal(["lost"]);
    const talking: Definition = { jobs: DEFINITION.jobs!.map((job) => ({ ...job, steps: job.steps.map(talks) })) };
    const acknowledged = [{ ...evidence.acknowledged[0]!, definition: talking }];
    expect(kinds({ ...evidence, acknowledged })).to.deep.equal(["lost"]);
    expect(kinds({ ...evidence, acknowledged, logs: [...evidence.logs, { ...short, written: 1 }] })).to.deep.equal([]);
  });

  it("finds a gap record, unless the step's agent was killed or had no room", () => {
    const { logs, ...rest } = validEvidence();
    const seen = [lineOf(1), { number: 2, text: "lines 2-3 lost", lostThrough: 3 }];
    const lacking = { ...rest, logs: [{ ...logs[0]!, seen }] };
    expect(kinds(lacking)).to.deep.equal(["lost"]);
    const ended = rest.runs[0]!.events.findLast(({ stepRunId }) => stepRunId === "a2-0")!.timeMs;
    const killed = (agentId: string, fromMs: number, disturbances: readonly Span[] = []) => {
      const kill = { agentId, how: "killed", fromMs, untilMs: fromMs } as const;
      return kinds({ ...lacking, absences: [...rest.absences, kill], disturbances });
    };
    expect(kinds({ ...lacking, logs: [{ ...lacking.logs[0]!, mayOverflow: true }] })).to.deep.equal([]);
    expect(killed("agent of a2", ended + 2_000)).to.deep.equal([]);
    expect(killed("agent of a2", ended + 60_000)).to.deep.equal(["lost"]);
    const disturbed = (fromMs: number, untilMs: number) => [{ fromMs: ended + fromMs, untilMs: ended + untilMs }];
    expect(killed("agent of a2", ended + 35_000, disturbed(-1_000, 9_000)), "lines that waited").to.deep.equal([]);
    expect(killed("agent of a2", ended + 45_000, disturbed(-1_000, 9_000))).to.deep.equal(["lost"]);
    expect(killed("agent of a2", ended + 35_000, disturbed(-20_000, -1_000))).to.deep.equal(["lost"]);
    expect(killed("agent of b1", ended + 2_000)).to.deep.equal(["lost"]);
  });

  it("allows a run to fail when a job lost two agents", () => {
    const evidence = withRun({});
    const [run] = evidence.runs;
    const [a1, a2, b1] = run!.jobs;
    const lost = { ...a2!, status: "failed" as const, reason: "agent_lost" };
    const expected = { ...evidence, acknowledged: [{ ...evidence.acknowledged[0]!, ends: ["success"] as const }] };
    expect(kinds(expected)).to.include("wrong");
    const twice = { ...expected, runs: [consistent({ ...run!, jobs: [a1!, lost, b1!] })] };
    expect(kinds(twice)).to.include("wrong");
    const kill = { agentId: "agent of a2", how: "killed", fromMs: T0 + 16_000, untilMs: T0 + 16_500 } as const;
    expect(kinds({ ...twice, absences: [...twice.absences, kill] })).not.to.include("wrong");
  });

  it("reports every dead letter", () => {
    expect(kinds({ ...validEvidence(), deadLetters: ["a message of no state"] })).to.deep.equal(["wrong"]);
  });

  it("finds a secret value that was never set, set too late or replaced too early", () => {
    const evidence = validEvidence();
    const [given] = evidence.secretsGiven;
    const [first, second] = evidence.secretVersions;
    const withSum = (sum: string) => ({ ...evidence, secretsGiven: [{ ...given!, sum }] });
    const withFirst = (change: object) => ({ ...evidence, secretVersions: [{ ...first!, ...change }, second!] });
    expect(kinds(withSum("bb"))).to.deep.equal([]);
    expect(kinds(withSum("cc"))).to.deep.equal(["wrong"]);
    expect(kinds(withFirst({ secret: "other/TOKEN" }))).to.deep.equal(["wrong"]);
    expect(kinds(withFirst({ untilMs: T0 + 13_500 }))).to.deep.equal(["wrong"]);
    expect(kinds(withFirst({ fromMs: T0 + 15_000 }))).to.deep.equal(["wrong"]);
  });

  it("finds a step that ended without reporting a secret that it reads", () => {
    const { secretsGiven: _, ...rest } = validEvidence();
    const silent = { ...rest, secretsGiven: [] };
    expect(kinds(silent)).to.deep.equal(["lost"]);
    const killed = rest.marks.filter(({ stepRunId, word }) => stepRunId !== "a2-0" || word !== "end");
    expect(check({ ...silent, marks: killed }).map(({ text }) => text)).to.deep.equal(
      check({ ...validEvidence(), marks: killed }).map(({ text }) => text),
    );
  });

  it("reports every leak and its place", () => {
    const leak = { secret: "version 1 of project/TOKEN", form: "in base64", place: "table events", detail: "" };
    const found = check({ ...validEvidence(), leaks: [leak, { ...leak, detail: "run-1" }] });
    expect(found.map(({ kind, text }) => `${kind}: ${text}`)).to.deep.equal([
      "leaked: version 1 of project/TOKEN stands in base64 in table events",
      "leaked: version 1 of project/TOKEN stands in base64 in table events (run-1)",
    ]);
  });

  it("finds a promised start without a run, with two runs, or of which the API tells another one", () => {
    const evidence = validEvidence();
    const [run] = evidence.runs;
    const by = "schedule nightly at 60000";
    const start = { by, isCertain: true, definition: DEFINITION, exclusion: null, told: ["run-1"], commit: null };
    const started: Evidence = { ...evidence, acknowledged: [], starts: [start], runs: [{ ...run!, startedBy: by }] };
    // The run of the evidence fails, as its definition says; what is started here has to succeed.
    const found = (change: Partial<Evidence>) => kinds({ ...started, ...change }).filter((kind) => kind !== "wrong");
    expect(found({})).to.deep.equal([]);
    const second = { ...run!, runId: "run-2", startedBy: by };
    expect(found({ runs: [...started.runs, second] })).to.include("doubled");
    expect(found({ runs: [] })).to.include("lost");
    expect(found({ starts: [{ ...start, told: [] }] })).to.deep.equal(["lost"]);
    expect(found({ starts: [{ ...start, told: ["run-1", "run-1"] }] })).to.deep.equal(["doubled"]);
    expect(found({ starts: [] }), "a run that nothing has promised").to.deep.equal(["doubled"]);
    const uncertain = { ...start, by: "schedule nightly at 0", isCertain: false, told: [] };
    expect(found({ starts: [start, uncertain] }), "a time at which the schedule was made").to.deep.equal([]);
    expect(found({ starts: [start, { ...uncertain, isCertain: true }] })).to.deep.equal(["lost"]);
    expect(kinds({ ...started, starts: [{ ...start, told: ["run-1", "run-x"] }] })).to.include("wrong");
  });

  it("finds commit statuses that are missing, stand in a wrong order, or come again without a fault", () => {
    const [run] = validEvidence().runs;
    const start = { by: "push", isCertain: true, definition: DEFINITION, exclusion: null, told: [], commit: "c1" };
    const found = (states: readonly SetStatus["state"][], more: Partial<Evidence> = {}) => {
      const statuses = states.map((state) => ({ commit: "c1", name: "millrace/p", state }));
      const runs = [{ ...run!, startedBy: "push" }];
      return checkCommitStatuses({ ...validEvidence(), runs, starts: [start], statuses, kills: 0, ...more }).map(
        ({ kind }) => kind,
      );
    };
    expect(found(["pending", "running", "failure"])).to.deep.equal([]);
    expect(found(["failure"]), "states that a newer one has overtaken").to.deep.equal([]);
    expect(found([])).to.deep.equal(["lost"]);
    expect(found(["pending", "running"])).to.deep.equal(["lost"]);
    expect(found(["running", "pending", "failure"])).to.deep.equal(["reordered"]);
    expect(found(["running", "pending", "failure"], { hasZombies: true })).to.deep.equal([]);
    expect(found(["success", "failure"])).to.deep.equal(["wrong"]);
    expect(found(["running", "running", "failure"])).to.deep.equal(["doubled"]);
    expect(found(["running", "running", "failure"], { kills: 1 })).to.deep.equal([]);
  });

  it("finds runs and jobs that worked at the same time although their group forbids it", () => {
    const evidence = validEvidence();
    const [trigger] = evidence.acknowledged;
    const [run] = evidence.runs;
    // The same work, 500 ms later.
    const other = consistent({
      ...run!,
      runId: "run-2",
      jobs: run!.jobs.map((job) => ({
        ...job,
        steps: job.steps.map((step) => ({ ...step, stepRunId: `x-${step.stepRunId}` })),
      })),
    });
    const later = evidence.marks.map((mark) => ({ ...mark, stepRunId: `x-${mark.stepRunId}`, at: mark.at + 500 }));
    const two = (unit: "run" | "job", kind = "deploy"): Evidence => ({
      ...evidence,
      acknowledged: [
        { ...trigger!, exclusion: { unit, kind: "deploy" } },
        { ...trigger!, requestId: "r-2", runId: "run-2", exclusion: { unit, kind } },
      ],
      runs: [run!, other],
      marks: [...evidence.marks, ...later],
    });
    const textsOf = (given: Evidence) => checkExclusion(given).map(({ text }) => text);
    expect(textsOf(two("run")))
      .to.have.length(1)
      .and.to.match(/^run run-1 and run run-2 worked at the same time/);
    expect(textsOf(two("job"))).to.have.length(2);
    expect(textsOf(two("run", "another"))).to.deep.equal([]);
    const apart = two("run").marks.map((mark) =>
      mark.stepRunId.startsWith("x-") ? { ...mark, at: mark.at + 60_000 } : mark,
    );
    expect(textsOf({ ...two("run"), marks: apart })).to.deep.equal([]);
  });
});
