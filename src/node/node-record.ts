/** The record that a node announces to the other nodes. */
import { hostname } from "node:os";
import type { NodeRecord } from "../../queues/node-registry.ts";
import type { NodeConfig } from "../settings/config.ts";
import type { Clock } from "../domain/clock.ts";
import type { StoredFormat } from "../stores/format/stored-format.ts";
import { packageVersion } from "./package-root.ts";

/** The record of this process. `format` gives the newest stored schema that the node reads. */
export function nodeRecord(nodeId: string, { roles }: NodeConfig, clock: Clock, { schema }: StoredFormat): NodeRecord {
  const version = packageVersion();
  return {
    nodeId,
    roles,
    version,
    host: hostname(),
    pid: process.pid,
    startedAt: clock.now(),
    schema,
    rings: true,
  };
}
