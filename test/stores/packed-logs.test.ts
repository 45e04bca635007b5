/** The store of logs that compresses its chunks. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { packedLogs } from "../../src/stores/format/packed-logs.ts";
import { PACKED_LOGS_SCHEMA } from "../../src/stores/format/stored-format.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import type { LogLine, LogStore } from "../../src/stores/ports/logs.ts";
import { openTestSqlite } from "../support/stores.ts";

/** What a build writes: names that recur, numbers that do not. */
const line = (number: number): LogLine => ({
  line: number,
  timeMs: 1_700_000_000_000 + number * 37,
  stream: "stdout",
  level: "info",
  content: `src/app/module-${number % 60}/file-${(number * 7_919) % 997}.ts(${(number * 31) % 400},5): 'value' is unused`,
  lost: 0,
});
const lines = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => line(first + at));

describe("a store of logs that compresses", () => {
  let store: Awaited<ReturnType<typeof openTestSqlite>>;
  let schema = PACKED_LOGS_SCHEMA;
  let logs: LogStore;
  before(async () => {
    store = await openTestSqlite();
    logs = packedLogs(store.stores.logs, () => schema);
  });
  after(() => store.close());

  it("compresses what is worth it, once every node reads it, and reads all alike", async () => {
    const stepRunId = newId("step");
    const append = (first: number, last: number) => logs.append({ stepRunId, agentId: "a", lines: lines(first, last) });
    await append(1, 3);
    schema = PACKED_LOGS_SCHEMA - 1;
    await append(4, 203);
    schema = PACKED_LOGS_SCHEMA;
    await append(204, 403);
    await append(404, 1_403);
    expect((await logs.headers(stepRunId, 1, 10)).map(({ last, compression }) => [last, compression])).to.deep.equal([
      [3, "none"],
      [203, "none"],
      [403, "gzip"],
      [1_403, "gzip"],
    ]);
    expect(await logs.read(stepRunId, 1, 2_000)).to.deep.equal(lines(1, 1_403));
    expect(await logs.read(stepRunId, 300, 200)).to.deep.equal(lines(300, 499));
    expect(await logs.storedThrough(stepRunId)).to.equal(1_403);
  });

  it("stores a line of a build in a third of the bytes or less", async () => {
    const bytesOf = async (of: LogStore): Promise<number> => {
      const stepRunId = newId("step");
      for (let first = 1; first <= 1_000; first += 100) {
        await of.append({ stepRunId, agentId: "a", lines: lines(first, first + 99) });
      }
      return storedBytes(store.path, stepRunId) / 1_000;
    };
    const [plain, packed] = [await bytesOf(store.stores.logs), await bytesOf(logs)];
    expect(packed, `${packed} bytes a line, ${plain} before`).to.be.below(plain / 3);
  });
});

/** Bytes of the lines of a log in the file. */
function storedBytes(path: string, stepRunId: string): number {
  const db = new SqliteConnection(path);
  try {
    const row = db.prepare("SELECT sum(length(body)) AS bytes FROM log_chunks WHERE step_run_id = ?").get(stepRunId);
    return (row as { readonly bytes: number }).bytes;
  } finally {
    db.close();
  }
}
