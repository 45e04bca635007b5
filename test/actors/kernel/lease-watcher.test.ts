import { expect } from "chai";
import { LeaseWatcher } from "../../../actors/kernel/lease-watcher.ts";
import { type AgentId, asId, type RunId } from "../../../src/domain/ids.ts";
import { systemTimers } from "../../../src/domain/clock.ts";
import { PLACE_MS } from "../../../src/board/board.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";
import { until } from "../../support/until.ts";

describe("the lease watcher", () => {
  let now: number;
  let checks: number;
  let lost: string[];
  let losses: number;
  let ports: RecordingPorts;
  let watcher: LeaseWatcher;

  beforeEach(() => {
    [now, checks, lost, losses] = [0, 0, [], 0];
    ports = new RecordingPorts();
    watcher = new LeaseWatcher({
      presence: {
        read: () => Promise.resolve((checks++, new Map())),
        declareLost: (agentId, bootId) => {
          if (ports.outage) return Promise.reject(new Error("no Redis"));
          lost.push(`${agentId}/${bootId}`);
          return Promise.resolve();
        },
      },
      board: ports.board,
      clock: { now: () => now, monotonic: () => now },
      timers: systemTimers,
      log: silentLog,
      watchMs: 1,
      lossMarginMs: 1_000_000,
    });
    for (const [id, quotas] of [
      ["job_1", ["project:default", "label:pool=gpu"]],
      ["job_2", []],
    ] as const) {
      const holder = { agentId: asId<AgentId>("agt_A"), bootId: "b", leaseMs: 30_000, quotas };
      watcher.watch(id, { shard: 0, rootId: asId<RunId>("run_1"), holder, onLost: () => losses++ });
    }
    watcher.start();
  });
  afterEach(() => watcher.stop());

  const someChecks = async () => {
    const enough = checks + 3;
    await until("some checks", () => checks >= enough);
  };
  const PLACE = { jobId: "job_1", quotas: ["project:default", "label:pool=gpu"] };

  it("renews the places of bound jobs in quotas well before they expire", async () => {
    await someChecks();
    expect(ports.occupied).to.deep.equal([PLACE]);
    now += PLACE_MS / 2;
    await someChecks();
    expect(ports.occupied).to.deep.equal([PLACE, PLACE]);
  });

  it("tries again with each check while Redis is away", async () => {
    ports.outage = true;
    await someChecks();
    ports.outage = false;
    await someChecks();
    expect(ports.occupied).to.deep.equal([PLACE]);
  });

  it("declares an agent lost once, as soon as Redis can be reached", async () => {
    const passLease = async () => {
      // Not in one step, which would be a break.
      for (let passed = 0; passed <= 1_030_000; passed += 2) {
        now += 2;
        await watcher.check();
      }
    };
    watcher.stop();
    ports.outage = true;
    await passLease();
    expect(losses).to.be.above(0);
    expect(lost).to.deep.equal([]);
    ports.outage = false;
    for (let at = 0; at < 5; at++) await watcher.check();
    expect(lost).to.deep.equal(["agt_A/b"]);
  });

  it("renews the places of a job no more once the job has ended", async () => {
    await someChecks();
    watcher.unwatch("job_1");
    now += PLACE_MS;
    await someChecks();
    expect(ports.occupied).to.have.length(1);
  });
});
