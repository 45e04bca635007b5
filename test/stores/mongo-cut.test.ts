import { expect } from "chai";
import { MillraceError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { OUTPUT_BOUNDS } from "../../src/domain/outputs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { lines, sampleAggregate, saveOf } from "../contracts/samples.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

const REVISION = {
  pipelineId: newId("pl"),
  format: "json",
  message: "",
  editor: "",
  actor: "",
  createdAt: 1,
} as const;

describe("a connection to MongoDB that is cut during a call", function () {
  this.timeout(60_000);
  let proxy: TcpProxy;
  let stores: Stores;
  const database = freshDatabase();

  before(async () => {
    proxy = await TcpProxy.start(Number(new URL((await startTestMongo()).url).port));
    stores = await openMongoStores({ url: `mongodb://127.0.0.1:${proxy.port}`, database });
  });

  after(async () => {
    await stores?.close();
    await proxy?.close();
  });

  const plan = planOf([[{ steps: 2 }], [{ steps: 1 }]]);
  const stored = sampleAggregate({ plan });
  const calls: Record<string, () => Promise<unknown>> = {
    "storing a plan": () => stores.plans.put(newId("run"), plan, jobSpecsOf(plan)),
    "creating a run": () => stores.aggregates.create(sampleAggregate({ plan })),
    "saving a turn": () => stores.aggregates.save(saveOf(stored, {}, stored.actors)),
    "storing a log": () => stores.logs.append({ stepRunId: newId("step"), agentId: newId("agt"), lines: lines(1, 3) }),
    "storing outputs": () =>
      stores.outputs.put(
        { runId: newId("run"), stepRunId: newId("step"), token: 1, values: [] },
        OUTPUT_BOUNDS.runBytes,
      ),
    "reading outputs": () => stores.outputs.find([{ stepRunId: newId("step"), token: 1 }]),
    "reading a run": () => stores.aggregates.load(stored.head.rootId),
  };

  for (const [what, call] of Object.entries(calls)) {
    it(`rejects with \`unavailable\` while ${what}, and works again afterwards`, async () => {
      await stores.aggregates.create(stored);
      proxy.cutEvery(1);
      const error = await call().catch((caught: unknown) => caught);
      proxy.cutEvery(0);
      expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
      await call();
    });
  }

  it("ends a call that could not send everything, and the next call finds the server again", async () => {
    // More than the buffers between client and server hold.
    const revision = { ...REVISION, revisionId: newId("rev"), text: "x".repeat(12e6) };
    proxy.fallSilent();
    const error = await stores.pipelines.keepRevision(revision).catch((caught: unknown) => caught);
    proxy.speak();
    expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
    await until("a call goes through", () =>
      stores.aggregates.load(stored.head.rootId).then(
        () => true,
        () => false,
      ),
    );
  });

  it("ends a call whose connection alone carries nothing any more", async () => {
    const url = `mongodb://127.0.0.1:${proxy.port}`;
    const bounded = await openMongoStores({ url, database, answerTimeoutMs: 500 });
    try {
      const log = { stepRunId: newId("step"), agentId: newId("agt"), lines: lines(1, 3) };
      // The first line of the chunk, which only the insert carries.
      proxy.loseWith(log.lines[0]!.content);
      const error = await bounded.logs.append(log).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
      expect(await bounded.logs.append(log), "again, over another connection").to.equal(3);
    } finally {
      await bounded.close();
    }
  });

  it("does not matter for a look-up of no outputs", async () => {
    proxy.cutEvery(1);
    const found = await stores.outputs.find([]).finally(() => proxy.cutEvery(0));
    expect(found).to.deep.equal([]);
  });
});
