import { expect } from "chai";
import { LeaseWatcher } from "../../../actors/kernel/lease-watcher.ts";
import { type AgentId, asId } from "../../../src/domain/ids.ts";
import { PLACE_MS } from "../../../src/dispatch/board.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";
import { until } from "../../support/until.ts";

describe("the watcher of bound jobs", () => {
  let now: number;
  let looks: number;
  let ports: RecordingPorts;
  let watcher: LeaseWatcher;

  beforeEach(() => {
    [now, looks] = [0, 0];
    ports = new RecordingPorts();
    watcher = new LeaseWatcher({
      presence: { read: () => Promise.resolve((looks++, new Map())) },
      board: ports.board,
      clock: { now: () => now, monotonic: () => now },
      log: silentLog,
      watchMs: 1,
      lossMarginMs: 1_000_000,
    });
    for (const [id, quotas] of [
      ["job_1", ["project:default", "label:pool=gpu"]],
      ["job_2", []],
    ] as const) {
      const holder = { agentId: asId<AgentId>("agt_A"), bootId: "b", leaseMs: 30_000, quotas };
      watcher.watch(id, { shard: 0, holder, onLost: () => {} });
    }
    watcher.start();
  });
  afterEach(() => watcher.stop());

  const someLooks = async () => {
    const enough = looks + 3;
    await until("some looks", () => looks >= enough);
  };
  const PLACE = { jobId: "job_1", quotas: ["project:default", "label:pool=gpu"] };

  it("keeps their places in quotas well before those fall vacant", async () => {
    await someLooks();
    expect(ports.occupied).to.deep.equal([PLACE]);
    now += PLACE_MS / 2;
    await someLooks();
    expect(ports.occupied).to.deep.equal([PLACE, PLACE]);
  });

  it("tries again at each look while Redis is away", async () => {
    ports.outage = true;
    await someLooks();
    ports.outage = false;
    await someLooks();
    expect(ports.occupied).to.deep.equal([PLACE]);
  });

  it("lets the places of a job go with its end", async () => {
    await someLooks();
    watcher.unwatch("job_1");
    now += PLACE_MS;
    await someLooks();
    expect(ports.occupied).to.have.length(1);
  });
});
