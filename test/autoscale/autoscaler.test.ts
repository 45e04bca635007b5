import { expect } from "chai";
import { Autoscaler, type Observation } from "../../src/autoscale/autoscaler.ts";
import { SILENT } from "../agent/test-agent.ts";

describe("the autoscaler", () => {
  let now: number;
  let living: number[];
  let stopped: number[];
  let scaler: Autoscaler;
  beforeEach(() => {
    now = 0;
    living = [];
    stopped = [];
    scaler = new Autoscaler({
      slots: {
        living: () => living,
        start: () => living.push(living.length + 1),
        stop: (slot) => void stopped.push(slot),
      },
      bounds: { min: 0, max: 5, jobsPerAgent: 1, idleMs: 60_000 },
      nameOf: (slot) => `auto-${slot}`,
      clock: { monotonic: () => now },
      log: SILENT,
    });
  });

  const seen = (waiting: number, busy: Record<string, number> = {}): Observation => ({
    waiting,
    online: new Map(Object.entries(busy).map(([name, jobs]) => [name, { busy: jobs, draining: false }])),
  });

  it("starts an agent for each job that waits once, and stops what stays idle", () => {
    scaler.adjust(seen(2));
    scaler.adjust(seen(2));
    expect(living).to.deep.equal([1, 2]);
    scaler.adjust(seen(1, { "auto-1": 1, "auto-2": 0 }));
    now += 59_000;
    scaler.adjust(seen(0, { "auto-1": 1, "auto-2": 0 }));
    expect(stopped).to.deep.equal([]);
    now += 1_000;
    scaler.adjust(seen(0, { "auto-1": 1, "auto-2": 0 }));
    expect(stopped).to.deep.equal([2]);
  });

  it("starts ever more rarely while starts fail, and at once again after an agent was online", () => {
    const fail = () => {
      const slot = living.pop()!;
      scaler.ended({ slot, code: 1, ranMs: 100, logFile: "log" });
    };
    const startedAfter = (ms: number) => {
      now += ms;
      scaler.adjust(seen(1));
      return living.length === 1;
    };
    scaler.adjust(seen(1));
    fail();
    expect([startedAfter(4_999), startedAfter(1)]).to.deep.equal([false, true]);
    fail();
    expect([startedAfter(9_999), startedAfter(1)]).to.deep.equal([false, true]);
    scaler.adjust(seen(1, { "auto-1": 1 }));
    living.pop();
    scaler.ended({ slot: 1, code: 1, ranMs: 100, logFile: "log" });
    expect(startedAfter(0)).to.equal(true);
  });
});
