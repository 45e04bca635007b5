import { expect } from "chai";
import { Canaries, CANARY_EVERY_MS } from "../../queues/canaries.ts";

const MINUTE = 60_000;

describe("the canaries of a node", () => {
  /** The times at which each of `count` shards has sent a canary within `forMs`; the shard `lost` waits for its own. */
  function timesOf(count: number, forMs: number, lost?: number): readonly (readonly number[])[] {
    const canaries = new Canaries();
    let now = 0;
    const times = Array.from({ length: count }, (): number[] => []);
    const shards = times.map((sent, index) => ({
      isOpen: true,
      canaryWaitMs: () => (index === lost && sent.length === 1 ? 1 : 0),
      sendCanary: () => Promise.resolve(void sent.push(now)),
    }));
    for (; now <= forMs; now += CANARY_EVERY_MS) canaries.sendNext(shards, now);
    return times;
  }

  const between = (times: readonly number[]): readonly number[] => times.slice(1).map((time, at) => time - times[at]!);

  it("come from each of few shards every 20 s", () => {
    for (const times of timesOf(8, 10 * MINUTE)) {
      expect(times.length).to.be.at.least(25);
      for (const pause of between(times)) expect(pause).to.be.within(20_000, 24_000);
    }
  });

  it("come from many shards in turn, and are no more than those of few shards", () => {
    const all = timesOf(64, 20 * MINUTE);
    for (const pause of between(all.flat().toSorted((a, b) => a - b))) expect(pause).to.be.at.least(2_500);
    for (const times of all) {
      expect(times.length, "from each shard").to.be.at.least(5);
      for (const pause of between(times)) expect(pause).to.be.at.most(64 * 3_000);
    }
  });

  it("come next from the shard whose last one was lost, before it counts as stuck", () => {
    const [first, second] = timesOf(64, 20 * MINUTE, 0)[0]!;
    expect(second! - first!).to.be.within(20_000, 24_000);
  });
});
