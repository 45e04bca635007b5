/** Installs the peers, each a package of its own beside the product: its lock file says which versions. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const RESTATE = new URL("./restate/", import.meta.url);

/** Idempotent; needs the npm registry the first time. Throws when npm fails, whose output goes to ours. */
export function installPeers(): void {
  if (existsSync(new URL("node_modules", RESTATE))) return;
  // Scripts of a peer's dependencies only count installations.
  const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["ci", ...options], { cwd: fileURLToPath(RESTATE), stdio: "inherit" });
}
