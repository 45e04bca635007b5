/** Evidence of a scenario in which every promise was kept, for tests of the checker. */
import type {
  ActorEvidence,
  Evidence,
  JobEvidence,
  Mark,
  RunEvidence,
  StepEvidence,
  Transition,
} from "./check/evidence.ts";
import { type Definition, type LoadStep, step as stepOf } from "./load/step.ts";

/** When the run of {@link validEvidence} begins. */
export const T0 = 1_700_000_000_000;

export const DEFINITION: Definition = {
  jobs: [
    { name: "a", steps: [stepOf("ledger", "works")] },
    { name: "b", steps: [stepOf("ledger", "fails", { exitCode: 3 }), stepOf("ledger", "never")] },
  ],
};
/** The definition with the job of which a rerun reuses the result. */
export const WITH_OLD: Definition = {
  jobs: [...DEFINITION.jobs!, { name: "old", steps: [stepOf("ledger", "works")] }],
};

/**
 * Evidence without a violation: a run of two jobs. The first job loses its agent and is retried; the second fails and
 * skips its last step.
 */
export function validEvidence(): Evidence {
  const events: Transition[] = [];
  const publish = (subject: Partial<Transition>, lifecycle: Transition["lifecycle"], status: string): void => {
    const number = events.length + 1;
    const blank = { object: "pipeline", jobId: null, stepRunId: null } as const;
    events.push({ ...blank, ...subject, lifecycle, status, number, timeMs: T0 + number * 1_000 });
  };
  const run = {} as const;
  const job = (jobId: string) => ({ object: "job", jobId }) as const;
  const step = (jobId: string, stepRunId: string) => ({ object: "step", jobId, stepRunId }) as const;
  publish(run, "created", "pending");
  publish(run, "started", "running");
  publish(job("a1"), "queued", "queued");
  publish(job("a1"), "started", "running");
  publish(step("a1", "a1-0"), "queued", "queued");
  publish(step("a1", "a1-0"), "started", "running");
  publish(run, "paused", "paused");
  publish(run, "resumed", "running");
  publish(step("a1", "a1-0"), "failed", "failed");
  publish(job("a1"), "failed", "failed");
  publish(job("a2"), "retried", "pending");
  publish(job("a2"), "queued", "queued");
  publish(job("a2"), "started", "running");
  publish(step("a2", "a2-0"), "queued", "queued");
  publish(step("a2", "a2-0"), "started", "running");
  publish(step("a2", "a2-0"), "completed", "success");
  publish(job("a2"), "completed", "success");
  publish(job("b1"), "queued", "queued");
  publish(job("b1"), "started", "running");
  publish(step("b1", "b1-0"), "queued", "queued");
  publish(step("b1", "b1-0"), "started", "running");
  publish(step("b1", "b1-0"), "failed", "failed");
  publish(job("b1"), "failed", "failed");
  publish(step("b1", "b1-1"), "skipped", "skipped");
  publish(run, "failed", "failed");

  const mark = (word: Mark["word"], jobId: string, stepRunId: string, second: number): Mark => {
    return { word, jobId, stepRunId, at: T0 + second * 1_000 - 500 };
  };
  const failed: StepEvidence = { ...plain("b1-0"), status: "failed", reason: "exit" };
  return {
    acknowledged: [
      {
        requestId: "r-1",
        runId: "run-1",
        definition: DEFINITION,
        vote: "approve",
        repeats: null,
        ends: ["failed"],
        exclusion: null,
      },
    ],
    pauses: [{ runId: "run-1", resumeSentAt: T0 + 7_900 }],
    unansweredPauses: [],
    stops: [],
    votes: [],
    runs: [
      consistent({
        runId: "run-1",
        startedBy: null,
        status: "failed",
        settled: true,
        owed: 0,
        eventNumber: events.length,
        events,
        approvals: [],
        jobs: [
          attempt("a1", 0, 1, "failed", "agent_lost", [{ ...plain("a1-0"), status: "failed", reason: "agent_lost" }]),
          attempt("a2", 0, 2, "success", "", [{ ...plain("a2-0"), token: 2, secrets: 1 }]),
          attempt("b1", 1, 1, "failed", "", [failed, { ...failed, stepRunId: "b1-1", index: 1, status: "skipped" }]),
        ],
      }),
    ],
    marks: [
      mark("start", "a1", "a1-0", 6),
      mark("beat", "a1", "a1-0", 7),
      mark("start", "a2", "a2-0", 15),
      mark("end", "a2", "a2-0", 16),
      mark("start", "b1", "b1-0", 21),
      mark("end", "b1", "b1-0", 22),
    ],
    logs: [{ stepRunId: "a2-0", written: 3, mayOverflow: false, seen: [1, 2, 3].map(lineOf) }],
    absences: [{ agentId: "agent of a1", how: "killed", fromMs: T0 + 8_500, untilMs: T0 + 9_000 }],
    outages: [],
    disturbances: [],
    deadLetters: [],
    secretVersions: [
      { secret: "project/TOKEN", number: 1, sum: "aa", fromMs: T0, untilMs: T0 + 14_000 },
      { secret: "project/TOKEN", number: 2, sum: "bb", fromMs: T0 + 13_000, untilMs: Infinity },
    ],
    secretsGiven: [{ stepRunId: "a2-0", secret: "project/TOKEN", sum: "aa" }],
    leaks: [],
    starts: [],
    statuses: [],
    kills: 1,
    hasZombies: false,
  };
}

export function plain(stepRunId: string): StepEvidence {
  return { stepRunId, index: 0, attempt: 1, status: "success", reason: "", token: 1, reused: false };
}

/** The run with the actors and projections that its jobs and steps have. */
export function consistent(run: Omit<RunEvidence, "actors" | "rows">): RunEvidence {
  const actorOf = (kind: string, id: string, phase: string, attempt = 1): ActorEvidence => {
    return { kind, id, phase, attempt, agentId: null, state: { phase } };
  };
  const actors = [
    actorOf("run", run.runId, run.status),
    ...run.jobs.flatMap(({ jobId, status, attempt: number, steps }) => [
      actorOf("job", jobId, status, number),
      ...steps.map((step) => actorOf("step", step.stepRunId, step.status, step.attempt)),
    ]),
  ];
  const rows = actors.flatMap(({ phase, ...actor }) =>
    actor.kind === "run" ? [] : [{ ...actor, status: phase, position: 0, jobId: null }],
  );
  return { ...run, actors, rows: { before: rows, after: rows } };
}

export function lineOf(number: number) {
  return { number, text: `line ${number}`, lostThrough: null };
}

export function talks(talker: LoadStep): LoadStep {
  return talker.env?.["EXIT_CODE"] === 0 || talker.name === "fails"
    ? { ...talker, env: { ...talker.env, LINES_TO_SAY: 3 } }
    : talker;
}

export function attempt(
  jobId: string,
  index: number,
  number: number,
  status: "failed" | "success",
  reason: string,
  steps: readonly StepEvidence[],
): JobEvidence {
  return {
    jobId,
    index,
    name: jobId.replace(/\d/, ""),
    values: [],
    cell: null,
    attempt: number,
    status,
    reason,
    agentId: `agent of ${jobId}`,
    token: number,
    leaseMs: 30_000,
    reused: false,
    steps,
  };
}
