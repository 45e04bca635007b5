/** A description of the machine, and of the commit that is measured. */
import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { fileURLToPath } from "node:url";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly os: string;
  /** The version of Node that runs the measured node and agent. */
  readonly node: string;
  /** Load average of the last minute before the benchmark starts anything: the load by other programs. */
  readonly loadAverage: number;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Throws when `node` is not a program that tells a version of Node. */
export function describeMachine(node: string): Machine {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1e9),
    os: `${type()} ${release()}`,
    node: execFileSync(node, ["--version"], { encoding: "utf8" }).trim(),
    loadAverage: loadAverage(),
  };
}

/** The load average of the last minute. */
export function loadAverage(): number {
  return Number(loadavg()[0]!.toFixed(2));
}

/** The short id of the commit, with `+` when files differ from the commit; `unknown` outside a checkout. */
export function currentCommit(): string {
  try {
    const changed = git("status", "--porcelain") !== "";
    return `${git("rev-parse", "--short", "HEAD")}${changed ? "+" : ""}`;
  } catch {
    return "unknown";
  }
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}
