/** Clients that follow many objects and read nothing: over WebSocket, and as event streams. */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { expect } from "chai";
import { AgentPresenceFeed } from "../../src/app/following/agent-presence-feed.ts";
import { DEFAULT_TENANT } from "../../src/domain/ids.ts";
import type { Followers } from "../../src/app/following/followers.ts";
import { StateFeed } from "../../src/app/following/state-feed.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

/** 30 MB of messages: more than the buffers of two sockets on loopback take. */
const OBJECTS = 3_000;
const LONG = "x".repeat(10_000);
const STALL_MS = 300;

/** A feed of so many objects that do not change. */
function feedOf<T>(edge: TestEdge, states: readonly T[], keyOf: (state: T) => string): StateFeed<T> {
  return new StateFeed<T>(edge.context, {
    keyOf,
    versionOf: () => 1,
    isOver: () => false,
    isSame: () => true,
    async *readLive() {
      yield await Promise.resolve(states);
    },
    readOne: (state) => Promise.resolve(state),
    listen: () => Promise.resolve(() => Promise.resolve()),
  });
}

const ids = Array.from({ length: OBJECTS }, (_, at) => `obj_${at}`);
const FEEDS: Readonly<Record<"runs" | "approvals" | "agents", (edge: TestEdge) => Partial<Followers>>> = {
  runs: (edge) => {
    const one = { pipelineId: `pl_${LONG}`, projectId: "default", status: "running", waitingFor: null, eventNumber: 1 };
    return {
      runs: feedOf(
        edge,
        ids.map((runId) => ({ ...one, runId, version: 1 })),
        ({ runId }) => runId,
      ) as never,
    };
  },
  approvals: (edge) => {
    const one = {
      runId: "run_1",
      pipelineId: "pl_1",
      projectId: "default",
      state: "pending",
      message: LONG,
      requestedAt: 1,
      expiryTimer: null,
      endedAt: null,
      approvals: [],
      rejection: null,
    };
    const states = ids.map((approvalId) => ({ ...one, approvalId }));
    return { approvals: feedOf(edge, states, ({ approvalId }) => approvalId) as never };
  },
  agents: ({ context }) => {
    const one = { name: "a", labels: { long: LONG }, slots: 1, trusted: [] };
    const listAgents = () => Promise.resolve(ids.map((agentId) => ({ ...one, agentId })));
    const none = () => Promise.resolve([]);
    const stores = { identity: { listAgents } };
    return { agents: new AgentPresenceFeed({ ...context, stores, presence: { online: none, lost: none } } as never) };
  },
};

/** Stores 30 MB of events of the installation's default tenant. */
async function storeSystemEvents({ context }: TestEdge): Promise<void> {
  const draft = {
    log: DEFAULT_TENANT,
    object: "agent",
    lifecycle: "online",
    timeMs: 1_000,
    data: { id: LONG },
  } as const;
  for (let at = 0; at < OBJECTS; at += 100) {
    const drafts = Array.from({ length: 100 }, (_, one) => ({ ...draft, eventId: `e${at + one}` }));
    await context.stores.systemEvents.append(drafts);
  }
}

/** What the channel of system events reads for one client. */
function watchSystemEvents({ context, followers }: TestEdge): { events: number; hasLeft: boolean } {
  const watched = { events: 0, hasLeft: false };
  const { systemEvents } = context.stores;
  const { systemEvents: feed } = followers;
  const read = systemEvents.read.bind(systemEvents);
  const follow = feed.follow.bind(feed);
  Object.assign(systemEvents, {
    read: async (...args: Parameters<typeof read>) => {
      const page = await read(...args);
      watched.events += page.length;
      return page;
    },
  });
  Object.assign(feed, {
    async *follow(request: Parameters<typeof follow>[0]) {
      try {
        yield* follow(request);
      } finally {
        watched.hasLeft = true;
      }
    },
  });
  return watched;
}

describe("a client that follows many objects and reads nothing", function () {
  this.timeout(30_000);
  let edge: TestEdge;
  const warnings: string[] = [];
  before(async () => {
    edge = await openTestEdge({ stallMs: STALL_MS, deaf: { answerMs: STALL_MS } });
    Object.assign(edge.context, { log: { ...silentLog, warn: (_: object, text: string) => warnings.push(text) } });
    await storeSystemEvents(edge);
  });
  after(() => edge.close());

  for (const [channel, feeds] of Object.entries(FEEDS)) {
    /** What the channel makes for one client. */
    function watch(): { messages: number; hasLeft: boolean } {
      const [[name, feed]] = Object.entries(feeds(edge)) as [[string, StateFeed<unknown>]];
      const watched = { messages: 0, hasLeft: false };
      const revisionOf = feed.revisionOf.bind(feed);
      const leave = feed.leave.bind(feed);
      Object.assign(feed, {
        revisionOf: (number: number) => (watched.messages++, revisionOf(number)),
        leave: (...follower: Parameters<typeof leave>) => ((watched.hasLeft = true), leave(...follower)),
      });
      Object.assign(edge.followers, { [name]: feed });
      return watched;
    }

    it(`of channel_${channel} waits with its messages unmade, and is closed with 1008`, async () => {
      warnings.length = 0;
      const watched = watch();
      const viewer = await TestViewer.open(edge);
      const closed = once(viewer.socket, "close");
      viewer.socket.pause();
      viewer.send({ channel: `channel_${channel}`, params: {} });
      await until("the stall is noticed", () => warnings.length > 0);
      expect(watched.messages, "messages made").to.be.within(1, OBJECTS / 2);
      viewer.socket.resume();
      const [code, reason] = (await closed) as [number, Buffer];
      expect([code, reason.toString()]).to.deep.equal([1008, "nothing was read for too long"]);
      expect(viewer.received.length).to.be.at.most(watched.messages + 1);
    });

    it(`of /live/${channel} waits with its messages unmade, and is cut off`, async () => {
      const watched = watch();
      const headers = { authorization: `Bearer ${edge.adminToken}` };
      const request = get(`${edge.origin}/api/v1/live/${channel}`, { headers, agent: false });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      await until("the stream is cut off", () => watched.hasLeft);
      expect(watched.messages, "messages made").to.be.within(1, OBJECTS / 2);
      response.on("error", () => {});
      const over = new Promise((resolve) => response.once("close", resolve));
      response.resume();
      await over;
      expect(response.complete).to.equal(false);
    });
  }

  it("of channel_system waits with its events unread, and is closed with 1008", async () => {
    warnings.length = 0;
    const watched = watchSystemEvents(edge);
    const viewer = await TestViewer.open(edge);
    const closed = once(viewer.socket, "close");
    viewer.socket.pause();
    viewer.send({ channel: "channel_system", params: { after: 0 } });
    await until("the stall is noticed", () => warnings.length > 0);
    expect(watched.events, "events read").to.be.within(1, OBJECTS / 2);
    viewer.socket.resume();
    const [code, reason] = (await closed) as [number, Buffer];
    expect([code, reason.toString()]).to.deep.equal([1008, "nothing was read for too long"]);
    expect(watched.hasLeft).to.equal(true);
  });

  it("of /live/system waits with its events unread, and is cut off", async () => {
    const watched = watchSystemEvents(edge);
    const headers = { authorization: `Bearer ${edge.adminToken}` };
    const request = get(`${edge.origin}/api/v1/live/system?after=0`, { headers, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    await until("the stream is cut off", () => watched.hasLeft);
    expect(watched.events, "events read").to.be.within(1, OBJECTS / 2);
    response.on("error", () => {});
    const over = new Promise((resolve) => response.once("close", resolve));
    response.resume();
    await over;
    expect(response.complete).to.equal(false);
  });
});
