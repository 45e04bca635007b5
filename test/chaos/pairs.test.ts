/** Tests of the choice of two faults at once. */
import { expect } from "chai";
import { choosePairs, PAIRABLE } from "./faults/pairs.ts";
import { seeded } from "./world/random.ts";

describe("the choice of two faults at once", () => {
  it("is repeated by the seed, and differs with another one", () => {
    expect(choosePairs(seeded(7), 8)).to.deep.equal(choosePairs(seeded(7), 8));
    expect(choosePairs(seeded(7), 8)).not.to.deep.equal(choosePairs(seeded(8), 8));
  });

  it("brings every fault in some seed, and never two faults of one target", () => {
    const chosen = new Set<string>();
    for (let seed = 1; seed <= 100; seed++) {
      for (const [first, second] of choosePairs(seeded(seed), 8)) {
        expect(first.target, `seed ${seed}: ${first.name}; ${second.name}`).not.to.equal(second.target);
        chosen.add(first.name).add(second.name);
      }
    }
    expect(chosen.size).to.equal(PAIRABLE.length);
  });
});
