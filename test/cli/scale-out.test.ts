import { expect } from "chai";
import { ApiClient } from "../../src/cli/api-client.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { ProcessWorld } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const ADMIN_TOKEN = "an-administrator-token-of-the-tests";
const REGISTRATION_TOKEN = "a-registration-token-of-the-tests";

describe("a scaled-out installation", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let redis: TestRedis;
  let env: Record<string, string>;
  before(async () => {
    world = await ProcessWorld.create();
    redis = await startTestRedis();
    const mongo = await startTestMongo();
    env = {
      REDIS_URL: redis.url,
      MONGODB_URL: mongo.url,
      MONGODB_DATABASE: freshDatabase(),
      MILLRACE_SIGNING_KEY: "a-signing-key-of-the-tests-with-32-bytes-or-more",
      MILLRACE_MASTER_KEY: "0123456789abcdef".repeat(4),
      MILLRACE_BOOTSTRAP_TOKEN: ADMIN_TOKEN,
      MILLRACE_REGISTRATION_TOKEN: REGISTRATION_TOKEN,
    };
  });
  after(async () => {
    await world.end();
    await redis.stop();
  });

  it("runs a pipeline with one process for each role, which exit with 0 on SIGTERM", async () => {
    const [edge, gateway, worker] = await Promise.all(
      ["edge", "gateway", "worker"].map((roles) => world.serve(roles, { env })),
    );
    const agent = world.agent(gateway!.grpc!, { env: { MILLRACE_REGISTRATION_TOKEN: REGISTRATION_TOKEN } });
    const api = new ApiClient({ baseUrl: `http://${edge!.http}`, token: () => Promise.resolve(ADMIN_TOKEN) });
    const { pipelineId } = await api.createPipeline("hello", "");
    await api.saveSpec(pipelineId, {
      jobs: [{ name: "greet", steps: [{ uses: "shell", args: { script: "echo hi" } }] }],
    });
    const { runId } = await api.trigger(pipelineId, {});
    const run = await until(
      "the run ended",
      async () => {
        const found = await api.run(runId);
        return isFinalRunStatus(found.status) && found;
      },
      60_000,
    );
    expect(run.status).to.equal("success");

    for (const { kill } of [edge!, gateway!, worker!]) kill("SIGTERM");
    agent.kill("SIGTERM");
    const exits = await Promise.all([edge, gateway, worker, agent].map((each) => each!.exited));
    expect(exits.map(({ code }) => code)).to.deep.equal([0, 0, 0, 0]);
    expect(await world.alive()).to.deep.equal([]);
  });
});
