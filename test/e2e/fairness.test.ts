/**
 * Two projects on one agent: a run of 5,000 steps keeps every slot busy, and a run of the other project still starts
 * soon.
 */
import { join } from "node:path";
import { expect } from "chai";
import { asId, type ProjectId } from "../../src/domain/ids.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const SLOTS = 4;
const TRIES = 5;
const OTHER = asId<ProjectId>("other");
const SLEEP = { uses: "shell", args: { command: "sleep", args: ["0.1"] } };

interface Job {
  readonly status: string;
  readonly startTime: string | null;
  readonly endTime: string | null;
  readonly steps: readonly { readonly startTime: string | null }[];
}

interface Run {
  readonly createdAt: string;
  readonly jobs: readonly Job[];
}

describe("a run of 5,000 steps", function () {
  this.timeout(120_000);

  for (const [jobs, steps] of [
    [1_000, 5],
    [5_000, 1],
  ] as const) {
    it(`in ${jobs} jobs lets another project's step start within a second of a free slot`, async () => {
      const world = await ProcessWorld.create();
      try {
        const installation = await EmbeddedInstallation.create(world);
        const dataDir = join(world.folder, "data");
        await installation.serve(dataDir);
        await addProject(join(dataDir, "millrace.db"));
        await installation.agent("only");
        const call = async (method: string, path: string, body?: object) =>
          (await installation.call(method, `/pipelines${path}`, body)).body.detail;
        const readRun = (runId: string): Promise<Run> => call("GET", `/runs/${runId}`);
        const { pipelineId: small } = await call("POST", "", { name: "small", projectId: OTHER });
        const oneStep = { jobs: [{ name: "job", steps: [{ uses: "shell", args: { command: "true" } }] }] };
        await call("POST", `/${small}/spec/save`, { spec: oneStep });

        const sketch = { steps: Array.from({ length: steps }, () => SLEEP) };
        const large = await installation.pipeline(
          "large",
          Array.from({ length: jobs }, (_, at) => ({ ...sketch, name: `job${at}` })),
        );
        const { runId } = await installation.api.trigger(large, {});
        const countRunning = ({ jobs: all }: Run) => all.filter(({ status }) => status === "running").length;
        await until("every slot is busy", async () => countRunning(await readRun(runId)) === SLOTS, 60_000);

        const others: Run[] = [];
        for (let count = 0; count < TRIES; count++) {
          const other = await installation.api.trigger(small, {});
          others.push(
            await until("the other run's first step starts", async () => {
              const run = await readRun(other.runId);
              return run.jobs[0]!.steps[0]!.startTime === null ? undefined : run;
            }),
          );
        }
        const all = (await readRun(runId)).jobs;
        expect(all.filter(({ endTime }) => endTime === null).length, "jobs of the large run that are left").to.be.above(
          SLOTS,
        );
        const delays = others.map((other) => {
          const start = at(other.jobs[0]!.steps[0]!.startTime);
          const freeAt = Math.min(...all.map(({ endTime }) => at(endTime)).filter((end) => end >= at(other.createdAt)));
          const before = all
            .map((job) => at(job.startTime))
            .filter((startedAt) => startedAt > at(other.createdAt) && startedAt < start);
          // Jobs whose claim had begun when the other run came may go first; then it is the other run's turn.
          expect(before.length, "jobs of the large run that started meanwhile").to.be.at.most(2 * SLOTS);
          return start - freeAt;
        });
        const median = delays.toSorted((a, b) => a - b)[Math.floor(TRIES / 2)];
        expect(median, `delays: ${delays.join(", ")} ms`).to.be.below(1_000);
      } finally {
        await world.end();
      }
    });
  }
});

/**
 * Creates the second project directly in the store, because no API creates projects. Two processes may share the SQLite
 * file.
 */
async function addProject(path: string): Promise<void> {
  const stores = await openSqliteStores({ path });
  await stores.pipelines.createProject({ projectId: OTHER, name: "other", createdAt: 0 });
  await stores.close();
}

function at(time: string | null): number {
  return time === null ? Infinity : Date.parse(time);
}
