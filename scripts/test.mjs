/**
 * Runs the tests: `node scripts/test.mjs [ARGUMENTS OF MOCHA]`. When the arguments name files or folders, mocha runs
 * those. Otherwise it runs all tests: first several files in parallel, then, one by one, the files whose bounds hold
 * only on a machine that does nothing else.
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

/** How many files run in parallel: more than the smallest machine has processors, because most files mostly wait. */
const JOBS = 4;

/** Files that hold an installation to a bound in seconds, or that count events which a slow machine adds to. */
const ALONE = [
  "test/chaos/chaos.test.ts",
  "test/e2e/fairness.test.ts",
  "test/e2e/redis-cluster.test.ts",
  "test/grpc/agent-requests.test.ts",
  "test/grpc/call-bounds.test.ts",
  "test/node/cost-of-a-run.test.ts",
  "test/queues/owners.test.ts",
];

// Mocha gets the signal too and ends in order, and then this process ends.
process.on("SIGINT", () => {});
const args = process.argv.slice(2);
process.exitCode = await (loadOptions(args)._.length > 0 ? run("--parallel", "--jobs", JOBS, ...args) : runAll());

async function runAll() {
  const missing = ALONE.filter((file) => !existsSync(join(ROOT, file)));
  if (missing.length > 0) throw new Error(`there is no ${missing.join(", no ")}: correct the list in scripts/test.mjs`);
  const together = await run("--parallel", "--jobs", JOBS, ...ALONE.flatMap((file) => ["--ignore", file]), ...args);
  console.log("Files that run alone:");
  const alone = await run(...args, ...ALONE);
  return together || alone;
}

/** Runs mocha, and answers its exit status. */
async function run(...options) {
  const child = spawn(process.execPath, [MOCHA, ...options.map(String)], { cwd: ROOT, stdio: "inherit" });
  const [status] = await once(child, "exit");
  return status ?? 1;
}
