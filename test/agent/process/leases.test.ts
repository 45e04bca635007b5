/** The leases of an agent, also on a machine that was suspended: its clock has moved on, its timers have not. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { openAgentClock } from "../../../src/agent/process/agent-clock.ts";
import { Leases } from "../../../src/agent/process/leases.ts";
import { until } from "../../support/until.ts";
import { SILENT } from "../test-agent.ts";

describe("the leases of an agent", () => {
  let folder: string;
  let leases: Leases;
  let nowMs: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-leases-"));
    nowMs = 1_000_000;
    leases = new Leases({ folder, clock: { now: () => nowMs, monotonic: () => nowMs }, log: SILENT });
  });
  afterEach(async () => {
    await leases.close();
    await rm(folder, { recursive: true });
  });

  /** Takes a lease and notes why it ran out. */
  function hold(leaseMs: number): { readonly reasons: string[]; readonly release: () => void } {
    const lease = leases.take(leaseMs)!;
    const reasons: string[] = [];
    lease.onRunOut((reason) => reasons.push(reason));
    return { reasons, release: () => lease.release() };
  }

  it("cannot be taken before the gateway has answered, nor after it was silent for too long", () => {
    expect(leases.take(30_000)).to.equal(undefined);
    leases.renew(nowMs);
    expect(leases.take(30_000)).to.not.equal(undefined);
    nowMs += 30_000;
    expect(leases.take(30_000)).to.equal(undefined);
    expect(leases.take(60_000)).to.not.equal(undefined);
  });

  it("run out soon after the machine resumes, without an answer of the gateway", async () => {
    leases.renew(nowMs);
    const { reasons } = hold(30_000);
    const { reasons: others } = hold(900_000);
    nowMs += 40_000;
    await until("the end of the lease", () => reasons.length > 0, 2_000);
    expect(reasons).to.have.length(1);
    expect(reasons[0]).to.include("lease of 30000 ms");
    expect(others).to.deep.equal([]);
  });

  it("are not renewed by an acknowledgement after their end", () => {
    leases.renew(nowMs);
    const { reasons } = hold(30_000);
    nowMs += 30_000;
    leases.renew(nowMs);
    expect(reasons).to.have.length(1);
    expect(hold(30_000).reasons).to.deep.equal([]);
  });

  it("count from the newest acknowledged heartbeat, in any order of acknowledgements", () => {
    leases.renew(nowMs);
    leases.renew(nowMs - 29_999);
    const { reasons } = hold(30_000);
    nowMs += 29_999;
    leases.renew(nowMs - 1);
    nowMs += 29_998;
    leases.renew(nowMs - 29_998);
    expect(reasons).to.deep.equal([]);
  });

  it("do not notify a holder that has released its hold", () => {
    leases.renew(nowMs);
    const { reasons, release } = hold(30_000);
    release();
    nowMs += 30_000;
    leases.renew(nowMs);
    expect(reasons).to.deep.equal([]);
  });

  it("are reused by later steps, and released after a long time without holders", () => {
    const markOf = () => {
      const lease = leases.take(30_000)!;
      lease.release();
      return lease.mark;
    };
    leases.renew(nowMs);
    const mark = markOf();
    for (let count = 0; count < 9; count++) {
      nowMs += 20_000;
      leases.renew(nowMs);
    }
    expect(markOf()).to.equal(mark);
    for (let count = 0; count < 31; count++) {
      nowMs += 20_000;
      leases.renew(nowMs);
    }
    expect(markOf()).to.not.equal(mark);
  });

  it("count by a clock that keeps counting while the machine is suspended", async function () {
    const clock = openAgentClock();
    const uptime = await readFile("/proc/uptime", "utf8").catch(() => undefined);
    const expected = uptime === undefined ? performance.now() : Number(uptime.split(" ")[0]) * 1_000;
    expect(clock.monotonic()).to.be.within(expected - 1_000, expected + 1_000);
    const before = [clock.monotonic(), performance.now()] as const;
    await until("some time", () => performance.now() - before[1] > 100);
    expect(clock.monotonic() - before[0]).to.be.closeTo(performance.now() - before[1], 20);
  });
});
