/**
 * `npm run soak`: runs thousands of small runs under a retention of seconds and samples the size of the installation.
 * Exit status 0: the installation stayed as large as it was when the first runs were removed; 1: it kept growing; 2:
 * the command line is wrong.
 */
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { storeFile } from "../src/node/data-dir.ts";
import { residentBytes } from "./measure/memory.ts";
import { Installation } from "./millrace/installation.ts";
import { SqliteConnection } from "../src/sqlite/connection.ts";

const KEEP = "15s,150/pipeline";
/** The most live runs of each pipeline; while there are as many, the load starts none. */
const IN_FLIGHT = 20;
const RUNS_A_SECOND = 5;
const POLL_MS = 50;
const SAMPLE_MS = 15_000;
const RERUN_EVERY = 20;
/** After this time, retention removes as much as the load adds. */
const WARM_UP_SECONDS = 60;
/** The second half of the samples may exceed the first half by this factor, because samples vary. */
const TOLERATED_GROWTH = 1.1;

/** Writes random bytes for the artifact and the cache, because these do not get smaller when they are packed. */
const SCRIPT = `head -c 20000 /dev/urandom > made
i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i of a log that is not very long; done`;
const STEPS = [
  { name: "depend", uses: "cache", args: { key: "made-${{ variables.n }}", paths: ["made"] } },
  { name: "say", uses: "shell", args: { script: SCRIPT }, artifacts: [{ name: "made", paths: ["made"] }] },
];

interface Run {
  readonly runId: string;
  readonly status: string;
  readonly endTime: string | null;
  readonly attempt: number;
}

interface Sample {
  readonly seconds: number;
  readonly made: number;
  readonly storeBytes: number;
  readonly freeBytes: number;
  readonly logBytes: number;
  /** Size of all artifacts and caches. */
  readonly blobBytes: number;
  readonly runs: number;
  readonly rows: number;
  readonly nodeBytes: number;
  readonly redisBytes: number;
}

async function main(durationMs: number): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-soak-"));
  const installation = await Installation.start(dataDir, {
    MILLRACE_KEEP_RUNS: KEEP,
    MILLRACE_KEEP_LOGS: "10s",
    MILLRACE_KEEP_ARTIFACTS: "10s",
    MILLRACE_KEEP_EVENTS: "12s",
    MILLRACE_CACHE_LIMIT: "1MB",
    MILLRACE_KEEP_RECORDS: "20s",
  });
  const store = new SqliteConnection(storeFile(dataDir), { readonly: true });
  const load = new Load(installation);
  const samples: Sample[] = [];
  try {
    await load.prepare();
    const startedAt = performance.now();
    const until = startedAt + durationMs;
    const working = load.run(until);
    for (let next = startedAt + SAMPLE_MS; next <= until; next += SAMPLE_MS) {
      await Promise.race([working, pause(next - performance.now())]);
      const sample = sampleOf(store, dataDir, installation, {
        seconds: Math.round((next - startedAt) / 1_000),
        made: load.made,
      });
      samples.push(sample);
      process.stdout.write(`${shown(sample)}\n`);
    }
    await working;
    process.stdout.write(`rows at the end: ${JSON.stringify(rowsOf(store))}\n`);
    return reportGrowth(samples);
  } finally {
    store.close();
    await installation.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Starts runs of each pipeline at a steady pace. They have request ids and concurrency groups, and some are reruns. */
class Load {
  made = 0;
  readonly #installation: Installation;
  #pipelines: readonly string[] = [];

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  async prepare(): Promise<void> {
    const { api } = this.#installation;
    const grouped = { concurrency: { group: "deploy-${{ variables.n }}", limit: 1 } };
    this.#pipelines = await Promise.all(
      [{}, grouped].map(async (more, at) => {
        const { pipelineId } = await api.call<{ pipelineId: string }>("POST", "/pipelines", { name: `soak-${at}` });
        const spec = { variables: { n: "0" }, ...more, jobs: [{ name: "job", steps: STEPS }] };
        await api.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
        return pipelineId;
      }),
    );
  }

  async run(until: number): Promise<void> {
    await Promise.all(this.#pipelines.map((pipelineId) => this.#keepBusy(pipelineId, until)));
  }

  async #keepBusy(pipelineId: string, until: number): Promise<void> {
    const { api } = this.#installation;
    let dueAt = performance.now();
    while (performance.now() < until) {
      const { list } = await api.call<{ list: readonly Run[] }>("GET", `/pipelines/${pipelineId}/runs?pageSize=100`);
      const live = list.filter(({ endTime }) => endTime === null).length;
      const ended = list.find(({ endTime, attempt }) => endTime !== null && attempt === 1);
      for (let count = live; count < IN_FLIGHT && dueAt <= performance.now(); count++) {
        dueAt += 1_000 / RUNS_A_SECOND;
        const n = String(this.made++);
        if (this.made % RERUN_EVERY === 0 && ended !== undefined) {
          const again = api.call("POST", `/pipelines/${pipelineId}/runs/${ended.runId}/rerun`, { scope: "all" });
          // The rerun is refused when the run was rerun in the meantime.
          await again.catch(() => {});
        } else {
          await api.call("POST", `/pipelines/${pipelineId}/trigger`, { variables: { n }, requestId: `soak-${n}` });
        }
      }
      await pause(POLL_MS);
    }
  }
}

function sampleOf(
  store: SqliteConnection,
  dataDir: string,
  { nodePid, redisPid }: Installation,
  at: Pick<Sample, "seconds" | "made">,
): Sample {
  const pragma = (name: string): number => (store.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[name]!;
  const rows = rowsOf(store);
  return {
    ...at,
    storeBytes: pragma("page_count") * pragma("page_size"),
    freeBytes: pragma("freelist_count") * pragma("page_size"),
    logBytes: statSync(`${storeFile(dataDir)}-wal`).size,
    blobBytes: bytesBelow(join(dataDir, "blobs")),
    runs: rows["aggregates"]!,
    rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
    nodeBytes: residentBytes(nodePid),
    redisBytes: residentBytes(redisPid),
  };
}

function rowsOf(store: SqliteConnection): Record<string, number> {
  const tables = store.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all() as {
    readonly name: string;
  }[];
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      (store.prepare(`SELECT count(*) AS total FROM "${name}"`).get() as { total: number }).total,
    ]),
  );
}

function bytesBelow(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  // Some files are deleted during the sum.
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function shown(sample: Sample): string {
  const { seconds, made, storeBytes, freeBytes, logBytes, blobBytes, runs, rows, nodeBytes, redisBytes } = sample;
  return (
    `${String(seconds).padStart(5)} s  ${made} runs started, ${runs} aggregates and ${rows} rows stored; store ${megabytes(storeBytes)} ` +
    `(${megabytes(freeBytes)} of it free), write-ahead log ${megabytes(logBytes)}, artifacts and caches ${megabytes(blobBytes)}; ` +
    `memory: control plane ${megabytes(nodeBytes)}, Redis ${megabytes(redisBytes)}`
  );
}

const FIGURES = ["storeBytes", "blobBytes", "rows"] as const;

/** Prints for each figure whether it stays flat. Answers the exit status. */
function reportGrowth(samples: readonly Sample[]): number {
  const steady = samples.filter(({ seconds }) => seconds > WARM_UP_SECONDS);
  const half = Math.floor(steady.length / 2);
  const most = (some: readonly Sample[], of: (typeof FIGURES)[number]) => Math.max(...some.map((sample) => sample[of]));
  let status = 0;
  for (const figure of FIGURES) {
    const [before, after] = [most(steady.slice(0, half), figure), most(steady.slice(half), figure)];
    const isFlat = after <= before * TOLERATED_GROWTH;
    process.stdout.write(
      `${figure}: at most ${before} in the first half, ${after} in the second: ${isFlat ? "flat" : "grows"}\n`,
    );
    if (!isFlat) status = 1;
  }
  return status;
}

const { values } = parseArgs({ options: { minutes: { type: "string", default: "5" } } });
const minutes = Number(values.minutes);
if (!(minutes >= 2)) {
  process.stderr.write("usage: npm run soak -- --minutes N, from 2\n");
  process.exit(2);
}
process.exitCode = await main(minutes * 60_000);
