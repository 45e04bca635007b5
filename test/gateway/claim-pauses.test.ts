import { expect } from "chai";
import { ClaimPauses } from "../../src/gateway/claim-pauses.ts";
import { asId, type AgentId } from "../../src/domain/ids.ts";

const [BROKEN, WHOLE] = [asId<AgentId>("agt_BROKEN"), asId<AgentId>("agt_WHOLE")];

describe("an agent that could not start a step", () => {
  let now: number;
  let pauses: ClaimPauses;
  beforeEach(() => {
    now = 1_000;
    pauses = new ClaimPauses({ monotonic: () => now });
  });

  /** Fails once it may take jobs again; answers for how long it then pauses. */
  function pauseMs(): number {
    pauses.hear(BROKEN, "notStarted");
    const from = now;
    while (pauses.isPaused(BROKEN)) now += 1_000;
    return now - from;
  }

  it("takes no jobs for a while, and others do", () => {
    pauses.hear(BROKEN, "notStarted");
    expect([pauses.isPaused(BROKEN), pauses.isPaused(WHOLE)]).to.deep.equal([true, false]);
    now += 10_000;
    expect(pauses.isPaused(BROKEN)).to.equal(false);
  });

  it("pauses for longer each time, up to five minutes", () => {
    const seconds = Array.from({ length: 7 }, () => pauseMs() / 1_000);
    expect(seconds).to.deep.equal([10, 20, 40, 80, 160, 300, 300]);
  });

  it("counts steps that fail at once as one failure", () => {
    for (let count = 0; count < 5; count++) pauses.hear(BROKEN, "notStarted");
    now += 10_000;
    expect(pauses.isPaused(BROKEN)).to.equal(false);
  });

  it("begins with a clean slate once it has started one", () => {
    pauseMs();
    pauses.hear(BROKEN, "failed");
    expect(pauseMs()).to.equal(20_000);
    pauses.hear(BROKEN, "started");
    expect(pauseMs()).to.equal(10_000);
  });
});
