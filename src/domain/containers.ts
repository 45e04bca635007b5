/** Containers of jobs and steps, and services of jobs, as plans and agents know them. */
import type { Pairs } from "./plan.ts";

export const PULL_POLICIES = ["missing", "always", "never"] as const;
export type PullPolicy = (typeof PULL_POLICIES)[number];
export const CONTAINER_NETWORKS = ["default", "none"] as const;
export type ContainerNetwork = (typeof CONTAINER_NETWORKS)[number];

/** The label by which an agent tells the container engine that it has. */
export const ENGINE_LABEL = "container-engine";

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

const MEMORY = /^(\d+)([kmg])$/i;
export const MEMORY_PATTERN = MEMORY;
const UNITS: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** The bytes of a text such as `512m`; undefined for another text. */
export function parseMemory(text: string): number | undefined {
  const [, digits, unit] = MEMORY.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * UNITS[unit!.toLowerCase()]!;
}

/** The parts of a reference to an image. Source: the grammar of the distribution project (`reference.go`). */
export interface ImageReference {
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const COMPONENT = "[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*";
const HOST = "(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::\\d+)?";
const REFERENCE = new RegExp(
  `^(?<name>(?:${HOST}/)?${COMPONENT}(?:/${COMPONENT})*)(?::(?<tag>\\w[\\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$`,
);
const MAX_REFERENCE_CHARS = 512;

/** Undefined for a text that names no image. */
export function parseImage(text: string): ImageReference | undefined {
  if (text.length > MAX_REFERENCE_CHARS) return undefined;
  const { name, tag, digest } = REFERENCE.exec(text)?.groups ?? {};
  return name === undefined ? undefined : { name, tag, digest };
}

/** Tags that are meant to name another image with each release. */
const MOVING = new Set(["latest", "stable", "edge", "nightly", "main", "master", "dev", "rolling", "current"]);

/** The tag that may name another image tomorrow; undefined for a version or a digest. */
export function movingTag({ tag = "latest", digest }: ImageReference): string | undefined {
  return digest === undefined && MOVING.has(tag) ? tag : undefined;
}

/** The host of the registry, as credentials are stored for it. */
export function registryOf(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return isHost ? first : "docker.io";
}
