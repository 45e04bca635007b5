/** The critical path, the replay and links to lines. */
import { expect } from "chai";
import { waterfallOf } from "../../web/src/run/critical-path.ts";
import { linesHash, readLines } from "../../web/src/run/log/line-links.ts";
import { causeText, Replay } from "../../web/src/run/replay.ts";
import { readTransition } from "../../web/src/run/run-event.ts";
import { mainWait, nextJob, reasonText, stepToShow } from "../../web/src/run/run-facts.ts";
import { type Job, type Run, viewOf } from "../../web/src/run/run-view.ts";

const BEGIN = Date.parse("2026-11-27T10:00:00.000Z");
const at = (ms: number): string => new Date(BEGIN + ms).toISOString();

interface Shape {
  readonly name: string;
  readonly stage?: string;
  readonly needs?: readonly string[];
  readonly waits?: Partial<Record<"plan" | "stage" | "needs" | "paused" | "agent" | "start", number>>;
  readonly from?: number;
  readonly to?: number;
  readonly status?: Job["status"];
  readonly waitingFor?: { readonly reason: string; readonly text: string };
}

function runOf(shapes: readonly Shape[]) {
  const jobs = shapes.map(({ name, stage = "s", needs = [], waits = {}, from, to, status = "success", waitingFor }) => {
    const startTime = from === undefined ? null : at(from);
    const endTime = to === undefined ? null : at(to);
    const timing = { triggeredAt: at(0), waits: { ...waits } };
    const step = {
      stepRunId: `step ${name}`,
      name: "run",
      status,
      startTime,
      endTime,
      retriedBy: null,
      retryOf: null,
      reusedFrom: null,
      timing,
    };
    const job = {
      jobId: name,
      name,
      stage,
      needs,
      matrix: {},
      status,
      startTime,
      endTime,
      attempt: 1,
      retryOf: null,
      reusedFrom: null,
    };
    return { ...job, waitingFor: waitingFor ?? null, steps: [step] };
  });
  const end = { status: "running", createdAt: at(0), endTime: null, waitingFor: null, approvals: [], eventNumber: 0 };
  return viewOf({ ...end, jobs } as unknown as Run);
}

describe("the reason of an end", () => {
  it("is told in words", () => {
    expect(["step_failed", "fail_fast", "exit code 1", "a_b is wrong", ""].map(reasonText)).to.deep.equal([
      "step failed",
      "fail fast",
      "exit code 1",
      "a_b is wrong",
      "",
    ]);
  });
});

describe("the waterfall of a run", () => {
  it("names the chain of jobs that ended last, and what they spent their time on", () => {
    const view = runOf([
      { name: "compile", waits: { plan: 10, agent: 90, start: 20 }, from: 120, to: 1_000 },
      { name: "lint", waits: { plan: 10 }, from: 10, to: 200 },
      { name: "unit", needs: ["compile"], waits: { plan: 10, needs: 990, agent: 500 }, from: 1_500, to: 3_000 },
      { name: "ship", stage: "t", waits: { plan: 10, stage: 2_990, start: 40 }, from: 3_040, to: 3_500 },
    ]);
    const { path, spent, lengthMs } = waterfallOf(view, 0);
    expect([...path]).to.deep.equal(["compile", "unit", "ship"]);
    expect(Object.fromEntries(spent)).to.deep.equal({ plan: 10, agent: 590, start: 60, run: 2_840 });
    expect(lengthMs).to.equal(3_500);
  });

  it("lets what goes on end now, and gives no length to a bar that would end before it begins", () => {
    const view = runOf([
      { name: "long", from: 100, status: "running" },
      { name: "odd", from: 500, to: 400 },
    ]);
    const { rows } = waterfallOf(view, BEGIN + 900);
    expect(rows[0]!.spans.at(-1)).to.deep.equal({ kind: "run", from: 100, to: 900 });
    expect(rows[1]!.spans.at(-1)).to.deep.equal({ kind: "run", from: 500, to: 500 });
  });
});

describe("the replay of a run", () => {
  const view = runOf([{ name: "a", from: 0, to: 1 }]);
  const event = (number: number, lifecycle: string, status: string) =>
    readTransition({
      number,
      time: at(number),
      object: "job",
      lifecycle,
      status,
      jobId: "a",
      stepRunId: null,
      name: "a",
      cause: "claimRequested",
      by: "agt_1",
    } as Parameters<typeof readTransition>[0]);
  const words = ["queued", "started", "completed"] as const;
  const events = words.map((word, index) => event(index + 1, word, ["queued", "running", "success"][index]!));

  it("shows the run as it was after each event, in both directions", () => {
    const replay = new Replay(view, events);
    const seen = [3, 0, 2, 1].map((count) => replay.at(count).jobs[0]!.newest.status);
    expect(seen).to.deep.equal(["success", "pending", "running", "queued"]);
  });

  it("passes checkpoints without a difference", () => {
    const many = Array.from({ length: 250 }, (_, index) => event(index + 1, "queued", "queued"));
    const replay = new Replay(view, many);
    expect([250, 99, 100, 101, 200, 5].map((count) => replay.at(count).number)).to.deep.equal([
      250, 99, 100, 101, 200, 5,
    ]);
  });

  it("names the cause of an event in words", () => {
    expect(causeText(events[0]!)).to.equal("an agent has asked for it (agt_1)");
    expect(causeText(events[0]!, new Map([["agt_1", "build-1"]]))).to.equal("an agent has asked for it (build-1)");
    expect(causeText({ ...events[0]!, cause: "queueTimeout", by: "" })).to.equal("queue timeout");
  });
});

describe("questions about a run", () => {
  it("name the wait that a person can end before others", () => {
    const view = runOf([
      { name: "a", status: "queued", waitingFor: { reason: "all_busy", text: "busy" } },
      { name: "b", status: "queued", waitingFor: { reason: "no_agent_matches", text: "none" } },
      { name: "c", status: "pending", waitingFor: { reason: "needs", text: "a" } },
    ]);
    expect(mainWait(view)?.job?.name).to.equal("b");
    expect(mainWait(runOf([{ name: "c", status: "pending", waitingFor: { reason: "needs", text: "a" } }]))).to.equal(
      null,
    );
  });

  it("find the next job of a kind, and begin again after the last", () => {
    const view = runOf([{ name: "a", status: "failed" }, { name: "b" }, { name: "c", status: "failed" }]);
    const failed = (after: string | null) => nextJob(view, after, ({ newest }) => newest.status === "failed")?.key;
    expect([failed(null), failed("a"), failed("c")]).to.deep.equal(["a", "c", "a"]);
    expect(stepToShow(view.jobs[0]!.newest)?.stepRunId).to.equal("step a");
  });
});

describe("links to lines of a log", () => {
  it("name a line or several, in any order", () => {
    expect(readLines("#L10")).to.deep.equal({ from: 10, to: 10 });
    expect(readLines("#L20-L10")).to.deep.equal({ from: 10, to: 20 });
    for (const lines of [
      { from: 1, to: 1 },
      { from: 3, to: 9 },
    ])
      expect(readLines(linesHash(lines))).to.deep.equal(lines);
    for (const hash of ["", "#L0", "#Lx", "#L1-", "#L1e9", "#L99999999999"]) expect(readLines(hash)).to.equal(null);
  });
});
