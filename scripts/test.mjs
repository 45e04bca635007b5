/**
 * Runs the tests: `node scripts/test.mjs [ARGUMENTS OF MOCHA]`. When the arguments name files or folders, mocha runs
 * those. Otherwise it runs all tests in two lanes. One has the files that hold an installation to a bound in time, or that
 * count events, one by one. The other has all other files, as many in parallel as keep the machine busy;
 * it works with a lower priority, in the time that the first lane leaves, so its deadlines are longer. All are compiled
 * before (compiled-tests.mjs).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { loadOptions } from "mocha/lib/cli/options.cjs";
import { sourceOf } from "./compiled-places.mjs";
import { compileTests } from "./compiled-tests.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MOCHA = join(dirname(createRequire(import.meta.url).resolve("mocha/package.json")), "bin/mocha.js");

/** How many files run in parallel: more than the smallest machine has processors, because most files mostly wait. */
const JOBS = 4;
/** How many files run in parallel at most, while the processors are idle (test/support/turns.ts). */
const MOST_JOBS = 12;
/** The priority of files without bounds, as `nice` counts it: the lowest, so that it takes nothing from the other lane. */
const LOW_PRIORITY = 19;

/**
 * Most code of a test runs a few times, and V8 spends a tenth of the processor time of such a file on making fast code of
 * what will not run again. With this option a function becomes fast after six times as much work as by default. Later
 * releases of Node do not have it.
 */
const LATE_OPTIMIZATION = process.versions.node.startsWith("20.") ? ["--interrupt-budget=400000"] : [];

/**
 * Files and folders that take longest, most of them because they wait. They begin first: no one of them runs at the end
 * while the machine has nothing else, and the others compute while these wait.
 */
const FIRST = [
  "test/contracts/stores.test.ts",
  "test/rights/rights.test.ts",
  "test/docs/shell-blocks.test.ts",
  "test/cli/start.test.ts",
  "test/cli/agent-conformance.test.ts",
  "test/object-storage/cold-logs.test.ts",
  "test/web/pages.test.ts",
  "test/e2e/command-line.test.ts",
  "test/simulation/seeds.test.ts",
  "test/e2e/artifacts.test.ts",
  "test/e2e/offline-agent.test.ts",
  "test/stores/mongo-cut.test.ts",
  "test/agent/process/usage.test.ts",
  "test/agent/connection/connection.test.ts",
  "test/queues/ownership.test.ts",
  "test/e2e/",
  "test/bench/removal.test.ts",
  "test/grpc/agent-status.test.ts",
  "test/queues/",
  "test/web/",
  "test/agent/process/",
  "test/rights/",
  "test/simulation/",
  "test/http/git.test.ts",
  "test/stores/sqlite-faults.test.ts",
  "test/ws/",
];

/**
 * How many times longer the tests of files without bounds may take than their deadlines say (test/support/patience.ts).
 * Such a deadline only ends a test that hangs, and a slow machine with other work must not look like that.
 */
const PATIENCE = 4;

/** Files that hold an installation to a bound in time, or that count events which a slow machine adds to. */
const BOUNDED = [
  "test/chaos/chaos.test.ts",
  "test/chaos/embedded.test.ts",
  "test/e2e/redis-cluster.test.ts",
  "test/grpc/agent-requests.test.ts",
  "test/grpc/call-bounds.test.ts",
  "test/node/cut-off.test.ts",
  "test/node/idle-calls.test.ts",
  "test/queues/owners.test.ts",
  "test/bench/operations.test.ts",
  "test/e2e/fairness.test.ts",
  "test/node/cost-of-a-run.test.ts",
];

/** More files with failed tests than these are not run again. */
const MAX_REPEATED_FILES = 8;
const REPORTER = join(ROOT, "scripts/test-reporter.mjs");

/** Each process of the tests appends to it what each file cost (test/support/file-costs.ts). */
const COSTS = join(ROOT, "node_modules/.cache/millrace/test-costs.jsonl");
/** How many of the files that cost most are printed. */
const PRINTED_COSTS = 20;
/** How much of the first line of an error is printed in the list of failed tests. */
const MAX_REASON_CHARACTERS = 200;

/** With a single job mocha would run a file in its main process, where no hook checks what the file leaves open. */
const FEWEST_JOBS = 2;

/** The compiled tests. */
let compiled;
/** How many reports of mocha there are. */
let reports = 0;

// Mocha gets the signal too and ends in order, and then this process ends.
process.on("SIGINT", () => {});
const args = process.argv.slice(2);
process.exitCode = await (loadOptions(args)._.length > 0 ? run("--parallel", "--jobs", JOBS, ...args) : runAll());

async function runAll() {
  const missing = [...FIRST, ...BOUNDED].filter((file) => !existsSync(join(ROOT, file)));
  if (missing.length > 0)
    throw new Error(`there is no ${missing.join(", no ")}: correct the lists in scripts/test.mjs`);
  const others = otherFiles();
  compiled = await compileTests("test-run", [...BOUNDED, ...others]);
  rmSync(COSTS, { force: true });
  process.env.MILLRACE_TEST_COSTS = COSTS;
  const bounded = runBounded();
  const ofOthers = await report(
    { priority: LOW_PRIORITY, patience: PATIENCE, jobs: MOST_JOBS, always: JOBS, flags: LATE_OPTIMIZATION },
    others,
  );
  const { output, results: ofBounded } = await bounded;
  process.stdout.write(output);
  const results = [ofOthers, ...ofBounded];
  const failures = results.flatMap((result) => result.failures);
  const left = await repeat(failures);
  const passed = results.reduce((sum, { passes }) => sum + passes, 0) + failures.length - left.length;
  printCosts();
  printFailures(left);
  console.log(`\n${passed} tests passed, ${left.length} failed`);
  return left.length > 0 || results.some(({ hasCrashed }) => hasCrashed) ? 1 : 0;
}

/** Runs the files with bounds. Answers what mocha wrote, since the other lane writes meanwhile. */
async function runBounded() {
  const results = [];
  for (const file of BOUNDED) results.push(await report({ isKept: true }, [file]));
  return { output: results.map(({ output }) => output).join(""), results };
}

/** All files without bounds, those of `FIRST` in front. */
function otherFiles() {
  const rank = (file) => [...FIRST, ""].findIndex((begin) => file.startsWith(begin));
  return readdirSync(join(ROOT, "test"), { recursive: true })
    .map((name) => join("test", name))
    .filter((file) => file.endsWith(".test.ts") && !BOUNDED.includes(file))
    .toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/**
 * Runs the files of failed tests once more, each alone and from its source, and answers the tests that failed again. A
 * test that passes now lost a race against the other files: that is a fault of the test or of the program, so it is
 * named. Many failed files are no accident, and are not repeated.
 */
async function repeat(failures) {
  const files = [...new Set(failures.map(({ file }) => file))];
  // What fails before the files are read belongs to none of them.
  const areKnown = files.every((file) => file?.endsWith(".test.ts"));
  if (files.length === 0 || files.length > MAX_REPEATED_FILES || !areKnown) return failures;
  console.log(`Files with failed tests, each once more, alone:`);
  const again = [];
  for (const file of files) {
    const patience = BOUNDED.includes(file) ? 1 : PATIENCE;
    const result = await report({ isSource: true, patience }, [file]);
    again.push(...(result.hasCrashed ? failures.filter((failure) => failure.file === file) : result.failures));
  }
  const left = new Set(again.map(({ title }) => title));
  for (const { file, title } of failures) {
    if (!left.has(title)) console.log(`unsteady: ${file}: ${title}`);
  }
  return again;
}

/** Prints the files that cost most, and the sum of all. A file that was repeated stands there twice. */
function printCosts() {
  const costs = existsSync(COSTS) ? readFileSync(COSTS, "utf8").trim().split("\n").map(JSON.parse) : [];
  const row = ({ processor, clock }, name) =>
    console.log(`${processor.toFixed(1).padStart(9)} ${clock.toFixed(1).padStart(9)}  ${name}`);
  console.log("\nProcessor and clock, in seconds, of the files that take longest:");
  for (const cost of costs.toSorted((a, b) => b.clock - a.clock).slice(0, PRINTED_COSTS))
    row(cost, cost.files.map(sourceOf).join(", "));
  const sumOf = (key) => costs.reduce((sum, cost) => sum + cost[key], 0);
  row({ processor: sumOf("processor"), clock: sumOf("clock") }, "all files");
}

/** Prints the failed tests in one list, behind everything else: the two lanes write much in between. */
function printFailures(failures) {
  if (failures.length === 0) return;
  console.log("\nFailed tests:");
  for (const { file, title, reason } of failures)
    console.log(`${file ?? ""}: ${title}: ${reason.slice(0, MAX_REASON_CHARACTERS)}`);
}

/**
 * Runs test files, and answers how many tests passed, which failed, and whether mocha ended without telling. `isKept`: the
 * answer holds what mocha wrote, and nothing is shown. `isSource`: the files are translated as they are loaded. `always`:
 * how many files are under way when the processors are not idle; default: all `jobs`. `flags`: options of Node.
 */
async function report({ priority = 0, isKept, isSource, patience = 1, jobs = FEWEST_JOBS, always, flags = [] }, files) {
  const file = join(compiled.folder, `report-${++reports}.json`);
  const told = ["--reporter", REPORTER, "--reporter-option", `report=${file}`, "--parallel", "--jobs", jobs];
  const chosen = isSource ? files : [...compiled.options, ...files.map(compiled.pathOf)];
  const child = startMocha([...told, ...args, ...chosen], isKept ? "pipe" : "inherit", { patience, always, flags });
  if (priority !== 0) setPriority(child.pid, priority);
  const [output, status] = await Promise.all([isKept ? text(child.stdout) : "", statusOf(child)]);
  const { passes, failures } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { passes: 0, failures: [] };
  const named = failures.map((failure) => ({ ...failure, file: failure.file && sourceOf(failure.file) }));
  return { passes, failures: named, output, hasCrashed: status !== 0 && failures.length === 0 };
}

/** Runs mocha, and answers its exit status. */
function run(...options) {
  return statusOf(startMocha(options, "inherit"));
}

function startMocha(options, stdout, { patience = 1, always, flags = [] } = {}) {
  const stdio = ["inherit", stdout, "inherit"];
  const turns = always === undefined ? {} : { MILLRACE_TEST_ALWAYS: String(always) };
  const env = { ...process.env, ...compiled?.env, ...turns, MILLRACE_TEST_PATIENCE: String(patience) };
  return spawn(process.execPath, [...flags, MOCHA, ...options.map(String)], { cwd: ROOT, stdio, env });
}

async function statusOf(child) {
  const [status] = await once(child, "exit");
  return status ?? 1;
}
