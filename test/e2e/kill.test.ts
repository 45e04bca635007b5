/**
 * Nothing is lost when nodes die: real processes on a real Redis and a MongoDB-wire server run 200 runs while a worker,
 * the gateway and an agent are killed and started again. The steps themselves keep the ledger that is checked.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { ProcessWorld, type ServeNode, type StartedProcess } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const RUNS = 200;
const JOBS = 3;
const STEPS = 2;
const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";

/** Writes three lines with the time, 20 ms apart: a step that outlived its agent would show in the ledger. */
const SCRIPT = `
for beat in 1 2 3; do
  echo "$MILLRACE_JOB_ID $MILLRACE_STEP_RUN_ID $beat $(date +%s%N)" >> "$LEDGER"
  sleep 0.02
done`;

interface JobDetail {
  readonly jobId: string;
  readonly name: string;
  readonly status: string;
  readonly attempt: number;
  readonly retryOf: string | null;
  readonly agentId: string | null;
  readonly reason: string;
  readonly steps: readonly { readonly stepRunId: string; readonly status: string }[];
}

interface RunDetail {
  readonly runId: string;
  readonly status: string;
  readonly jobs: readonly JobDetail[];
}

describe("killing nodes in the middle", function () {
  this.timeout(240_000);
  let world: ProcessWorld;
  let redis: TestRedis;
  let edge: ServeNode;
  let env: Record<string, string>;

  before(async () => {
    world = await ProcessWorld.create();
    redis = await startTestRedis();
    const mongo = await startTestMongo();
    env = {
      REDIS_URL: redis.url,
      MONGODB_URL: mongo.url,
      MONGODB_DATABASE: freshDatabase(),
      MILLRACE_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
      MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
      MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
      LOG_LEVEL: "info",
    };
    edge = await world.serve("edge", { env });
  });

  after(async () => {
    await world?.end();
    await redis?.stop();
  });

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`http://${edge.http}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { code: number; detail: T };
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.detail;
  }

  function startAgent(name: string, gateway: string): StartedProcess {
    return world.agent(gateway, {
      env: {
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        MILLRACE_AGENT_NAME: name,
        MILLRACE_AGENT_SLOTS: "6",
        MILLRACE_DATA_DIR: join(world.folder, `agent-${name}`),
      },
    });
  }

  it("loses no run, runs each step once per attempt, and repeats only what the dead agent held", async () => {
    const ledger = join(world.folder, "ledger");
    const [workerOne] = await Promise.all([world.serve("worker", { env }), world.serve("worker", { env })]);
    let gateway = await world.serve("gateway", { env });
    const address = gateway.grpc!;
    const doomed = startAgent("doomed", address);
    startAgent("steady", address);

    const { pipelineId } = await call<{ pipelineId: string }>("POST", "/pipelines", { name: "load" });
    const step = (name: string) => ({ name, uses: "shell", args: { script: SCRIPT }, env: { LEDGER: ledger } });
    const job = (index: number) => ({
      name: `job-${index}`,
      ...(index === 0 ? {} : { needs: [`job-${index - 1}`] }),
      steps: Array.from({ length: STEPS }, (_, at) => step(`step-${at}`)),
    });
    await call("POST", `/pipelines/${pipelineId}/spec/save`, {
      spec: { jobs: Array.from({ length: JOBS }, (_, index) => job(index)) },
      format: "yaml",
      commitMessage: "load",
    });
    const trigger = async (at: number): Promise<string> => {
      const body = { requestId: `r-${at}` };
      return (await call<{ runId: string }>("POST", `/pipelines/${pipelineId}/trigger`, body)).runId;
    };
    const triggering = inTurns(RUNS, 4, trigger);
    const succeeded = async (): Promise<number> =>
      (await call<{ total: number }>("GET", `/pipelines/${pipelineId}/runs?status=success&pageSize=1`)).total;
    type Agents = { readonly list: readonly { agentId: string; name: string; busy: number }[] };
    const doomedNow = async (): Promise<Agents["list"][number]> =>
      (await call<Agents>("GET", "/agents")).list.find(({ name }) => name === "doomed")!;

    await until("the load is under way", async () => (await succeeded()) >= RUNS * 0.1, 60_000);
    workerOne.kill("SIGKILL");
    await until("the load goes on", async () => (await succeeded()) >= RUNS * 0.2, 60_000);
    gateway.kill("SIGKILL");
    await gateway.exited;
    await world.serve("worker", { env });
    gateway = await world.serve("gateway", { env: { ...env, MILLRACE_GRPC_ADDRESS: address } });
    await until("the load goes on", async () => (await succeeded()) >= RUNS * 0.4, 90_000);
    const { agentId: doomedId } = await until("the agent is busy", async () => {
      const agent = await doomedNow();
      return agent.busy >= 2 && agent;
    });
    doomed.kill("SIGKILL");
    await doomed.exited;
    const killedAt = BigInt(Date.now()) * 1_000_000n;
    startAgent("doomed", address);
    const runIds = await triggering;
    await until("every run has succeeded", async () => (await succeeded()) === RUNS, 120_000);

    const runs = await Promise.all(
      runIds.map((runId) => call<RunDetail>("GET", `/pipelines/runs/${runId}?attempts=all`)),
    );
    const beats = readLedger(await readFile(ledger, "utf8"));
    let retried = 0;
    for (const run of runs) {
      expect(run.status).to.equal("success");
      for (const job of run.jobs) {
        if (job.attempt > 1) {
          retried++;
          const earlier = run.jobs.find(({ jobId }) => jobId === job.retryOf)!;
          expect(earlier.agentId, "only what the dead agent held is repeated").to.equal(doomedId);
          expect(earlier).to.include({ status: "failed", reason: "agent_lost" });
          expect(lastBeat(beats, earlier) < firstBeat(beats, job), "attempts do not overlap").to.equal(true);
        }
        if (job.status !== "success") continue;
        for (const { stepRunId, status } of job.steps) {
          expect(status).to.equal("success");
          expect(
            beats.get(stepRunId)?.map(({ beat }) => beat),
            "each step once",
          ).to.deep.equal([1, 2, 3]);
        }
      }
      const finished = run.jobs.filter(({ status }) => status === "success");
      expect(finished.map(({ name }) => name).toSorted()).to.deep.equal(["job-0", "job-1", "job-2"]);
    }
    expect(retried, "the kill of the agent met running jobs").to.be.above(0);
    // Nothing of a step outlives its agent by more than the moment that its supervisor needs.
    for (const run of runs) {
      for (const job of run.jobs.filter(({ reason }) => reason === "agent_lost")) {
        expect(lastBeat(beats, job) < killedAt + 200_000_000n).to.equal(true);
      }
    }
  });
});

/** Calls `act` with 0 to `count - 1`, `width` at a time; answers in order. */
async function inTurns<T>(count: number, width: number, act: (index: number) => Promise<T>): Promise<readonly T[]> {
  const answers: T[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      answers[index] = await act(index);
    }
  };
  await Promise.all(Array.from({ length: width }, one));
  return answers;
}

interface Beat {
  readonly beat: number;
  readonly at: bigint;
}

/** Beats by step run, in the order in which they were written. */
function readLedger(text: string): ReadonlyMap<string, readonly Beat[]> {
  const beats = new Map<string, Beat[]>();
  for (const line of text.trim().split("\n")) {
    const [, stepRunId, beat, at] = line.split(" ") as [string, string, string, string];
    const list = beats.get(stepRunId) ?? [];
    list.push({ beat: Number(beat), at: BigInt(at) });
    beats.set(stepRunId, list);
  }
  return beats;
}

function timesOf(beats: ReadonlyMap<string, readonly Beat[]>, job: JobDetail): readonly bigint[] {
  return job.steps.flatMap(({ stepRunId }) => beats.get(stepRunId) ?? []).map(({ at }) => at);
}

function lastBeat(beats: ReadonlyMap<string, readonly Beat[]>, job: JobDetail): bigint {
  return timesOf(beats, job).reduce((latest, at) => (at > latest ? at : latest), 0n);
}

function firstBeat(beats: ReadonlyMap<string, readonly Beat[]>, job: JobDetail): bigint {
  return timesOf(beats, job).reduce((earliest, at) => (at < earliest ? at : earliest), 2n ** 63n);
}
