/**
 * Streams of a run in a real installation. Its worker is killed and its Redis is down for some seconds while the run is
 * running.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { ApiClient } from "../../src/cli/api-client.ts";
import { seeded } from "../chaos/world/random.ts";
import { StreamCaller } from "../grpc/streaming.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";
const JOBS = 60;
const READERS = 8;
const OUTAGE_MS = 4_000;

describe("the streams of a run", function () {
  this.timeout(180_000);
  const random = seeded(8);
  let world: ProcessWorld;
  let redis: TestRedis;
  let front: ServeNode;
  let worker: ServeNode;
  let caller: StreamCaller;
  let api: ApiClient;

  const serve = (roles: string) =>
    world.serve(roles, {
      env: {
        REDIS_URL: redis.url,
        MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
      },
    });

  before(async () => {
    world = await ProcessWorld.create();
    redis = await startTestRedis({ appendonly: true });
    front = await serve("edge,gateway");
    worker = await serve("worker");
    caller = new StreamCaller(Number(front.grpc!.split(":")[1]), ADMIN);
    api = new ApiClient({ baseUrl: `http://${front.http}`, token: () => Promise.resolve(ADMIN) });
    const agent = world.agent(front.grpc!, {
      env: {
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        MILLRACE_AGENT_NAME: "one",
        MILLRACE_AGENT_SLOTS: "4",
        MILLRACE_DATA_DIR: join(world.folder, "agent"),
      },
    });
    await until("the agent is online", async () => {
      const agents = (await caller.read("streamAgentStatus", { agentIds: [], revision: "" }).count(2)).slice(1);
      return agents.some(({ presence }) => presence === "AGENT_PRESENCE_ONLINE") && agent.running;
    });
  });
  after(async () => {
    caller?.close();
    await world?.end();
    await redis?.stop();
  });

  /** The numbers of all events, as a reader gets them that disconnects at random and resumes after its last event. */
  async function readWithBreaks(runId: string): Promise<readonly number[]> {
    const numbers: number[] = [];
    for (;;) {
      const reader = caller.read("streamEvents", { runId, after: BigInt(numbers.at(-1) ?? 0), objects: [], log: "" });
      const endAt = performance.now() + random.between(20, 1_500);
      while (reader.status === undefined && performance.now() < endAt) await sleep(5);
      reader.cancel();
      numbers.push(...reader.received.map(({ number }) => Number(number)));
      if (reader.status?.code === 0) return numbers;
    }
  }

  /** The statuses of an object, as a reader gets them that disconnects and resumes in the same way. */
  async function statusesOf(
    operation: "streamStepRunStatus" | "streamPipelineStatus",
    id: string,
  ): Promise<readonly string[]> {
    const statuses: string[] = [];
    let afterEvent: bigint | undefined;
    for (;;) {
      const request = { stepRunId: id, runId: id, ...(afterEvent === undefined ? {} : { afterEvent }) };
      const reader = caller.read(operation, request);
      const endAt = performance.now() + random.between(50, 3_000);
      while (reader.status === undefined && performance.now() < endAt) await sleep(20);
      reader.cancel();
      afterEvent = reader.received.at(-1)?.eventNumber ?? afterEvent;
      statuses.push(...reader.received.map(({ status }) => status));
      if (reader.status?.code === 0) return statuses;
    }
  }

  it("deliver each transition once and in order, across faults and reconnects", async () => {
    const step = { uses: "shell", args: { command: "true" } };
    const { pipelineId } = await api.createPipeline("streams", "");
    const jobs = Array.from({ length: JOBS }, (_, at) => ({ name: `job${at}`, steps: [step, step] }));
    await api.saveSpec(pipelineId, {
      jobs: [...jobs, { name: "last", steps: [{ ...step, args: { script: "sleep 9" } }] }],
    });
    const { runId } = await api.trigger(pipelineId, {});
    const run = await api.run(runId);
    const stepRunIds = run.jobs.flatMap((job) => job.steps.map(({ stepRunId }) => stepRunId));

    const readers = Array.from({ length: READERS }, () => readWithBreaks(runId));
    const steps = stepRunIds.map((id) => statusesOf("streamStepRunStatus", id));
    const whole = statusesOf("streamPipelineStatus", runId);
    const ended = async () => (await api.run(runId)).jobs.filter(({ status }) => status === "success").length;
    await until("some jobs have ended", async () => (await ended()) >= 5, 30_000);
    worker.kill("SIGKILL");
    await worker.exited;
    worker = await serve("worker");
    await until("more jobs have ended", async () => (await ended()) >= 20, 30_000);
    await redis.kill();
    await sleep(OUTAGE_MS);
    await redis.restart();
    await until("the run ends", async () => (await api.run(runId)).endTime !== null, 60_000);

    const afterEnd = caller.all("streamEvents", { runId, after: 0n, objects: [], log: "" });
    const expected = (await afterEnd).map(({ number }) => Number(number));
    // Each job: queued, started, completed; each step likewise; the run: created, started, completed.
    const least = 3 + JOBS * 9 + 6;
    expect(expected.length).to.be.at.least(least);
    expect(expected).to.deep.equal(Array.from(expected, (_, at) => at + 1));
    for (const numbers of await Promise.all(readers)) expect(numbers).to.deep.equal(expected);

    const words = ["PENDING", "QUEUED", "RUNNING", "SUCCESS"].map((word) => `STEP_RUN_STATUS_${word}`);
    for (const statuses of await Promise.all(steps)) {
      expect(statuses).to.deep.equal(words.slice(words.indexOf(statuses[0]!)));
    }
    expect((await whole).at(-1)).to.equal("RUN_STATUS_SUCCESS");
    expect(new Set(await whole).size).to.equal((await whole).length);
  });
});
