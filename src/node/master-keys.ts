/** Which master keys a node works with. */
import type { NodeConfig } from "../config.ts";
import { MillraceError } from "../domain/errors.ts";
import { fixedKeys, type KeyRing, masterKey } from "../secrets/master-keys.ts";
import { keptMasterKeys } from "./master-key-files.ts";

/** Those of the environment; null when it has none. */
export function configuredKeys({ masterKeys }: Pick<NodeConfig, "masterKeys">): KeyRing | null {
  const [first, ...others] = masterKeys.map(masterKey);
  return first === undefined ? null : fixedKeys([first, ...others]);
}

/** Those of the environment, else those that are kept in the data directory of an installation on SQLite. */
export async function masterKeysOf(config: NodeConfig, dataDir: string): Promise<KeyRing> {
  const configured = configuredKeys(config);
  if (configured !== null) return configured;
  return config.mongodb === null ? keptMasterKeys(dataDir) : noKeys;
}

/** With MongoDB keys are required of every node but those that neither seal nor read a secret. */
const noKeys: KeyRing = {
  newest: () =>
    Promise.reject(new MillraceError("unavailable", "this node has no master key: set MILLRACE_MASTER_KEY")),
  find: () => Promise.resolve(undefined),
};
