/**
 * An installation is upgraded while it works: real processes of this release and of a release that stores another
 * schema, on both stores. Shards move from the old release to the new one, back, and to the new one again. Then the
 * last old node leaves.
 */
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import type { ClusterView } from "../../src/app/upkeep/cluster.ts";
import type { RunDetail } from "../../src/app/runs/run-view.ts";
import type { RunId } from "../../src/domain/ids.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const NEXT = "test/e2e/next-version.ts";
const RUNS = 10;
const SHARDS = 64;
const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";
const TODAY = STORED_FORMAT.schema;
const SWITCHED = '"msg":"every node reads the new schema: this node writes it from now on"';

for (const engine of ["SQLite", "MongoDB"] as const) {
  describe(`a rolling upgrade over ${engine}`, function () {
    this.timeout(120_000);
    let world: ProcessWorld;
    let redis: TestRedis;
    let stores: Stores;
    let env: Record<string, string>;
    let api: ServeNode;

    before(async () => {
      [world, redis] = await Promise.all([ProcessWorld.create(), startTestRedis()]);
      env = {
        REDIS_URL: redis.url,
        MILLRACE_DATA_DIR: join(world.folder, "data"),
        MILLRACE_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
        MILLRACE_MASTER_KEY: "0123456789abcdef".repeat(4),
        MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
      };
      if (engine === "MongoDB") {
        const options = { url: (await startTestMongo()).url, database: freshDatabase() };
        env = { ...env, MONGODB_URL: options.url, MONGODB_DATABASE: options.database };
        stores = await openMongoStores(options);
        api = await world.serve("edge,gateway", { env });
      } else {
        api = await world.serve("edge,gateway", { env });
        stores = await openSqliteStores({ path: join(world.folder, "data", "millrace.db") });
      }
    });

    after(async () => {
      await stores?.close();
      await world?.end();
      await redis?.stop();
    });

    async function call<T>(path: string, body?: unknown): Promise<T> {
      const response = await fetch(`http://${api.http}/api/v1${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as { code: number; detail: T };
      if (answer.code !== 0) throw new Error(`${path}: ${JSON.stringify(answer)}`);
      return answer.detail;
    }

    async function pipeline(name: string, script: string): Promise<string> {
      const { pipelineId } = await call<{ pipelineId: string }>("/pipelines", { name });
      const shell = { uses: "shell", args: { script }, env: { FOLDER: world.folder } };
      const steps = [
        { name: "one", ...shell },
        { name: "two", ...shell },
      ];
      const spec = {
        jobs: [
          { name: "first", steps },
          { name: "second", needs: ["first"], steps },
        ],
      };
      await call(`/pipelines/${pipelineId}/spec/save`, { spec, format: "yaml", commitMessage: name });
      return pipelineId;
    }

    const trigger = async (pipelineId: string, count: number): Promise<readonly RunId[]> => {
      const triggered = Array.from({ length: count }, () =>
        call<{ runId: RunId }>(`/pipelines/${pipelineId}/trigger`, {}),
      );
      return (await Promise.all(triggered)).map(({ runId }) => runId);
    };
    const detailOf = (runId: RunId) => call<RunDetail>(`/pipelines/runs/${runId}`);
    const succeeded = async (runIds: readonly RunId[]): Promise<boolean> => {
      const details = await Promise.all(runIds.map(detailOf));
      return details.every(({ status }) => status === "success");
    };
    const untilOwner = (node: ServeNode, atLeast: number) =>
      until(`the node owns ${atLeast} shards`, async () => {
        const { nodes } = await call<ClusterView>("/cluster");
        return nodes.some(({ pid, shards }) => pid === node.pid && shards.length >= atLeast);
      });
    const leave = async (node: ServeNode): Promise<void> => {
      node.kill("SIGTERM");
      await node.exited;
    };

    /** The schemas of the runs' stored heads, plans and states, each once. */
    async function stored(runIds: readonly RunId[]): Promise<{ heads: number[]; plans: number[]; states: number[] }> {
      const found = { heads: new Set<number>(), plans: new Set<number>(), states: new Set<number>() };
      const schemaOf = (document: unknown): number => (document as { schema: number }).schema;
      for (const runId of runIds) {
        const { head, actors } = (await stores.aggregates.load(runId))!;
        found.heads.add(head.schema);
        found.plans.add(schemaOf(await stores.plans.loadPlan(runId)));
        for (const { kind, state } of actors) {
          found.states.add(schemaOf(state));
          expect(state, "the state has the fields of its schema").to.have.property(
            schemaOf(state) === TODAY || kind === "run" ? "state" : "phase",
          );
        }
      }
      return { heads: [...found.heads], plans: [...found.plans], states: [...found.states] };
    }

    it("loses no run, repeats no step, and ends with the new schema", async () => {
      const address = api.grpc!;
      world.agent(address, {
        env: {
          MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
          MILLRACE_AGENT_SLOTS: "4",
          MILLRACE_DATA_DIR: join(world.folder, "agent"),
        },
      });
      // The folder in which the sources that were translated before are found.
      const nextEnv = { ...env, TMPDIR: tmpdir() };
      const oldWorker = await world.serve("worker", { env });
      const quick = await pipeline("quick", 'echo "$MILLRACE_STEP_RUN_ID" >> "$FOLDER/ledger"; sleep 0.1');
      const long = await pipeline("long", 'until [ -e "$FOLDER/go" ]; do sleep 0.05; done');
      const runs: RunId[] = [];
      const addRuns = async (count: number) => void runs.push(...(await trigger(quick, count)));

      await addRuns(RUNS / 5);
      const newWorker = await world.serve("worker", { env: nextEnv, program: NEXT });
      await untilOwner(newWorker, SHARDS / 2);
      await addRuns(RUNS / 5);
      await leave(oldWorker);
      await untilOwner(newWorker, SHARDS);
      await addRuns(RUNS / 5);
      const rolledBack = await world.serve("worker", { env });
      await untilOwner(rolledBack, SHARDS / 2);
      await addRuns(RUNS / 5);
      await leave(rolledBack);
      await untilOwner(newWorker, SHARDS);
      await addRuns(RUNS / 5);
      await until("every run has succeeded", () => succeeded(runs), 30_000);
      expect(runs).to.have.length(RUNS);
      expect(await stored(runs)).to.deep.equal({ heads: [TODAY], plans: [TODAY], states: [TODAY] });

      const [spanningRun] = await trigger(long, 1);
      await until("a step runs", async () => (await detailOf(spanningRun!)).jobs[0]!.steps[0]!.status === "running");
      // Without it the new worker would be alone while the new edge starts, and might switch before that has joined.
      const lastOld = await world.serve("edge", { env });
      await leave(api);
      api = await world.serve("edge,gateway", { env: { ...nextEnv, MILLRACE_GRPC_ADDRESS: address }, program: NEXT });
      await leave(lastOld);
      await Promise.all([newWorker.process.prints(SWITCHED), api.process.prints(SWITCHED)]);
      await writeFile(join(world.folder, "go"), "");
      const refused = world.start(["serve", "--roles", "worker"], {
        env: { ...env, MILLRACE_METRICS_ADDRESS: "127.0.0.1:0" },
      });
      const after = await trigger(quick, 3);
      await until("runs from before and after succeed", () => succeeded([spanningRun!, ...after]), 30_000);
      expect(await stored(after)).to.deep.equal({ heads: [TODAY + 1], plans: [TODAY + 1], states: [TODAY + 1] });
      expect(await stored([spanningRun!])).to.deep.include({ heads: [TODAY + 1], plans: [TODAY] });

      const steps = (await Promise.all([...runs, ...after].map(detailOf))).flatMap(({ jobs }) =>
        jobs.flatMap((job) => job.steps.map(({ stepRunId }) => stepRunId)),
      );
      const ledger = (await readFile(join(world.folder, "ledger"), "utf8")).trim().split("\n");
      expect(ledger, "each step once").to.have.length(steps.length).and.to.have.members(steps);

      expect((await refused.exited).code).to.equal(1);
      expect(refused.stderr).to.include(
        `this deployment has been upgraded: it is stored with schema ${TODAY + 1}, and this version of millrace reads up to ${TODAY}`,
      );
      expect((await detailOf(runs[0]!)).status, "an old run can still be read").to.equal("success");
    });
  });
}
