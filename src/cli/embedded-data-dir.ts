/** The data directory that commands on a stopped or running embedded installation mean. */
import { resolve } from "node:path";
import { readNodeConfig } from "../config.ts";
import { defaultDataDir } from "../node/data-dir.ts";
import { readSettings, UsageError } from "./command-line.ts";

/** Where the command line or the environment puts an embedded store. Throws a usage error when there is none. */
export function embeddedDataDir(option: string | undefined): string {
  const { dataDir, mongodb } = readSettings(() => readNodeConfig(process.env));
  if (mongodb !== null)
    throw new UsageError("MONGODB_URL is set: that store is backed up and restored with its own tools");
  return resolve(option ?? dataDir ?? defaultDataDir());
}
