/**
 * `npm run bench:log-bytes -- [LINES] [LINES_OF_A_CHUNK]`: the bytes that a line of a log takes in the store, before its small
 * chunks are joined and afterwards, and the processor time of storing and of joining. By default 100,000 lines of a build, 5
 * in a chunk, as a step leaves them that is followed. On MongoDB, whose test server is started, the bytes are those of the
 * documents, which the server compresses once more.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BSON, MongoClient } from "mongodb";
import { newId, type StepRunId } from "../src/domain/ids.ts";
import { packedLogs } from "../src/stores/format/packed-logs.ts";
import { openMongoStores } from "../src/stores/mongo/open.ts";
import type { LogLine, LogStore } from "../src/stores/ports/logs.ts";
import { openSqliteStores } from "../src/stores/sqlite/open.ts";
import { SqliteConnection } from "../src/sqlite/connection.ts";
import { freshDatabase, startTestMongo, stopTestMongo } from "../test/support/mongo.ts";
import { loadAverage } from "./machine.ts";

const count = Number(process.argv[2] ?? 100_000);
const ofChunk = Number(process.argv[3] ?? 5);

/** What a build writes: names that recur, numbers that do not. */
const lineOf = (line: number): LogLine => ({
  line,
  timeMs: 1_700_000_000_000 + line * 37,
  stream: "stdout",
  level: "info",
  content: `src/app/module-${line % 60}/file-${(line * 7_919) % 997}.ts(${(line * 31) % 400},5): 'value' is unused`,
  lost: 0,
});

/** Chunks and bytes that the log takes now. */
type Sizes = () => Promise<{ readonly chunks: number; readonly bytes: number }>;

async function measure(name: string, adapter: LogStore, sizes: Sizes): Promise<void> {
  const logs = packedLogs(adapter, () => Number.MAX_SAFE_INTEGER);
  const stepRunId: StepRunId = newId("step");
  const steps: readonly (readonly [string, () => Promise<void>])[] = [
    [
      "stored",
      async () => {
        for (let first = 1; first <= count; first += ofChunk) {
          const last = Math.min(count, first + ofChunk - 1);
          const lines = Array.from({ length: last - first + 1 }, (_, at) => lineOf(first + at));
          await logs.append({ stepRunId, agentId: "agt", lines });
        }
      },
    ],
    [
      "joined",
      async () => {
        for (let from: number | undefined = 1; from !== undefined;) from = await logs.joinNext(stepRunId, from);
      },
    ],
  ];
  for (const [what, work] of steps) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    const { chunks, bytes } = await sizes();
    const perLine = `${(bytes / count).toFixed(1)} bytes and ${((user + system) / count).toFixed(2)} µs of this process a line`;
    console.log(`${name}, ${what}: ${chunks} chunks, ${(bytes / 1e6).toFixed(2)} MB, ${perLine}`);
  }
}

async function onSqlite(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-log-bytes-"));
  try {
    const path = join(folder, "millrace.db");
    const stores = await openSqliteStores({ path });
    const db = new SqliteConnection(path, { readonly: true });
    const read = (sql: string): number => Number(Object.values(db.prepare(sql).get() as Record<string, number>)[0]);
    // All used pages of the file: also what rows and indexes take besides the lines.
    const used = () => (read("PRAGMA page_count") - read("PRAGMA freelist_count")) * read("PRAGMA page_size");
    const empty = used();
    await measure("SQLite", stores.logs, () =>
      Promise.resolve({ chunks: read("SELECT count(*) FROM log_chunks"), bytes: used() - empty }),
    );
    db.close();
    await stores.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onMongo(): Promise<void> {
  const { url } = await startTestMongo();
  const database = freshDatabase();
  const stores = await openMongoStores({ url, database });
  const client = await MongoClient.connect(url);
  await measure("MongoDB", stores.logs, async () => {
    const chunks = await client.db(database).collection("log_chunks").find().toArray();
    return { chunks: chunks.length, bytes: chunks.reduce((sum, chunk) => sum + BSON.calculateObjectSize(chunk), 0) };
  });
  await client.close();
  await stores.close();
  await stopTestMongo();
}

await onSqlite();
await onMongo();
console.log(`load average: ${loadAverage()}`);
