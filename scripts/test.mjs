/**
 * Runs the tests: `node scripts/test.mjs [ARGUMENTS OF MOCHA]`. When the arguments name files or folders, mocha runs
 * those. Otherwise it runs all tests: first as many files in parallel as keep the machine busy, then two by two those
 * that hold an installation to a bound in seconds, then one by one those that count events.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { loadOptions } from "mocha/lib/cli/options.cjs";
import { BUNDLING, ENTRIES } from "./bundling.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MOCHA = join(dirname(createRequire(import.meta.url).resolve("mocha/package.json")), "bin/mocha.js");

/** How many files run in parallel: more than the smallest machine has processors, because most files mostly wait. */
const JOBS = 4;

/**
 * Files that hold an installation to a bound in seconds. They mostly wait, so two of them leave the machine idle enough.
 * The longest comes first: the others run beside it.
 */
const IN_PAIRS = [
  "test/chaos/chaos.test.ts",
  "test/e2e/redis-cluster.test.ts",
  "test/grpc/agent-requests.test.ts",
  "test/grpc/call-bounds.test.ts",
  "test/node/cut-off.test.ts",
  "test/queues/owners.test.ts",
];
/** Files with bounds below a second, or that count events which a slow machine adds to. */
const ALONE = ["test/bench/operations.test.ts", "test/e2e/fairness.test.ts", "test/node/cost-of-a-run.test.ts"];

/** Programs of the tests, which many tests start. They are compiled together with those that they start themselves. */
const PROGRAMS = { ...ENTRIES, "agent-main": "test/agent/agent-main.ts", "next-version": "test/e2e/next-version.ts" };
/** Lies in the project, because the programs find packages from there. */
const COMPILED = join(ROOT, "node_modules/.cache/millrace/test-programs");

// Mocha gets the signal too and ends in order, and then this process ends.
process.on("SIGINT", () => {});
const args = process.argv.slice(2);
process.exitCode = await (loadOptions(args)._.length > 0 ? run("--parallel", "--jobs", JOBS, ...args) : runAll());

async function runAll() {
  const later = [...IN_PAIRS, ...ALONE];
  const missing = later.filter((file) => !existsSync(join(ROOT, file)));
  if (missing.length > 0)
    throw new Error(`there is no ${missing.join(", no ")}: correct the lists in scripts/test.mjs`);
  await compilePrograms();
  const together = await run("--parallel", "--jobs", JOBS, ...later.flatMap((file) => ["--ignore", file]), ...args);
  console.log("Files that run in pairs:");
  const inPairs = await run("--parallel", "--jobs", 2, ...args, ...IN_PAIRS);
  console.log("Files that run alone:");
  const alone = await run(...args, ...ALONE);
  return together || inPairs || alone;
}

/** To translate a program takes several times as long as to run it, so that is done once for all tests. */
async function compilePrograms() {
  rmSync(COMPILED, { recursive: true, force: true });
  await build({ ...BUNDLING, entryPoints: PROGRAMS, outdir: COMPILED });
  process.env.MILLRACE_TEST_PROGRAMS = COMPILED;
}

/** Runs mocha, and answers its exit status. */
async function run(...options) {
  const child = spawn(process.execPath, [MOCHA, ...options.map(String)], { cwd: ROOT, stdio: "inherit" });
  const [status] = await once(child, "exit");
  return status ?? 1;
}
