/** Opens the container engine at the start of an agent, and removes what an earlier agent has left in it. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../domain/clock.ts";
import type { Logger } from "../../domain/logger.ts";
import { type ContainerEngine, type EngineKind, findEngine } from "./engine.ts";
import { ImageCache } from "./image-cache.ts";
import { agentLabel } from "./job-containers.ts";
import { clearCredentials } from "./pull.ts";

export interface ContainerOptions {
  /** `auto`: the first engine that answers. */
  readonly engine: EngineKind | "auto";
  /** References of images that jobs may use; `*` stands for any text. Empty for all. */
  readonly images: readonly string[];
  /** Bytes of disk for images that the agent has pulled. Images in use stay even beyond this bound. Default 20 GB. */
  readonly cacheBytes?: number;
}

export interface OpenEngine {
  readonly engine: ContainerEngine;
  readonly agentKey: string;
  readonly allowed: readonly string[];
  readonly images: ImageCache;
}

/** Default of the option `containers.cacheBytes`. */
const CACHE_BYTES = 20e9;

/** Distinguishes an agent from the others of the machine: no two of them use the same data directory. */
export function agentKeyOf(dataDir: string): string {
  return createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
}

/** Undefined for an agent without an engine. Call it only while this agent owns the data directory. */
export async function openEngine(
  wanted: ContainerOptions | undefined,
  dataDir: string,
  log: Logger,
): Promise<OpenEngine | undefined> {
  if (wanted === undefined) return undefined;
  const agentKey = agentKeyOf(dataDir);
  clearCredentials(agentKey);
  const engine = await findEngine(wanted.engine, agentLabel(agentKey), log);
  if (engine === undefined) return undefined;
  log.info({ engine: engine.kind }, "jobs with containers run here");
  const images = new ImageCache({
    engine,
    // The ids of one engine mean nothing to another.
    file: join(dataDir, `images-${engine.kind}.json`),
    limitBytes: wanted.cacheBytes ?? CACHE_BYTES,
    clock: systemClock,
    log,
  });
  // The bound may be lower than that of the earlier agent.
  void images.trim();
  return { engine, agentKey, allowed: wanted.images, images };
}
