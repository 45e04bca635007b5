/** A real browser, driven over its debugging protocol. */
import { type Browser, chromium } from "playwright-core";
import { findOnPath } from "../../src/program-path.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
/** Without these flags the browser calls services of its maker. */
const QUIET = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--no-first-run",
];

/** Starts a browser without a window. Throws when no Chromium is on PATH. */
export function startBrowser(): Promise<Browser> {
  // Chromium refuses to run as root inside its sandbox.
  const args = process.getuid?.() === 0 ? [...QUIET, "--no-sandbox"] : QUIET;
  return chromium.launch({ executablePath: findProgram(), args });
}

function findProgram(): string {
  const found = NAMES.map((name) => findOnPath(name)).find((path) => path !== undefined);
  if (found === undefined) {
    throw new Error(`none of ${NAMES.join(", ")} is on PATH: install Chromium, for example Debian's package chromium`);
  }
  return found;
}
