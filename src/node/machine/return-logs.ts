/** The operator's move of logs from the object storage back into the store. Nodes of the installation may run meanwhile. */
import { returnLogs, type ReturnedLogs } from "../../app/upkeep/return-logs.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { NodeConfig } from "../../settings/config.ts";
import { machineTrail } from "./machine-trail.ts";
import { openStores, requireStore } from "../stores.ts";

/**
 * Moves every log back. `tell` is called after each part. Rejects with `malformed_request` when the settings name no object
 * storage, or let workers move logs there; with `not_found` without an installation; with `unavailable` when the store or the
 * object storage cannot be used. Safe to repeat.
 */
export async function returnStoredLogs(
  config: NodeConfig,
  dataDir: string,
  signal: AbortSignal,
  tell: (moved: ReturnedLogs) => void,
): Promise<ReturnedLogs> {
  requireSettings(config);
  requireStore(config, dataDir);
  const stores = await openStores(config, dataDir);
  try {
    const moving = returnLogs({ stores }, signal);
    for (;;) {
      const { done = false, value } = await moving.next();
      tell(value);
      if (!done) continue;
      await machineTrail(stores, "returnLogs").close({ kind: "installation", id: "logs" });
      return value;
    }
  } finally {
    await stores.close();
  }
}

function requireSettings({ objectStorage }: NodeConfig): void {
  if (objectStorage === null) {
    throw new MillraceError(
      "malformed_request",
      "MILLRACE_OBJECT_STORAGE is not set: run the command with the environment of a node, which names the object storage of the logs",
    );
  }
  if (objectStorage.logs !== null) {
    throw new MillraceError(
      "malformed_request",
      "MILLRACE_OBJECT_STORAGE_LOGS is not off: set it so on all nodes first, because workers move logs into the object storage " +
        "until then; then run this command with the same environment",
    );
  }
}
