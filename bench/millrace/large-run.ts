/** W15: reading a run of 5,000 jobs whose retries are all used up, whole and page by page. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { get } from "node:http";
import { LIMITS } from "../../src/definition/schema/limits.ts";
import { newId, type PipelineId } from "../../src/domain/ids.ts";
import { storeFile } from "../../src/node/data-dir.ts";
import { versionedStores } from "../../src/node/stores.ts";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { LargeRun } from "../../test/support/large-runs.ts";
import { largeShapes } from "../../test/support/large-run-shapes.ts";
import { storeEnded } from "../../test/support/stored-large-runs.ts";
import { cpuTime } from "../measure/cpu.ts";
import { percentile } from "../measure/percentiles.ts";
import type { Figure } from "../system.ts";
import { Installation, TOKEN } from "./installation.ts";

const SHAPE = "wide stage, all retried";
const WARM_UPS = 2;
const READS = 30;
const PROBE_MS = 5;

const VIEWS = [
  ["whole run", ""],
  ["all attempts", "?attempts=all"],
  ["page of 50 jobs", "?jobs=2001..2050"],
] as const;

/** Measures one round: how long each view takes, and for how long it keeps other calls waiting. */
export async function measureLargeRun(folder: string): Promise<readonly Figure[]> {
  const dataDir = join(folder, "large-run");
  const runId = await storeLargeRun(dataDir);
  const installation = await Installation.start(dataDir);
  try {
    const figures: Figure[] = [];
    for (const [name, query] of VIEWS) {
      const read = () => readBytes(installation.http, `/api/v1/pipelines/runs/${runId}${query}`);
      for (let count = 0; count < WARM_UPS; count++) await read();
      const times: number[] = [];
      let bytes = 0;
      const probes = probe(installation.http);
      const cpuBefore = cpuTime(installation.nodePid).ownMs;
      for (let count = 0; count < READS; count++) {
        const from = performance.now();
        bytes = await read();
        times.push(performance.now() - from);
      }
      const cpuMs = cpuTime(installation.nodePid).ownMs - cpuBefore;
      const waits = await probes.stop();
      figures.push(
        { metric: `${name}, p50`, unit: "ms", value: percentile(times, 0.5) },
        { metric: `${name}, p99`, unit: "ms", value: percentile(times, 0.99) },
        { metric: `${name}, longest wait of another call`, unit: "ms", value: Math.max(...waits) },
        { metric: `${name}, CPU of control plane`, unit: "ms/read", value: cpuMs / READS },
        { metric: `${name}, answer`, unit: "kB", value: bytes / 1_000 },
      );
    }
    return figures;
  } finally {
    await installation.stop();
  }
}

/** Stores a run that has ended, with all its attempts, in the form of this release, as its owner leaves it. Answers its id. */
async function storeLargeRun(dataDir: string): Promise<string> {
  const path = storeFile(dataDir);
  await mkdir(dirname(path), { recursive: true });
  const shape = largeShapes(LIMITS).find(({ name }) => name === SHAPE)!;
  const pipelineId = newId("pl") as PipelineId;
  const plan = { ...shape.plan(), pipelineId };
  const run = new LargeRun(plan);
  shape.play(run);
  const stores = await openSqliteStores({ path });
  try {
    return await storeEnded(
      versionedStores(stores, STORED_FORMAT, () => STORED_FORMAT.schema),
      run,
      plan,
    );
  } finally {
    await stores.close();
  }
}

/** Calls the node's health at a steady pace. `stop` answers how long each call took. */
function probe(http: string): { stop(): Promise<readonly number[]> } {
  const waits: number[] = [];
  let isStopped = false;
  const ended = (async () => {
    while (!isStopped) {
      const from = performance.now();
      await readBytes(http, "/healthz");
      waits.push(performance.now() - from);
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await ended;
      return waits;
    },
  };
}

/** The bytes of an answer. It is not parsed: the reader's work is no part of the figure. */
function readBytes(http: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(`http://${http}${path}`, { agent: false, headers: { authorization: `Bearer ${TOKEN}` } }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(bytes);
        else reject(new Error(`${path}: ${response.statusCode}`));
      });
    }).on("error", reject);
  });
}
