import { expect } from "chai";
import { compareTold, NOTIFICATION, WEBHOOK } from "./load/told-follower.ts";

type Runs = Parameters<typeof compareTold>[1];
const runWith = (...events: readonly object[]): Runs => [
  { runId: "run_1", events: events.map((event, at) => ({ number: at + 1, ...event })) as never },
];
const toldOf = (all: Readonly<Record<string, readonly string[]>>) =>
  new Map(Object.entries(all).map(([key, said]) => [key, new Set(said)]));
const kinds = (...given: Parameters<typeof compareTold>) => compareTold(...given).map(({ kind }) => kind);

describe("the comparison of what a webhook told with what is stored", () => {
  const event = { object: "job", lifecycle: "queued", status: "queued" };
  const runs = runWith(event, event);
  const told = (more: Readonly<Record<string, readonly string[]>> = {}) =>
    toldOf({ "run_1/1": ["svc.job.queued queued"], "run_1/2": ["svc.job.queued queued"], ...more });

  it("accepts what was told as it is stored, and of runs that are removed", () => {
    expect(kinds(told({ "run_gone/1": ["svc.job.queued queued"] }), runs, WEBHOOK)).to.deep.equal([]);
  });

  it("finds an event that was not told", () => {
    const left = told();
    left.delete("run_1/2");
    expect(kinds(left, runs, WEBHOOK)).to.deep.equal(["lost"]);
  });

  it("finds an event that is not stored, that says something else, and that says two things", () => {
    expect(kinds(told({ "run_1/3": ["svc.job.queued queued"] }), runs, WEBHOOK)).to.deep.equal(["wrong"]);
    expect(kinds(told({ "run_1/2": ["svc.job.started running"] }), runs, WEBHOOK)).to.deep.equal(["wrong"]);
    const two = told({ "run_1/2": ["svc.job.queued queued", "svc.job.queued running"] });
    expect(kinds(two, runs, WEBHOOK)).to.deep.equal(["wrong"]);
  });
});

describe("the comparison of what notifications told with what is stored", () => {
  const runs = runWith(
    { object: "job", lifecycle: "failed", status: "failed" },
    { object: "approval", lifecycle: "requested", status: "pending" },
    { object: "pipeline", lifecycle: "failed", status: "failed" },
  );

  it("demands the ends of runs and their approvals, and nothing else", () => {
    const told = { "run_1/2": ["svc.notification.approval"], "run_1/3": ["svc.notification.failure"] };
    expect(kinds(toldOf(told), runs, NOTIFICATION)).to.deep.equal([]);
    expect(kinds(toldOf({}), runs, NOTIFICATION)).to.deep.equal(["lost", "lost"]);
    const more = { ...told, "run_1/1": ["svc.notification.failure"], "run_1/3": ["svc.notification.success"] };
    expect(kinds(toldOf(more), runs, NOTIFICATION)).to.deep.equal(["wrong", "wrong"]);
  });
});
