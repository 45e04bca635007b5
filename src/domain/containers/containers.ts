/** Containers of jobs and steps, and services of jobs, as plans and agents know them. Pure. */
import type { Pairs } from "../pairs.ts";

export const PULL_POLICIES = ["missing", "always", "never"] as const;
export type PullPolicy = (typeof PULL_POLICIES)[number];
export const CONTAINER_NETWORKS = ["default", "none"] as const;
export type ContainerNetwork = (typeof CONTAINER_NETWORKS)[number];

/** The label by which an agent tells the container engine that it has. */
export const ENGINE_LABEL = "container-engine";

/** The label by which an agent tells what its steps run in, where that is not the machine itself. */
export const ISOLATION_LABEL = "isolation";
/** `container`: the agent takes only jobs whose steps run in containers. `namespaces`: its steps see little of the machine. */
export const ISOLATIONS = ["container", "namespaces"] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** What containers and services have in common. */
export interface ImageUse {
  readonly image: string;
  readonly env: Pairs<string>;
  /** `user:password` of the registry; empty for none. In a plan, a text that reads the secret. */
  readonly credential: string;
  readonly pull: PullPolicy;
  /** In a plan, JSON pointers to the deferred texts: `/image`, `/credential`, `/env/NAME`. */
  readonly late: readonly string[];
}

/** The container in which the steps of a job run, or one step. */
export interface ContainerSpec extends ImageUse {
  /** A name or an id, with or without a group; empty for that of the image. */
  readonly user: string;
  /** The program that starts the container, with its first arguments; empty for a shell that waits. */
  readonly entrypoint: readonly string[];
  readonly network: ContainerNetwork;
  /** Null for no bound. */
  readonly cpus: number | null;
  /** Null for no bound. */
  readonly memoryBytes: number | null;
  /** How many processes and threads; null for the bound of the engine. */
  readonly pids: number | null;
}

export interface ServiceHealth {
  /** A text for `/bin/sh -c` in the container of the service. */
  readonly command: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** How many checks may fail before the service counts as unhealthy. */
  readonly retries: number;
}

/** A container beside the steps of a job, which they reach by its name. */
export interface ServiceSpec extends ImageUse {
  readonly name: string;
  readonly ports: readonly number[];
  /** Null: the service is ready once it runs. */
  readonly health: ServiceHealth | null;
}

/** A number of bytes as text. */
export const MEMORY_PATTERN = /^(\d+)([kmg])$/i;
const UNITS: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** The bytes of a text such as `512m`; undefined for another text. */
export function parseMemory(text: string): number | undefined {
  const [, digits, unit] = MEMORY_PATTERN.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * UNITS[unit!.toLowerCase()]!;
}
