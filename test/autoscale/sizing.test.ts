import { expect } from "chai";
import { changeSize, type SizedAgent } from "../../src/autoscale/sizing.ts";

const BOUNDS = { min: 1, max: 4, jobsPerAgent: 1, idleMs: 1_000 };
const agents = (...states: SizedAgent["state"][]): SizedAgent[] =>
  states.map((state, at) => ({ slot: at + 1, state, idleMs: state === "idle" ? 1_000 + at : 0 }));

describe("the number of agents", () => {
  it("follows the jobs that wait, between the bounds", () => {
    const started = [0, 1, 2, 9].map((waiting) => changeSize(waiting, [], BOUNDS).start);
    expect(started).to.deep.equal([1, 1, 2, 4]);
    expect(changeSize(9, [], { ...BOUNDS, jobsPerAgent: 4 }).start).to.equal(3);
    expect(changeSize(0, [], { ...BOUNDS, min: 0 })).to.deep.equal({ start: 0, stop: [] });
  });

  it("counts agents that are idle or begin for the jobs that wait, and no others", () => {
    expect(changeSize(2, agents("idle", "starting"), BOUNDS).start).to.equal(0);
    expect(changeSize(2, agents("busy", "ending"), BOUNDS).start).to.equal(2);
    expect(changeSize(3, agents("busy", "busy", "busy"), BOUNDS).start).to.equal(1);
  });

  it("shrinks by the agents that have been idle for longest, and by no agent that works or begins", () => {
    expect(changeSize(0, agents("idle", "idle", "idle"), BOUNDS).stop).to.deep.equal([3, 2]);
    expect(changeSize(1, agents("busy", "idle", "idle"), BOUNDS).stop).to.deep.equal([3]);
    expect(changeSize(0, agents("busy", "ending", "starting"), BOUNDS).stop).to.deep.equal([]);
    const fresh = agents("idle", "idle").map((agent) => ({ ...agent, idleMs: 999 }));
    expect(changeSize(0, fresh, BOUNDS).stop).to.deep.equal([]);
    expect(changeSize(9, agents("idle", "idle"), { ...BOUNDS, min: 0, max: 1 }).stop).to.deep.equal([2]);
  });
});
