/** The operator's repair of a restored store, while no node of the installation runs. */
import type { NodeConfig } from "../../settings/config.ts";
import type { Logger } from "../../domain/logger.ts";
import { type RepairReport, repairRestored } from "../../stores/mongo/repair.ts";
import { refuseLivingNodes } from "./living-nodes.ts";

/**
 * Repairs a MongoDB database that was restored from a dump; see {@link repairRestored}. Rejects with `conflict` while a
 * node lives, and with `unavailable` when MongoDB or Redis cannot be reached. May be repeated.
 */
export async function repairStore(
  config: NodeConfig & { readonly mongodb: NonNullable<NodeConfig["mongodb"]> },
  log: Logger,
): Promise<RepairReport> {
  if (config.redis !== null) await refuseLivingNodes(config, config.redis, log);
  return repairRestored(config.mongodb);
}
