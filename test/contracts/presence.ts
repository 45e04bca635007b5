/** The contract of presence. Run over Redis by `redis-presence.test.ts`, and over the model of the simulation. */
import { expect } from "chai";
import type { Presence, PresenceRecord } from "../../src/board/board.ts";
import { type AgentId, asId } from "../../src/domain/ids.ts";

const A = asId<AgentId>("agt_A");
const B = asId<AgentId>("agt_B");
export { A as AGENT_A, B as AGENT_B };

export interface PresenceHarness {
  /** Before each test no agent is present. */
  readonly open: () => Presence;
  /** Answers what `look` finds, once it finds something, while time passes. */
  readonly later: <T>(what: string, look: () => Promise<T | undefined>) => Promise<T>;
}

export function presenceContract({ open, later }: PresenceHarness): void {
  it("knows no agent without a beat", async () => {
    expect(await open().read([A])).to.deep.equal(new Map());
    expect(await open().read([])).to.deep.equal(new Map());
    expect(await open().online(60_000)).to.deep.equal([]);
  });

  it("answers the newest record as it was written", async () => {
    const record = recordOf(A, { labels: { note: "two\nlines" }, busy: 1 });
    await open().beat(recordOf(A));
    await open().beat(record);
    expect(await open().online(60_000)).to.deep.equal([record]);
  });

  it("reads the given agents and no others", async () => {
    await open().beat(recordOf(A, { bootId: "boot-a" }));
    await open().beat(recordOf(B));
    const read = await open().read([A, asId<AgentId>("agt_unknown")]);
    expect([...read.keys()]).to.deep.equal([A]);
    expect(read.get(A)!.bootId).to.equal("boot-a");
  });

  it("removes the record of a boot that leaves, but not the record of a newer boot", async () => {
    await open().beat(recordOf(A, { bootId: "old" }));
    await open().beat(recordOf(A, { bootId: "new" }));
    await open().leave(A, "old");
    expect(await open().online(60_000)).to.have.length(1);
    await open().leave(A, "new");
    await open().leave(A, "new");
    expect(await open().online(60_000)).to.deep.equal([]);
    expect(await open().read([A])).to.deep.equal(new Map());
  });

  it("renews the record of the same boot, and replaces the record of another boot by a beat only", async () => {
    expect(await open().renew(recordOf(A, { bootId: "old" }))).to.equal(true);
    const { beat } = (await open().read([A])).get(A)!;
    expect(await open().renew(recordOf(A, { bootId: "old", busy: 1 }))).to.equal(true);
    expect((await open().read([A])).get(A)!.beat).not.to.equal(beat);
    await open().beat(recordOf(A, { bootId: "new" }));
    expect(await open().renew(recordOf(A, { bootId: "old" }))).to.equal(false);
    expect((await open().read([A])).get(A)!.bootId).to.equal("new");
  });

  it("counts an agent as offline once its last beat is old enough", async () => {
    await open().beat(recordOf(A));
    await later("the beat is older than 20 ms", async () => (await open().online(20)).length === 0 || undefined);
    expect(await open().online(60_000)).to.have.length(1);
  });

  it("does not declare an agent lost that has started again", async () => {
    await open().beat(recordOf(A, { bootId: "new" }));
    await open().declareLost(A, "old");
    expect(await open().lost()).to.deep.equal([]);
  });

  it("lists agents that were declared lost, until their next beat", async () => {
    await open().beat(recordOf(A));
    await open().declareLost(A, "boot-1");
    await open().declareLost(B, "boot-1");
    expect(await open().lost()).to.have.members([A, B]);
    await open().beat(recordOf(A));
    expect(await open().lost()).to.deep.equal([B]);
  });
}

/** A sign of life of an agent with two slots. */
export function recordOf(agentId: AgentId, overrides: Partial<PresenceRecord> = {}): PresenceRecord {
  return { agentId, bootId: "boot-1", gatewayId: "gateway", labels: { os: "linux" }, slots: 2, busy: 0, ...overrides };
}
