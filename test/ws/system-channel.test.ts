/** The channel of system events, over WebSocket and as an event stream. */
import { expect } from "chai";
import { announceSystemEvent } from "../../src/feed/system-event-hints.ts";
import { asId, newId, type TenantId } from "../../src/domain/ids.ts";
import type { SystemEventDraft } from "../../src/domain/system-events.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { ProcessWorld } from "../support/processes.ts";
import { TestEventStream } from "../support/event-stream.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

describe("the channel of system events", function () {
  this.timeout(30_000);
  let edge: TestEdge;
  let tenantId: TenantId;
  let made = 0;
  const viewers: TestViewer[] = [];
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());
  beforeEach(async () => {
    const { status, body } = await edge.call("POST", "/api/v1/tenants", { body: { name: `tenant-${++made}` } });
    expect(status).to.equal(200);
    tenantId = body.detail.tenantId;
  });
  afterEach(() => Promise.all(viewers.splice(0).map((viewer) => viewer.close())));

  async function subscribe(params: object = {}, token = edge.adminToken): Promise<TestViewer> {
    const viewer = await TestViewer.open({ port: edge.port, adminToken: token });
    viewers.push(viewer);
    viewer.send({ channel: "channel_system", params: { log: tenantId, ...params } });
    return viewer;
  }
  const create = (name: string) => edge.call("POST", "/api/v1/projects", { body: { name, tenantId } });
  async function append(count: number, fields: Partial<SystemEventDraft> = {}): Promise<void> {
    await edge.context.stores.systemEvents.append(
      Array.from({ length: count }, (_, at) => ({
        log: tenantId,
        eventId: `e${++made}`,
        object: "agent",
        lifecycle: "online",
        timeMs: 1_000 + at,
        data: { id: "agt_1", name: "one" },
        ...fields,
      })),
    );
    announceSystemEvent(edge.context, tenantId);
  }
  const numbersOf = (viewer: TestViewer) => viewer.ofType("event").map(({ data }) => data.eventNumber as number);
  const told = (viewer: TestViewer, numbers: readonly number[]) =>
    until(`the events ${numbers.join()}`, () => numbersOf(viewer).length >= numbers.length).then(() =>
      expect(numbersOf(viewer)).to.deep.equal(numbers),
    );
  const afterOf = (message: object) => (message as { readonly after: string }).after;

  it("begins with the newest event, and sends each change at once as a CloudEvent", async () => {
    await append(2);
    const viewer = await subscribe();
    expect(await viewer.next("caughtUp")).to.deep.include({ channel: "channel_system", after: "2" });
    expect(viewer.received[0]).to.deep.include({ type: "subscribed", data: { newest: 2 }, after: "2" });
    const begunAt = performance.now();
    const { projectId } = (await create("a project")).body.detail;
    const { data } = await viewer.next("event");
    expect(performance.now() - begunAt, "sooner than the next look at the store").to.be.below(4_000);
    expect(data).to.deep.include({ eventNumber: 3, object: "project", eventType: "svc.project.created" });
    expect(data.raw).to.deep.include({
      specversion: "1.0",
      id: `${tenantId}:3`,
      source: `/api/v1/system-events?log=${tenantId}`,
      subject: `project:${projectId}`,
    });
    expect(data.raw.data).to.deep.include({ id: projectId, name: "a project", by: "admin", number: 3, log: tenantId });
  });

  it("resumes behind any number without a gap and without a repeat", async () => {
    await append(250);
    const viewer = await subscribe({ after: "0" });
    await viewer.next("caughtUp");
    await told(
      viewer,
      Array.from({ length: 250 }, (_, at) => at + 1),
    );
    const resumed = await subscribe({ after: afterOf(viewer.ofType("event")[197]!) });
    await resumed.next("caughtUp");
    await append(5);
    await told(
      resumed,
      Array.from({ length: 57 }, (_, at) => at + 199),
    );
    expect(resumed.received.findIndex(({ type }) => type === "caughtUp")).to.equal(1 + 52);
  });

  it("says which events were removed before the client came to them", async () => {
    await append(5);
    await edge.context.stores.systemEvents.forget(tenantId, 1_003, 100);
    const viewer = await subscribe({ after: 1 });
    await told(viewer, [4, 5]);
    expect(viewer.ofType("skipped").map(({ data }) => data)).to.deep.equal([{ from: 2, to: 3 }]);
  });

  it("shows members what they may list, and only administrators the rest", async () => {
    const { token } = await edge.userWithRole("viewer");
    await append(1);
    await append(1, { object: "token", lifecycle: "created" });
    await append(1, { object: "definition", lifecycle: "saved" });
    const [viewer, admin, chosen] = [
      await subscribe({ after: 0 }, token),
      await subscribe({ after: 0 }),
      await subscribe({ after: 0, objects: "token,secret" }),
    ];
    await Promise.all([told(viewer, [1, 3]), told(admin, [1, 2, 3]), told(chosen, [2])]);
    for (const one of [viewer, chosen]) await one.next("caughtUp");
    const list = async (query: string, as = edge.adminToken) => {
      const { body } = await edge.call("GET", `/api/v1/system-events?log=${tenantId}${query}`, { token: as });
      const { list: found, ...rest } = body.detail;
      return { ...rest, numbers: found.map(({ data }: { data: { number: number } }) => data.number) };
    };
    expect(await list("", token)).to.deep.equal({ numbers: [1, 3], after: 3, newest: 3 });
    expect(await list("&limit=1&after=1", token)).to.deep.equal({ numbers: [3], after: 3, newest: 3 });
    expect(await list("&limit=2")).to.deep.equal({ numbers: [1, 2], after: 2, newest: 3 });
    expect(await list("&objects=token")).to.deep.equal({ numbers: [2], after: 3, newest: 3 });
    const installation = await subscribe({ log: "installation" }, token);
    expect((await installation.next("error")).error).to.include("needs the role admin");
  });

  it("refuses an unknown log, a number of another log and a word that is no object", async () => {
    const error = async (params: object) => (await (await subscribe(params)).next("error")).error;
    expect(await error({ log: newId("tnt") })).to.include("there is no tenant");
    expect(await error({ after: 7 })).to.include("7 is above 0");
    expect(await error({ objects: "run" })).to.include("must be some of agent");
    expect((await edge.call("GET", `/api/v1/system-events?log=${tenantId}&after=1`)).status).to.equal(400);
    expect((await edge.call("GET", `/api/v1/system-events?log=${asId<TenantId>("tnt_none")}`)).status).to.equal(404);
  });

  it("is an event stream too, which resumes", async () => {
    await append(3);
    const headers = { authorization: `Bearer ${edge.adminToken}`, "last-event-id": "2" };
    const stream = await TestEventStream.open(edge, `/live/system?log=${tenantId}&after=0`, headers);
    expect(await stream.next("caughtUp")).to.deep.include({ id: "3" });
    expect(stream.ofType("event").map(({ id }) => id)).to.deep.equal(["3"]);
    stream.close();
  });

  it("is followed at the command line, from the newest events on, until it is told to stop", async () => {
    const world = await ProcessWorld.create();
    try {
      await append(3);
      const env = { MILLRACE_URL: `http://127.0.0.1:${edge.port}`, MILLRACE_TOKEN: edge.adminToken };
      const args = ["system-events", "--follow", "--json", "--tenant", `tenant-${made - 3}`, "--limit", "2"];
      const following = world.start(args, { env: { ...env, XDG_CONFIG_HOME: world.folder } });
      const numbers = () =>
        following.stdout
          .trim()
          .split("\n")
          .filter((text) => text !== "")
          .map((text) => (JSON.parse(text) as { data: { number: number } }).data.number);
      await until("the newest two", () => numbers().length === 2);
      await append(2);
      await append(1);
      await until("what came since", () => numbers().length === 5);
      expect(numbers()).to.deep.equal([2, 3, 4, 5, 6]);
      expect(following.running).to.equal(true);
      following.pressCtrlC();
      expect((await following.exited).code).to.equal(130);
      expect(following.stderr).to.equal("");
    } finally {
      await world.end();
    }
  });
});
