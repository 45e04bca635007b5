/** Checks by promtool, a program of Prometheus. CI has it; elsewhere the checks are made where it is installed. */
import { spawnSync } from "node:child_process";

/** What promtool says is wrong; empty when it finds nothing. In CI, throws when promtool is missing. */
export function complaintsOfPromtool(args: readonly string[], input = ""): string {
  const { status, stdout, stderr, error } = spawnSync("promtool", args, { input, encoding: "utf8" });
  if (error === undefined) return status === 0 && stderr === "" ? "" : `${stdout}${stderr}`;
  if (process.env["CI"] === undefined) return "";
  throw new Error("promtool is missing: install Prometheus, for example Debian's package prometheus", { cause: error });
}
