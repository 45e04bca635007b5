import { expect } from "chai";
import { compareTold } from "./load/webhook-follower.ts";

describe("the comparison of what a webhook told with what is stored", () => {
  const event = (number: number) =>
    ({ number, object: "job", lifecycle: "queued", status: "queued" }) as Parameters<
      typeof compareTold
    >[1][number]["events"][number];
  const runs = [{ runId: "run_1", events: [event(1), event(2)] }];
  const told = (more: Readonly<Record<string, readonly string[]>> = {}) => {
    const all = { "run_1/1": ["svc.job.queued queued"], "run_1/2": ["svc.job.queued queued"], ...more };
    return new Map(Object.entries(all).map(([key, said]) => [key, new Set(said)]));
  };
  const kinds = (...given: Parameters<typeof compareTold>) => compareTold(...given).map(({ kind }) => kind);

  it("accepts what was told as it is stored, and of runs that are removed", () => {
    expect(kinds(told({ "run_gone/1": ["svc.job.queued queued"] }), runs)).to.deep.equal([]);
  });

  it("finds an event that was not told", () => {
    const left = told();
    left.delete("run_1/2");
    expect(kinds(left, runs)).to.deep.equal(["lost"]);
  });

  it("finds an event that is not stored, that says something else, and that says two things", () => {
    expect(kinds(told({ "run_1/3": ["svc.job.queued queued"] }), runs)).to.deep.equal(["wrong"]);
    expect(kinds(told({ "run_1/2": ["svc.job.started running"] }), runs)).to.deep.equal(["wrong"]);
    expect(kinds(told({ "run_1/2": ["svc.job.queued queued", "svc.job.queued running"] }), runs)).to.deep.equal([
      "wrong",
    ]);
  });
});
