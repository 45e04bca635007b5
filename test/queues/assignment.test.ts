import { expect } from "chai";
import fc from "fast-check";
import { assignShards } from "../../queues/assignment.ts";
import { shardOf } from "../../queues/shard-map.ts";

const nodes = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 9 });
const shards = fc.integer({ min: 1, max: 64 });

function loads(owners: readonly string[]): readonly number[] {
  const counts = new Map<string, number>();
  for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return [...counts.values()];
}

describe("the assignment of shards", () => {
  it("gives every shard to a member, evenly, in any order of the members", () => {
    fc.assert(
      fc.property(nodes, shards, (members, count) => {
        const owners = assignShards(members, count);
        expect(owners).to.have.length(count);
        for (const owner of owners) expect(members).to.include(owner);
        const held = loads(owners);
        expect(Math.max(...held) - Math.min(...held)).to.be.at.most(1);
        expect(assignShards(members.toReversed(), count)).to.deep.equal(owners);
      }),
    );
  });

  it("computes nothing again while the nodes stay", () => {
    const owners = assignShards(["a", "b", "c"], 64);
    expect(assignShards(["c", "a", "b"], 64)).to.equal(owners);
    expect(assignShards(["a", "b"], 64)).to.not.equal(owners);
    expect(assignShards(["a", "b"], 32)).to.have.length(32);
  });

  it("moves no more than about its share when a node joins", () => {
    fc.assert(
      fc.property(nodes, fc.uuid(), (members, joining) => {
        fc.pre(!members.includes(joining));
        const before = assignShards(members, 64);
        const after = assignShards([...members, joining], 64);
        const moved = after.filter((owner, shard) => owner !== before[shard]).length;
        // The bound for each node moves some shards between the old nodes too; moving half of all is far from moving
        // everything.
        expect(moved).to.be.at.most(Math.ceil(64 / (members.length + 1)) + 32);
      }),
    );
  });

  it("is empty without members", () => {
    expect(assignShards([], 16)).to.deep.equal([]);
  });
});

describe("the shard of a root", () => {
  it("is stable, so that stored runs are found", () => {
    expect(["run_01JD0000000000000000000000", "", "x"].map((id) => shardOf(id, 16))).to.deep.equal(
      ["run_01JD0000000000000000000000", "", "x"].map((id) => shardOf(id, 16)),
    );
  });

  it("spreads ids that differ only at their end", () => {
    const counts = Array.from({ length: 16 }, () => 0);
    for (let i = 0; i < 16_000; i++) counts[shardOf(`run_01JD${String(i).padStart(18, "0")}`, 16)]!++;
    expect(Math.min(...counts)).to.be.above(800);
    expect(Math.max(...counts)).to.be.below(1_200);
  });
});
