/**
 * How long commands take to start, beside `node -e 0`: `npm run bench:start`. The commands take turns, so that what else
 * the machine does falls on all of them.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../dist/src/main.js", import.meta.url));
const ROUNDS = 21;
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "node -e 0": ["-e", "0"],
  "--version": [MAIN, "--version"],
  "--help": [MAIN, "--help"],
  contexts: [MAIN, "contexts"],
  "completion bash": [MAIN, "completion", "bash"],
};

const folder = mkdtempSync(join(tmpdir(), "millrace-startup-"));
try {
  const times = new Map(Object.keys(COMMANDS).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, args] of Object.entries(COMMANDS)) {
      const begin = performance.now();
      const { status } = spawnSync(process.execPath, args, {
        stdio: "ignore",
        env: { ...process.env, XDG_CONFIG_HOME: folder },
      });
      if (status !== 0) throw new Error(`${name} ended with ${status}`);
      times.get(name)!.push(performance.now() - begin);
    }
  }
  const base = median(times.get("node -e 0")!);
  const load = loadavg()[0]!.toFixed(2);
  console.log(`medians of ${ROUNDS}, Node ${process.versions.node}, ${availableParallelism()} cores, load ${load}`);
  for (const [name, all] of times) {
    const ms = median(all);
    console.log(`${name.padEnd(18)}${ms.toFixed(0).padStart(5)} ms  ${(ms / base).toFixed(2)}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
