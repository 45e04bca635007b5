/**
 * Checks package-lock.json for every platform that the project supports: `npm ci` accepts the file, and installs the
 * native parts for that platform. Run `node scripts/check-lock.mjs`. It installs nothing and asks no registry.
 */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILES = ["package.json", "package-lock.json"];
/** Operating system, processor and, where there are two, C library. */
const PLATFORMS = [
  ["linux", "x64", "glibc"],
  ["linux", "arm64", "glibc"],
  ["linux", "x64", "musl"],
  ["linux", "arm64", "musl"],
  ["darwin", "arm64"],
  ["darwin", "x64"],
  ["win32", "x64"],
];

const { workspaces: WORKSPACES } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
// A folder without node_modules, because npm would read those too.
const folder = mkdtempSync(join(tmpdir(), "millrace-lock-"));
try {
  for (const name of [...FILES, ...WORKSPACES.map((workspace) => join(workspace, "package.json"))]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    copyFileSync(join(ROOT, name), join(folder, name));
  }
  const found = (await Promise.all(PLATFORMS.map(platformProblems))).flat();
  const places = new Map();
  for (const { platform, problem } of found) places.set(problem, [...(places.get(problem) ?? []), platform]);
  const problems = [
    ...entryProblems(),
    ...[...places].map(([problem, platforms]) => `on ${platforms.join(", ")}: ${problem}`),
  ];
  for (const problem of problems) console.error(`package-lock.json: ${problem}`);
  if (problems.length > 0) {
    console.error("After a change of package.json run `npm install`, then `node scripts/complete-lock.mjs`.");
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * No entry may name a registry, so that the configured one is used. Each has a checksum, except native parts for one
 * platform. Workspaces are folders of the checkout, so they have neither.
 */
function entryProblems() {
  const fetched = Object.entries(packages).filter(([key, { link }]) => link !== true && !WORKSPACES.includes(key));
  return fetched.flatMap(([key, { resolved, integrity, optional, os }]) => [
    ...(resolved === undefined ? [] : [`${key} names the registry ${new URL(resolved).origin}`]),
    ...(key === "" || integrity !== undefined || (optional && os !== undefined) ? [] : [`${key} has no checksum`]),
  ]);
}

async function platformProblems([os, cpu, libc]) {
  const platform = [os, cpu, libc].filter((word) => word !== undefined).join(" ");
  const options = [
    "--dry-run",
    // A silent caller makes this npm silent too, and then it lists nothing.
    "--loglevel=notice",
    "--offline",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    `--os=${os}`,
    `--cpu=${cpu}`,
  ];
  const installed = new Set();
  try {
    const { stdout } = await promisify(execFile)(
      "npm",
      ["ci", ...options, ...(libc === undefined ? [] : [`--libc=${libc}`])],
      { cwd: folder, shell: process.platform === "win32" },
    );
    for (const [, name] of stdout.matchAll(/^add (\S+) /gm)) installed.add(name);
  } catch ({ stderr, message }) {
    const reasons = (stderr || message).split("\n").filter((line) => /EUSAGE|Missing|Invalid/.test(line));
    return [{ platform, problem: `npm ci refuses it:\n  ${(reasons.length > 0 ? reasons : [message]).join("\n  ")}` }];
  }
  return nativeFamilies()
    .filter(({ parts }) => !parts.some((name) => installed.has(name)))
    .map(({ parent }) => ({ platform, problem: `npm ci installs no native part of ${parent}` }));
}

/** The packages that have one native part for each platform. */
function nativeFamilies() {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) => {
    const parts = Object.keys(optionalDependencies).filter(
      (name) => packages[`node_modules/${name}`]?.os?.length === 1,
    );
    return parts.length > 2 ? [{ parent, parts }] : [];
  });
}
