import { expect } from "chai";
import { ClaimPauses } from "../../src/gateway/claim-pauses.ts";
import { asId, type AgentId } from "../../src/domain/ids.ts";

const [BROKEN, WORKING] = [asId<AgentId>("agt_BROKEN"), asId<AgentId>("agt_WORKING")];

describe("an agent that could not start a step", () => {
  let now: number;
  let pauses: ClaimPauses;
  beforeEach(() => {
    now = 1_000;
    pauses = new ClaimPauses({ monotonic: () => now });
  });

  /** Fails to start a step, and answers how long the agent then pauses. */
  function pauseMs(): number {
    pauses.learnFrom(BROKEN, "notStarted");
    const from = now;
    while (pauses.isPaused(BROKEN)) now += 1_000;
    return now - from;
  }

  it("claims no jobs during a pause, while other agents do", () => {
    pauses.learnFrom(BROKEN, "notStarted");
    expect([pauses.isPaused(BROKEN), pauses.isPaused(WORKING)]).to.deep.equal([true, false]);
    now += 10_000;
    expect(pauses.isPaused(BROKEN)).to.equal(false);
  });

  it("pauses for longer each time, up to five minutes", () => {
    const seconds = Array.from({ length: 7 }, () => pauseMs() / 1_000);
    expect(seconds).to.deep.equal([10, 20, 40, 80, 160, 300, 300]);
  });

  it("counts steps that fail at once as one failure", () => {
    for (let count = 0; count < 5; count++) pauses.learnFrom(BROKEN, "notStarted");
    now += 10_000;
    expect(pauses.isPaused(BROKEN)).to.equal(false);
  });

  it("has the shortest pause again after it has started a step", () => {
    pauseMs();
    pauses.learnFrom(BROKEN, "failed");
    expect(pauseMs()).to.equal(20_000);
    pauses.learnFrom(BROKEN, "started");
    expect(pauseMs()).to.equal(10_000);
  });
});
