/** Chooses the master keys of a node. */
import type { NodeConfig } from "../settings/config.ts";
import { MillraceError } from "../domain/errors.ts";
import { fixedKeys, type KeyRing, masterKey } from "../secrets/master-keys.ts";
import { readOrMakeMasterKeys } from "./master-key-files.ts";

/** The keys of MILLRACE_MASTER_KEY; null when it is not set. */
export function configuredKeys({ masterKeys }: Pick<NodeConfig, "masterKeys">): KeyRing | null {
  const [first, ...others] = masterKeys.map(masterKey);
  return first === undefined ? null : fixedKeys([first, ...others]);
}

/** The keys of MILLRACE_MASTER_KEY; without it, for an installation on SQLite, those in its data directory. */
export async function masterKeysOf(config: NodeConfig, dataDir: string): Promise<KeyRing> {
  const configured = configuredKeys(config);
  if (configured !== null) return configured;
  return config.mongodb === null ? readOrMakeMasterKeys(dataDir) : NO_KEYS;
}

/** With MongoDB, only a node that neither seals nor reads secrets may have no keys. */
const NO_KEYS: KeyRing = {
  newest: () =>
    Promise.reject(new MillraceError("unavailable", "this node has no master key: set MILLRACE_MASTER_KEY")),
  find: () => Promise.resolve(undefined),
};
