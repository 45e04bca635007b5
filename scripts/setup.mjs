/**
 * Makes a fresh checkout runnable: `node scripts/setup.mjs [--build] [--test]`. It uses only Node, because it runs
 * before any dependency is installed. It prints one line for each thing that it does, and nothing when there is nothing
 * to do.
 *
 *   always    installs the npm dependencies of package-lock.json; finds or fetches a Redis server, unless REDIS_URL is set
 *   --build   compiles the TypeScript sources into dist when they are newer, and the web page when its sources are
 *   --test    also provides what tests need: development dependencies, a Redis server even when REDIS_URL is set, and,
 *             for root on a system with Debian's packages, the package chromium
 *
 * Everything is written under a temporary name and renamed when it is complete, so the next run does not trust the
 * leftovers of an interrupted run. `redis-server.mjs` finds or fetches the Redis server.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NoRedisServerError, provideRedisServer } from "./redis-server.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, "node_modules");
/** What decides the build, beside the sources. */
const BUILT_BY = [
  "tsconfig.json",
  "tsconfig.build.json",
  "package-lock.json",
  "scripts/bundle.mjs",
  "scripts/bundling.mjs",
];
/** What decides the build of the web page, beside its sources. */
const WEB_BUILT_BY = ["web/index.html", "web/vite.config.ts", "web/package.json", "web/scripts/build.mjs"];

/**
 * Each checker of the compiler checks the types that it needs by itself. One takes half the processor time of the default
 * four and two thirds of their memory, and on two processors no more time.
 */
const CHECKED_ONCE = ["--checkers", "1"];

/** Names of browsers that the tests can drive. */
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];

class SetupError extends Error {}

const options = { build: process.argv.includes("--build"), test: process.argv.includes("--test") };
try {
  refuseUnknown(process.argv.slice(2));
  installDependencies();
  if (options.test || !process.env.REDIS_URL) provideRedisServer(say);
  if (options.test) provideBrowser();
  if (options.build) {
    // The compiler keeps one processor busy, and takes longer than the page and the program together.
    const page = buildWeb();
    await settled([build(page), page]);
  }
} catch (error) {
  if (!(error instanceof SetupError || error instanceof NoRedisServerError)) throw error;
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
}

function refuseUnknown(args) {
  const unknown = args.filter((arg) => arg !== "--build" && arg !== "--test");
  if (unknown.length > 0) throw new SetupError(`unknown option ${unknown.join(", ")}; known are --build and --test`);
}

function say(line) {
  console.log(`setup: ${line}`);
}

// --- npm dependencies ---

function installDependencies() {
  const lockfile = join(ROOT, "package-lock.json");
  const record = join(MODULES, ".millrace-setup");
  const hash = sha256(readFileSync(lockfile));
  if (existsSync(record) && readFileSync(record, "utf8").trim() === hash) return;
  if (!installedByHand(lockfile, record)) {
    say("installing npm dependencies");
    const flags = ["--no-audit", "--no-fund", ...(options.build || options.test ? ["--include=dev"] : [])];
    const refusal = npm(["ci", ...flags]);
    if (refusal !== undefined) throw new SetupError(`npm ci failed${adviceFor(refusal)}:\n${refusal}`);
  }
  writeWhole(record, `${hash}\n`);
}

/** Runs npm. Answers undefined on success, else what npm wrote. */
function npm(args) {
  const shell = process.platform === "win32";
  const { status, error, stdout, stderr } = spawnSync("npm", args, { cwd: ROOT, encoding: "utf8", shell });
  return status === 0 ? undefined : (error?.message ?? `${stderr}\n${stdout}`.trim());
}

/** What to do when the lock file is incomplete. npm itself advises `npm install` alone, which does not complete it. */
function adviceFor(refusal) {
  return refusal.includes("EUSAGE")
    ? ": package-lock.json does not fit package.json. Run `npm install` and `node scripts/complete-lock.mjs`, then repeat this command"
    : "";
}

/**
 * npm writes its hidden lock file as the last step of an installation. When it is newer than package-lock.json, the
 * installation is complete.
 */
function installedByHand(lockfile, record) {
  const hidden = join(MODULES, ".package-lock.json");
  return !existsSync(record) && existsSync(hidden) && statSync(hidden).mtimeMs >= statSync(lockfile).mtimeMs;
}

// --- a browser ---

/** The tests of the web page fail without a browser and say what to install, so a failure here is no failure. */
function provideBrowser() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  if (folders.some((folder) => BROWSERS.some((name) => existsSync(join(folder, name))))) return;
  const hasPackages = folders.some((folder) => existsSync(join(folder, "apt-get")));
  if (!hasPackages || process.getuid?.() !== 0) return;
  say("installing the package chromium");
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", "chromium"]]) {
    spawnSync("apt-get", args, { stdio: "ignore" });
  }
}

// --- build ---

/** `page`: the build of the web page. */
async function build(page) {
  const main = join(ROOT, "dist", "src", "main.js");
  const stamp = join(ROOT, "dist", ".built");
  const inputs = ["actors", "queues", "src", "clients/typescript/src", "proto/generated"].map((folder) =>
    join(ROOT, folder),
  );
  const newest = Math.max(...inputs.map(newestChange), ...BUILT_BY.map((name) => statSync(join(ROOT, name)).mtimeMs));
  if (existsSync(main) && existsSync(stamp) && statSync(stamp).mtimeMs > newest) return;
  say("compiling");
  const startedAt = new Date();
  await settled([checkTypes(), bundle(page)]);
  // A source that changed while the compiler ran counts as newer.
  writeWhole(stamp, "");
  utimesSync(stamp, startedAt, startedAt);
}

async function checkTypes() {
  const compiler = join(MODULES, "typescript", "bin", "tsc");
  await runNode([compiler, ...CHECKED_ONCE, "-p", "tsconfig.build.json"], "the TypeScript sources do not compile");
}

/** Takes a third of the time that the compiler takes. The bundler removes from `dist` what belongs to no complete page. */
async function bundle(page) {
  await page;
  await runNode([join(ROOT, "scripts", "bundle.mjs")], "the program cannot be written");
}

async function buildWeb() {
  const stamp = join(ROOT, "dist", ".built-web");
  const inputs = ["web/src", "clients/typescript/src"].map((folder) => newestChange(join(ROOT, folder)));
  const others = [...WEB_BUILT_BY, "package-lock.json"].map((name) => statSync(join(ROOT, name)).mtimeMs);
  const isBuilt = existsSync(stamp) && existsSync(join(ROOT, "dist", "web", "index.html"));
  if (isBuilt && statSync(stamp).mtimeMs > Math.max(...inputs, ...others)) return;
  say("building the web page");
  const startedAt = new Date();
  await runNode([join(ROOT, "web", "scripts", "build.mjs")], "the web page cannot be built");
  writeWhole(stamp, "");
  utimesSync(stamp, startedAt, startedAt);
}

async function runNode(args, failure) {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  const [status] = await once(child, "exit");
  if (status !== 0) throw new SetupError(`${failure}; see the messages above`);
}

/** Waits for the end of all tasks, so that none goes on when another one has failed. Then throws the first failure. */
async function settled(tasks) {
  const ends = await Promise.allSettled(tasks);
  const failed = ends.find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/**
 * The modification time of the newest file or folder below `folder`, milliseconds. Folders count, because a deletion
 * changes them.
 */
function newestChange(folder) {
  if (!existsSync(folder)) return 0;
  let newest = statSync(folder).mtimeMs;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestChange(path) : statSync(path).mtimeMs);
  }
  return newest;
}

// --- files and programs ---

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

function writeWhole(path, text) {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}
