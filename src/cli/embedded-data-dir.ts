/** The data directory of an embedded installation, for commands that work on its files. */
import { resolve } from "node:path";
import { readNodeConfig } from "../settings/config.ts";
import { defaultDataDir } from "../node/data-dir.ts";
import { readSettings, UsageError } from "./command-line.ts";

/** The data directory by the option, the environment or the default. Throws a UsageError when the store is MongoDB. */
export function embeddedDataDir(option: string | undefined): string {
  const { dataDir, mongodb } = readSettings(() => readNodeConfig(process.env));
  if (mongodb !== null)
    throw new UsageError("MONGODB_URL is set: back up and restore MongoDB with the tools of MongoDB");
  return resolve(option ?? dataDir ?? defaultDataDir());
}
