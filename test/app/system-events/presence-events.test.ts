import { expect } from "chai";
import { PresenceEvents } from "../../../src/app/system-events/presence-events.ts";
import type { PresenceContext } from "../../../src/app/system-events/context.ts";
import { type AgentId, newId } from "../../../src/domain/ids.ts";
import { INSTALLATION_LOG, type SystemLog } from "../../../src/domain/system-events.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { openTestSqlite } from "../../support/stores.ts";

const SETTLE_MS = 20_000;

describe("the presence of agents in the logs of system events", () => {
  let sqlite: Awaited<ReturnType<typeof openTestSqlite>>;
  let stores: Stores;
  let now: number;
  let online: Set<AgentId>;
  let lost: Set<AgentId>;
  let owned: readonly number[];
  let agent: AgentId;
  beforeEach(async () => {
    sqlite = await openTestSqlite();
    stores = sqlite.stores;
    [now, online, lost, owned] = [1_000_000, new Set(), new Set(), [0]];
    agent = await put("one");
  });
  afterEach(() => sqlite.close());

  async function put(name: string, tenantId: AgentId | null = null): Promise<AgentId> {
    const agentId = newId("agt");
    const reach = tenantId && { tenantId: tenantId as never, projectIds: null };
    await stores.identity.putAgent({ agentId, name, labels: {}, slots: 1, version: "1", createdAt: 1, reach } as never);
    return agentId;
  }
  const watcher = (over: Partial<Stores> = {}): PresenceEvents => {
    const context = {
      stores: { ...stores, ...over },
      clock: { now: () => now, monotonic: () => now },
      log: silentLog,
      feed: { isFollowed: () => false },
      presence: { online: async () => [...online].map((agentId) => ({ agentId })), lost: async () => [...lost] },
    };
    return new PresenceEvents(context as unknown as PresenceContext, () => owned);
  };
  const told = async (log: SystemLog = INSTALLATION_LOG) =>
    (await stores.systemEvents.read(log, 0, 100)).map(({ lifecycle }) => lifecycle);
  const settled = async (watching: PresenceEvents) => {
    await watching.pass();
    now += SETTLE_MS;
  };

  it("has each change once, in the log of the agent's tenant", async () => {
    const watching = watcher();
    const bound = await put("two", newId("tnt") as never);
    const { reach } = (await stores.identity.findAgent(bound))!;
    await settled(watching);
    online = new Set([agent, bound]);
    await watching.pass();
    await watching.pass();
    online = new Set([bound]);
    await watching.pass();
    lost = new Set([agent]);
    await watching.pass();
    lost = new Set();
    await watching.pass();
    online = new Set([agent, bound]);
    await watching.pass();
    expect(await told()).to.deep.equal(["online", "offline", "lost", "online"]);
    expect(await told(reach!.tenantId)).to.deep.equal(["online"]);
    const [first] = await stores.systemEvents.read(INSTALLATION_LOG, 0, 1);
    expect(first).to.deep.include({ object: "agent", data: { id: agent, name: "one" } });
  });

  it("is told by the owner of its shard alone, and by the next owner without a repeat", async () => {
    online.add(agent);
    owned = [1];
    await watcher().pass();
    expect(await told()).to.deep.equal([]);
    owned = [0, 1];
    await Promise.all([watcher().pass(), watcher().pass()]);
    const next = watcher();
    await next.pass();
    expect(await told()).to.deep.equal(["online"]);
    online.clear();
    now += SETTLE_MS;
    await next.pass();
    expect(await told()).to.deep.equal(["online", "offline"]);
  });

  it("has the event of a worker that died before it wrote the event, before what has happened since", async () => {
    online.add(agent);
    const dying = { ...stores.systemEvents, append: () => Promise.reject(new Error("killed")) };
    await watcher({ systemEvents: dying }).pass().catch(String);
    expect(await told()).to.deep.equal([]);
    online.clear();
    const next = watcher();
    await settled(next);
    await next.pass();
    expect(await told()).to.deep.equal(["online", "offline"]);
  });

  it("does not take an agent for offline while presence is not known well", async () => {
    online.add(agent);
    await watcher().pass();
    online.clear();
    // The next owner begins, or Redis was emptied.
    const next = watcher();
    await next.pass();
    now += SETTLE_MS - 1;
    await next.pass();
    expect(await told()).to.deep.equal(["online"]);
    now += 1;
    await next.pass();
    expect(await told()).to.deep.equal(["online", "offline"]);
  });

  it("ends with the agent", async () => {
    online.add(agent);
    const watching = watcher();
    await settled(watching);
    await stores.identity.deleteAgent(agent);
    online.clear();
    await watching.pass();
    expect(await told()).to.deep.equal(["online"]);
    expect(await stores.documents.all("presence")).to.deep.equal([]);
  });
});
