/** `millrace verify`: checks that what an installation has stored is consistent, also while it runs. */
import { resolve } from "node:path";
import type { Verification } from "../../app/verification/verify-stores.ts";
import { readNodeConfig } from "../../settings/config.ts";
import { defaultDataDir } from "../../node/data-dir.ts";
import { verifyInstallation } from "../../node/machine/verify.ts";
import { readSettings } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { createLogger } from "../logging.ts";

export interface VerifyCommandOptions {
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** Resolves with the exit status: 0 when every look agrees, 1 when a difference is confirmed. Changes nothing. */
export async function verify(options: VerifyCommandOptions, signal: AbortSignal): Promise<number> {
  const config = readSettings(() => readNodeConfig(process.env));
  const dataDir = resolve(options.dataDir ?? config.dataDir ?? defaultDataDir());
  const found = await verifyInstallation(config, dataDir, createLogger("silent"), signal);
  process.stdout.write(options.json === true ? `${JSON.stringify(found)}\n` : textOf(found));
  return found.differences.length === 0 && !found.more ? EXIT.ok : EXIT.failure;
}

function textOf({ read, differences, more, skipped }: Verification): string {
  const count = differences.length === 0 ? "no difference" : `${differences.length} differences`;
  const lines = [
    ...differences.map(({ kind, object, text }) => `${kind}: ${object} ${text}`),
    ...(more ? ["more objects differed at the first look than could be looked at again"] : []),
    ...skipped.map((what) => `not looked at: ${what}`),
    `${read.aggregates} runs and groups, ${read.events} events, ${read.owners} owners of records, ${read.offers} offers, ` +
      `${read.places} places: ${count}`,
  ];
  return `${lines.join("\n")}\n`;
}
