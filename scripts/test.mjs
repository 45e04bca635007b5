/**
 * Runs the tests: `node scripts/test.mjs [ARGUMENTS OF MOCHA]`. Given files or folders, mocha runs those. Else it runs all:
 * first several files at a time, then one by one those whose bounds hold only for a machine that does nothing else.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadOptions } from "mocha/lib/cli/options.cjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MOCHA = join(dirname(createRequire(import.meta.url).resolve("mocha/package.json")), "bin/mocha.js");

/** More than there are processors in the smallest machine that runs them: most files wait most of the time. */
const JOBS = 4;

/** Each holds calls or a whole installation to a bound in time, or counts what a timer adds to when the machine is slow. */
const ALONE = [
  "test/chaos/chaos.test.ts",
  "test/e2e/fairness.test.ts",
  "test/e2e/redis-cluster.test.ts",
  "test/grpc/agent-requests.test.ts",
  "test/grpc/call-bounds.test.ts",
  "test/plane/cost-of-a-run.test.ts",
  "test/queues/owners.test.ts",
];

// Mocha ends by itself, and this process with it.
process.on("SIGINT", () => {});
const given = process.argv.slice(2);
process.exitCode = await (loadOptions(given)._.length > 0 ? run("--parallel", "--jobs", JOBS, ...given) : runAll());

async function runAll() {
  const missing = ALONE.filter((file) => !existsSync(join(ROOT, file)));
  if (missing.length > 0) throw new Error(`there is no ${missing.join(", no ")}: correct the list in scripts/test.mjs`);
  const together = await run("--parallel", "--jobs", JOBS, ...ALONE.flatMap((file) => ["--ignore", file]), ...given);
  console.log("Files that run alone:");
  const alone = await run(...given, ...ALONE);
  return together || alone;
}

/** Answers mocha's exit status. */
async function run(...args) {
  const child = spawn(process.execPath, [MOCHA, ...args.map(String)], { cwd: ROOT, stdio: "inherit" });
  const [status] = await once(child, "exit");
  return status ?? 1;
}
