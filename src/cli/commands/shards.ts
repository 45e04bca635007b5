/** `millrace shards set`: another number of shards, while no node of the installation runs. */
import { resolve } from "node:path";
import { readNodeConfig } from "../../settings/config.ts";
import { changeShards } from "../../node/machine/change-shards.ts";
import { defaultDataDir } from "../../node/data-dir.ts";
import { readSettings, UsageError } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { createLogger } from "../logging.ts";

export interface SetShardsOptions {
  readonly dataDir?: string;
}

const MOST = 1_024;

/** Resolves with the exit status. Rejects with `conflict` while a node runs. Safe to repeat. */
export async function setShards(text: string, options: SetShardsOptions): Promise<number> {
  const shards = Number(text);
  if (!/^\d{1,4}$/.test(text) || shards < 1 || shards > MOST) {
    throw new UsageError(`the number of shards must be a whole number from 1 to ${MOST}`);
  }
  const config = readSettings(() => readNodeConfig(process.env));
  const dataDir = resolve(options.dataDir ?? config.dataDir ?? defaultDataDir());
  const { from, to, moved } = await changeShards(config, dataDir, shards, createLogger("silent"));
  process.stdout.write(
    moved === null
      ? `the installation has ${to} shards already\n`
      : `${from} shards are now ${to}: moved ${moved.aggregates} runs and groups, ${moved.commands} commands and ` +
          `${moved.deadLetters} dead letters\n`,
  );
  return EXIT.ok;
}
