import { expect } from "chai";
import fc from "fast-check";
import { checkAlone } from "./check/alone.ts";
import { check } from "./check/checker.ts";
import type { Evidence, Mark, RunEvidence, StepEvidence, Transition, ViolationKind } from "./check/evidence.ts";

const T0 = 1_700_000_000_000;

/** A run of two jobs: the first loses its agent once and begins anew, the second fails and skips its last step. */
function honest(): Evidence {
  const events: Transition[] = [];
  const tell = (subject: Partial<Transition>, lifecycle: Transition["lifecycle"], status: string): void => {
    const number = events.length + 1;
    const blank = { object: "pipeline", jobId: null, stepRunId: null } as const;
    events.push({ ...blank, ...subject, lifecycle, status, number, timeMs: T0 + number * 1_000 });
  };
  const run = {} as const;
  const job = (jobId: string) => ({ object: "job", jobId }) as const;
  const step = (jobId: string, stepRunId: string) => ({ object: "step", jobId, stepRunId }) as const;
  tell(run, "created", "pending");
  tell(run, "started", "running");
  tell(job("a1"), "queued", "queued");
  tell(job("a1"), "started", "running");
  tell(step("a1", "a1-0"), "queued", "queued");
  tell(step("a1", "a1-0"), "started", "running");
  tell(run, "paused", "paused");
  tell(run, "resumed", "running");
  tell(step("a1", "a1-0"), "failed", "failed");
  tell(job("a1"), "failed", "failed");
  tell(job("a2"), "retried", "pending");
  tell(job("a2"), "queued", "queued");
  tell(job("a2"), "started", "running");
  tell(step("a2", "a2-0"), "queued", "queued");
  tell(step("a2", "a2-0"), "started", "running");
  tell(step("a2", "a2-0"), "completed", "success");
  tell(job("a2"), "completed", "success");
  tell(job("b1"), "queued", "queued");
  tell(job("b1"), "started", "running");
  tell(step("b1", "b1-0"), "queued", "queued");
  tell(step("b1", "b1-0"), "started", "running");
  tell(step("b1", "b1-0"), "failed", "failed");
  tell(job("b1"), "failed", "failed");
  tell(step("b1", "b1-1"), "skipped", "skipped");
  tell(run, "failed", "failed");

  const mark = (word: Mark["word"], jobId: string, stepRunId: string, second: number): Mark => {
    return { word, jobId, stepRunId, at: T0 + second * 1_000 - 500 };
  };
  const failed: StepEvidence = { stepRunId: "b1-0", index: 0, status: "failed", reason: "exit", reused: false };
  return {
    acknowledged: [{ requestId: "r-1", runId: "run-1", ends: ["failed"], alone: null }],
    runs: [
      {
        runId: "run-1",
        status: "failed",
        settled: true,
        eventNumber: events.length,
        events,
        approvals: [],
        jobs: [
          attempt("a1", 0, 1, "failed", "agent_lost", [
            { stepRunId: "a1-0", index: 0, status: "failed", reason: "agent_lost", reused: false },
          ]),
          attempt("a2", 0, 2, "success", "", [
            { stepRunId: "a2-0", index: 0, status: "success", reason: "", reused: false, secrets: 1 },
          ]),
          attempt("b1", 1, 1, "failed", "", [failed, { ...failed, stepRunId: "b1-1", index: 1, status: "skipped" }]),
        ],
      },
    ],
    marks: [
      mark("start", "a1", "a1-0", 6),
      mark("beat", "a1", "a1-0", 7),
      mark("start", "a2", "a2-0", 15),
      mark("end", "a2", "a2-0", 16),
      mark("start", "b1", "b1-0", 21),
      mark("end", "b1", "b1-0", 22),
    ],
    logs: [{ stepRunId: "a2-0", written: 3, seen: [1, 2, 3].map(lineOf) }],
    agentKills: [],
    deadLetters: [],
    secretVersions: [
      { secret: "project/TOKEN", number: 1, sum: "aa", fromMs: T0, untilMs: T0 + 14_000 },
      { secret: "project/TOKEN", number: 2, sum: "bb", fromMs: T0 + 13_000, untilMs: Infinity },
    ],
    secretsGiven: [{ stepRunId: "a2-0", secret: "project/TOKEN", sum: "aa" }],
    leaks: [],
  };
}

function lineOf(number: number) {
  return { number, text: `line ${number}`, lostThrough: null };
}

function attempt(
  jobId: string,
  index: number,
  number: number,
  status: "failed" | "success",
  reason: string,
  steps: readonly StepEvidence[],
): RunEvidence["jobs"][number] {
  return {
    jobId,
    index,
    cell: null,
    attempt: number,
    status,
    reason,
    agentId: `agent of ${jobId}`,
    reused: false,
    steps,
  };
}

function withRun(change: Partial<RunEvidence>): Evidence {
  const evidence = honest();
  return { ...evidence, runs: [{ ...evidence.runs[0]!, ...change }] };
}

function withEvents(change: (events: Transition[]) => Transition[]): Evidence {
  return withRun({ events: change([...honest().runs[0]!.events]) });
}

/** As if the store had numbered them so itself. */
function renumbered(events: readonly Transition[]): Evidence {
  const numbered = events.map((event, at) => ({ ...event, number: at + 1, timeMs: T0 + (at + 1) * 1_000 }));
  return withRun({ events: numbered, eventNumber: numbered.length });
}

const kinds = (evidence: Evidence): readonly ViolationKind[] => check(evidence).map(({ kind }) => kind);
const anyEvent = fc.nat(honest().runs[0]!.events.length - 1);

describe("the checker of the kill tests", () => {
  it("finds nothing in an honest ledger", () => {
    expect(check(honest())).to.deep.equal([]);
  });

  it("finds a reused step that ran all the same, and one that has transitions", () => {
    const step = { stepRunId: "old-0", index: 0, status: "success", reason: "", reused: true } as const;
    const job = { ...attempt("old", 2, 1, "success", "", [step]), reused: true };
    const jobs = [...honest().runs[0]!.jobs, job];
    expect(kinds(withRun({ jobs }))).to.deep.equal([]);
    const mark: Mark = { word: "start", stepRunId: "old-0", jobId: "old", at: T0 };
    expect(kinds({ ...withRun({ jobs }), marks: [...honest().marks, mark] })).to.deep.equal(["doubled"]);
    const { jobId, steps } = jobs[1]!;
    const claimed = jobs.with(1, {
      ...jobs[1]!,
      reused: true,
      steps: steps.map((each) => ({ ...each, reused: true })),
    });
    expect(check(withRun({ jobs: claimed })).map(({ text }) => text)).to.include(
      `${jobId} of run run-1 was reused, and has transitions`,
    );
  });

  it("finds any transition that the ledger has lost", () => {
    fc.assert(fc.property(anyEvent, (at) => kinds(withEvents((events) => events.toSpliced(at, 1))).includes("lost")));
  });

  it("finds a lost transition when the ones behind it have been numbered as if it had never been", () => {
    const events = honest().runs[0]!.events;
    // A pause that was never written, or the retry's own word, leaves nothing that contradicts it but its partner.
    const silent = ["resumed", "retried"];
    const telling = events.flatMap(({ lifecycle }, at) => (silent.includes(lifecycle) ? [] : [at]));
    for (const at of telling) {
      expect(check(renumbered(events.toSpliced(at, 1))), `without ${events[at]!.lifecycle}`).not.to.deep.equal([]);
    }
  });

  it("finds any transition that stands twice, under its own number or under a new one", () => {
    fc.assert(
      fc.property(anyEvent, (at) => {
        const events = honest().runs[0]!.events;
        const twice = events.toSpliced(at, 0, events[at]!);
        return kinds(withEvents(() => twice)).includes("doubled") && kinds(renumbered(twice)).includes("doubled");
      }),
    );
  });

  it("finds any two transitions of one object that have changed places", () => {
    const events = honest().runs[0]!.events;
    const idOf = ({ jobId, stepRunId }: Transition) => stepRunId ?? jobId ?? "run";
    for (const [at, event] of events.entries()) {
      const next = events.findIndex((other, index) => index > at && idOf(other) === idOf(event));
      if (next < 0 || event.lifecycle === "paused") continue;
      const swapped = events.with(at, events[next]!).with(next, event);
      expect(check(renumbered(swapped)), `${event.lifecycle} and ${events[next]!.lifecycle}`).not.to.deep.equal([]);
      expect(kinds(withEvents(() => swapped))).to.include("reordered");
    }
  });

  it("finds a snapshot that is behind its ledger, or ahead of it", () => {
    const events = honest().runs[0]!.events;
    expect(kinds(withRun({ eventNumber: events.length - 1 }))).to.include("lost");
    expect(kinds(withRun({ eventNumber: events.length + 1 }))).to.include("lost");
    expect(kinds(withRun({ status: "cancelled" }))).to.include("lost");
  });

  it("finds a run that did not end, and one that still owes something", () => {
    expect(kinds(withRun({ status: "running" }))).to.include("stuck");
    expect(kinds(withRun({ settled: false }))).to.deep.equal(["stuck"]);
  });

  it("finds an acknowledged trigger without a run, two that share one, and a run that nobody asked for", () => {
    const { acknowledged, ...rest } = honest();
    const [one] = acknowledged;
    expect(kinds({ ...rest, acknowledged: [one!, { ...one!, requestId: "r-2", runId: "run-2" }] })).to.deep.equal([
      "lost",
    ]);
    expect(kinds({ ...rest, acknowledged: [one!, { ...one!, requestId: "r-2" }] })).to.deep.equal(["lost"]);
    expect(kinds({ ...rest, acknowledged: [] })).to.deep.equal(["doubled"]);
  });

  it("finds a run that ended otherwise than it should", () => {
    const { acknowledged, ...rest } = honest();
    expect(kinds({ ...rest, acknowledged: [{ ...acknowledged[0]!, ends: ["success"] }] })).to.deep.equal(["wrong"]);
  });

  it("finds a step that was started twice, and one that left no mark", () => {
    const { marks, ...rest } = honest();
    expect(kinds({ ...rest, marks: marks.toSpliced(2, 0, marks[2]!) })).to.deep.equal(["doubled"]);
    expect(kinds({ ...rest, marks: marks.filter(({ stepRunId }) => stepRunId !== "a2-0") })).to.deep.equal(["lost"]);
  });

  it("finds two attempts that run at once, and a step that outlives its end", () => {
    const { marks, ...rest } = honest();
    const late: Mark = { ...marks[1]!, at: T0 + 14_900 };
    expect(kinds({ ...rest, marks: marks.with(1, late) })).to.deep.equal(["doubled", "doubled"]);
  });

  it("finds a step that ran without the store's knowledge, and one that ran although it was skipped", () => {
    const { marks, ...rest } = honest();
    const stray = (stepRunId: string): Mark => ({ ...marks[4]!, stepRunId });
    expect(kinds({ ...rest, marks: [...marks, stray("x-0")] })).to.deep.equal(["lost"]);
    expect(kinds({ ...rest, marks: [...marks, stray("b1-1")] })).to.deep.equal(["wrong"]);
  });

  it("finds lines that a viewer missed, saw twice, or saw out of order", () => {
    const { logs, ...rest } = honest();
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

  it("finds lines that are said to be lost, unless they died with their agent", () => {
    const { logs, ...rest } = honest();
    const seen = [lineOf(1), { number: 2, text: "lines 2-3 lost", lostThrough: 3 }];
    const lacking = { ...rest, logs: [{ ...logs[0]!, seen }] };
    expect(kinds(lacking)).to.deep.equal(["lost"]);
    const ended = rest.runs[0]!.events.findLast(({ stepRunId }) => stepRunId === "a2-0")!.timeMs;
    const killed = (agentId: string, at: number) => kinds({ ...lacking, agentKills: [{ agentId, at }] });
    expect(killed("agent of a2", ended + 2_000)).to.deep.equal([]);
    expect(killed("agent of a2", ended + 60_000)).to.deep.equal(["lost"]);
    expect(killed("agent of b1", ended + 2_000)).to.deep.equal(["lost"]);
  });

  it("allows a run to fail whose job lost two agents, and nothing else", () => {
    const evidence = withRun({});
    const [run] = evidence.runs;
    const [a1, a2, b1] = run!.jobs;
    const lost = { ...a2!, status: "failed" as const, reason: "agent_lost" };
    const wanted = { ...evidence, acknowledged: [{ ...evidence.acknowledged[0]!, ends: ["success"] as const }] };
    expect(kinds(wanted)).to.include("wrong");
    expect(kinds({ ...wanted, runs: [{ ...run!, jobs: [a1!, lost, b1!] }] })).not.to.include("wrong");
  });

  it("reports every dead letter", () => {
    expect(kinds({ ...honest(), deadLetters: ["a message of no state"] })).to.deep.equal(["wrong"]);
  });

  it("finds a step that was given what its secret never was, or was no more, or not yet", () => {
    const evidence = honest();
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

  it("finds a step that does not tell of a secret that it reads, unless it did not come to its end", () => {
    const { secretsGiven: _, ...rest } = honest();
    const silent = { ...rest, secretsGiven: [] };
    expect(kinds(silent)).to.deep.equal(["lost"]);
    const killed = rest.marks.filter(({ stepRunId, word }) => stepRunId !== "a2-0" || word !== "end");
    expect(check({ ...silent, marks: killed }).map(({ text }) => text)).to.deep.equal(
      check({ ...honest(), marks: killed }).map(({ text }) => text),
    );
  });

  it("reports every value that was found, and where", () => {
    const leak = { secret: "version 1 of project/TOKEN", form: "in base64", place: "table events", detail: "" };
    const found = check({ ...honest(), leaks: [leak, { ...leak, detail: "run-1" }] });
    expect(found.map(({ kind, text }) => `${kind}: ${text}`)).to.deep.equal([
      "leaked: version 1 of project/TOKEN stands in base64 in table events",
      "leaked: version 1 of project/TOKEN stands in base64 in table events (run-1)",
    ]);
  });

  it("finds runs that worked at the same time and may not, and jobs", () => {
    const evidence = honest();
    const [asked] = evidence.acknowledged;
    const [run] = evidence.runs;
    // As the other run did, 500 ms later.
    const other: RunEvidence = {
      ...run!,
      runId: "run-2",
      jobs: run!.jobs.map((job) => ({
        ...job,
        steps: job.steps.map((each) => ({ ...each, stepRunId: `x-${each.stepRunId}` })),
      })),
    };
    const later = evidence.marks.map((each) => ({ ...each, stepRunId: `x-${each.stepRunId}`, at: each.at + 500 }));
    const two = (unit: "run" | "job", kind = "deploy"): Evidence => ({
      ...evidence,
      acknowledged: [
        { ...asked!, alone: { unit, kind: "deploy" } },
        { ...asked!, requestId: "r-2", runId: "run-2", alone: { unit, kind } },
      ],
      runs: [run!, other],
      marks: [...evidence.marks, ...later],
    });
    const textsOf = (given: Evidence) => checkAlone(given).map(({ text }) => text);
    expect(textsOf(two("run")))
      .to.have.length(1)
      .and.to.match(/^run run-1 and run run-2 worked at the same time/);
    expect(textsOf(two("job"))).to.have.length(2);
    expect(textsOf(two("run", "another"))).to.deep.equal([]);
    const apart = two("run").marks.map((each) =>
      each.stepRunId.startsWith("x-") ? { ...each, at: each.at + 60_000 } : each,
    );
    expect(textsOf({ ...two("run"), marks: apart })).to.deep.equal([]);
  });
});
