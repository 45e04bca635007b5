/**
 * Hooks around all test files. Mocha's main process starts the MongoDB-wire server that all files share. Each file must
 * close what it opens. In a parallel run, several processes load files and run `mochaHooks` for each file.
 */
import { beginClock, noteCosts } from "./file-costs.ts";
import { useMemoryFolder } from "./memory-folder.ts";
import { shareTestMongo } from "./mongo.ts";
import { takeUnlisted, watchShardKeys } from "./mongo-shard-keys.ts";
import { beGenerous } from "./patience.ts";
import { useTestPrograms } from "./test-programs.ts";
import { endTurn, giveTurns, takeTurn } from "./turns.ts";
import { until } from "./until.ts";

useTestPrograms();
beGenerous();
watchShardKeys();

let endMongo: (() => Promise<void>) | undefined;
let endTurns: (() => void) | undefined;

export async function mochaGlobalSetup(): Promise<void> {
  await useMemoryFolder();
  endMongo = await shareTestMongo();
  endTurns = await giveTurns();
}

export async function mochaGlobalTeardown(): Promise<void> {
  endTurns?.();
  await endMongo?.();
}

let openBefore: readonly string[] = [];

/**
 * The open servers, connections, files and processes, by Node's names for them. Timers are left out, because each timer
 * ends.
 */
const openNow = (): readonly string[] =>
  process.getActiveResourcesInfo().filter((kind) => kind !== "Timeout" && kind !== "Immediate");

/** Fails a file whose stores have sent a query to all shards that src/stores/mongo/cluster/sharding.ts does not list. */
function refuseUnlisted(): void {
  const queries = takeUnlisted();
  if (queries.length === 0) return;
  throw new Error(
    `on a sharded MongoDB these queries go to all shards: name the shard key, or list them in TO_ALL_SHARDS: ${queries.join("; ")}`,
  );
}

/**
 * Hooks that fail a file that leaves a resource open, because mocha would not end when it runs that file alone. The
 * hooks check only in a parallel run: there mocha ends its processes although resources are open.
 */
export const mochaHooks = {
  async beforeAll(this: Mocha.Context): Promise<void> {
    // A file waits for its turn as long as the files before it take.
    this.timeout(0);
    await takeTurn();
    beginClock();
    openBefore = openNow();
  },
  async afterAll(this: Mocha.Context): Promise<void> {
    endTurn();
    const suites = this.test?.parent?.suites ?? [];
    noteCosts(suites);
    // The reporter names the file of a failed hook, which mocha knows only of hooks in a file.
    if (this.test !== undefined) this.test.file = suites[0]?.file;
    refuseUnlisted();
    if (process.env["MOCHA_WORKER_ID"] === undefined) return;
    let left: string[] = [];
    const isClosed = () => {
      left = [...openNow()];
      for (const kind of openBefore) left.splice(left.indexOf(kind), left.includes(kind) ? 1 : 0);
      return left.length === 0;
    };
    await until("everything that the file opened is closed", isClosed).catch((error: Error) => {
      throw new Error(`${error.message}; left are ${left.join(", ")}`);
    });
  },
};
