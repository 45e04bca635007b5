/** Installs the peers. Each peer is a separate package, with versions pinned by its own lock file. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const RESTATE = new URL("./restate/", import.meta.url);

/**
 * Idempotent. The first call needs the npm registry. Throws when npm fails; npm writes its output to this process's
 * output.
 */
export function installPeers(): void {
  if (existsSync(new URL("node_modules", RESTATE))) return;
  // Install scripts are not needed: those of a peer's dependencies only count installations.
  const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["ci", ...options], { cwd: fileURLToPath(RESTATE), stdio: "inherit" });
}
