/**
 * What goes for all test files. Before the first one mocha's main process builds the program and offers what they share;
 * each file has to close what it opens. In a parallel run several processes load files, and run these hooks for each file.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { useMemoryFolder } from "./memory-folder.ts";
import { shareTestMongo } from "./mongo.ts";
import { until } from "./until.ts";

const SETUP = fileURLToPath(new URL("../../scripts/setup.mjs", import.meta.url));

let endMongo: (() => Promise<void>) | undefined;

/** End-to-end tests start the program: there is nothing to build when it is newer than its sources. */
export async function mochaGlobalSetup(): Promise<void> {
  await promisify(execFile)(process.execPath, [SETUP, "--build"]);
  await useMemoryFolder();
  endMongo = await shareTestMongo();
}

export async function mochaGlobalTeardown(): Promise<void> {
  await endMongo?.();
}

let openBefore: readonly string[] = [];

/** Servers, connections, files and processes, in Node's words; a timer ends by itself. */
const openNow = (): readonly string[] =>
  process.getActiveResourcesInfo().filter((kind) => kind !== "Timeout" && kind !== "Immediate");

/**
 * What a file leaves open keeps mocha from ending. A process of a parallel run is ended whatever is open in it, so there
 * these hooks look.
 */
export const mochaHooks = {
  beforeAll(): void {
    openBefore = openNow();
  },
  async afterAll(): Promise<void> {
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
