/** `millrace secrets rotate-key`: a new master key for all secrets, also while the installation runs. */
import { resolve } from "node:path";
import { readNodeConfig } from "../../settings/config.ts";
import { defaultDataDir } from "../../node/data-dir.ts";
import { rotateMasterKey } from "../../node/machine/rotate-master-key.ts";
import { readSettings } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";

export interface RotateKeyOptions {
  readonly dataDir?: string;
}

/** Resolves with the exit status: 1 when some secrets cannot be read. Each of these is printed with its reason. */
export async function rotateKey(options: RotateKeyOptions): Promise<number> {
  const config = readSettings(() => readNodeConfig(process.env));
  const dataDir = resolve(options.dataDir ?? config.dataDir ?? defaultDataDir());
  const { keyId, resealed, unreadable } = await rotateMasterKey(config, dataDir);
  for (const { secret, reason } of unreadable) {
    process.stderr.write(`${secret.pipelineId ?? `project ${secret.projectId}`}: ${reason}\n`);
  }
  process.stdout.write(
    `${resealed} ${resealed === 1 ? "secret was" : "secrets were"} encrypted again, with the master key ${keyId}\n`,
  );
  return unreadable.length === 0 ? EXIT.ok : EXIT.failure;
}
