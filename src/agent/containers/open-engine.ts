/** Opens the container engine at the start of an agent, and removes what an earlier agent has left in it. */
import { createHash } from "node:crypto";
import type { Logger } from "../../domain/logger.ts";
import type { AgentOptions } from "../options.ts";
import { type ContainerEngine, findEngine } from "./engine.ts";
import { agentLabel } from "./job-containers.ts";
import { clearCredentials } from "./pull.ts";

export interface OpenEngine {
  readonly engine: ContainerEngine;
  readonly agentKey: string;
  readonly allowed: readonly string[];
}

/** Distinguishes an agent from the others of the machine: no two of them use the same data directory. */
export function agentKeyOf(dataDir: string): string {
  return createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
}

/** Undefined for an agent without an engine. Call it only while this agent owns the data directory. */
export async function openEngine(
  wanted: AgentOptions["containers"],
  dataDir: string,
  log: Logger,
): Promise<OpenEngine | undefined> {
  if (wanted === undefined) return undefined;
  const agentKey = agentKeyOf(dataDir);
  clearCredentials(agentKey);
  const engine = await findEngine(wanted.engine, agentLabel(agentKey), log);
  if (engine === undefined) return undefined;
  log.info({ engine: engine.kind }, "jobs with containers run here");
  return { engine, agentKey, allowed: wanted.images };
}
