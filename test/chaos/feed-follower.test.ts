import { expect } from "chai";
import { compareSeen, type SeenEvent, type SeenState } from "./load/feed-follower.ts";

describe("the comparison of what a viewer saw with what is stored", () => {
  type Runs = Parameters<typeof compareSeen>[1];
  const event = (number: number) =>
    ({ number, object: "job", lifecycle: "queued", status: "queued" }) as Runs[number]["events"][number];
  const runs: Runs = [{ runId: "run_1", status: "success", events: [event(1), event(2)] }];
  const seen = (number: number): SeenEvent => ({ number, eventType: "svc.job.queued", status: "queued" });
  const kinds = (state: SeenState, events: readonly SeenEvent[], wentBack: readonly string[] = []) =>
    compareSeen({ states: new Map([["run_1", state]]), events: new Map([["run_1", events]]), wentBack }, runs).map(
      ({ kind }) => kind,
    );
  const ended = { status: "success", eventNumber: 2 } as const;

  it("accepts what is stored, and runs of which the viewer knows nothing", () => {
    expect(kinds(ended, [seen(1), seen(2)])).to.deep.equal([]);
    expect(compareSeen({ states: new Map(), events: new Map(), wentBack: [] }, runs)).to.deep.equal([]);
  });

  it("finds a run that ended and is shown as live, and a state that went back", () => {
    expect(kinds({ status: "running", eventNumber: 1 }, [seen(1), seen(2)])).to.deep.equal(["wrong"]);
    expect(kinds(ended, [seen(1), seen(2)], ["it went back"])).to.deep.equal(["wrong"]);
  });

  it("finds an event that is missing, doubled, out of order, or another one", () => {
    expect(kinds(ended, [seen(1)])).to.deep.equal(["lost"]);
    expect(kinds(ended, [seen(1), seen(1), seen(2)])).to.deep.equal(["wrong", "wrong"]);
    expect(kinds(ended, [seen(2), seen(1)])).to.deep.equal(["wrong", "wrong"]);
    expect(kinds(ended, [seen(1), { ...seen(2), status: "running" }])).to.deep.equal(["wrong"]);
  });
});
