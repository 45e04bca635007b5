/** The settings of an agent that say where its steps run: isolation, containers and bounds. */
import { z } from "zod";
import { BYTES_OF_UNIT, imagePatterns, processors, size, wholeNumber } from "./values.ts";
import { ISOLATIONS } from "../domain/containers/containers.ts";

const STEP_ISOLATIONS = ["auto", "cgroup", "pid-namespace", "subreaper", "mark"] as const;
const CONTAINER_ENGINES = ["auto", "podman", "docker", "off"] as const;
const AGENT_ISOLATIONS = ["none", ...ISOLATIONS] as const;

export interface PlaceSettings {
  /** How the agent finds the processes that steps start. */
  readonly stepIsolation: (typeof STEP_ISOLATIONS)[number];
  /** The engine that runs the containers of jobs; `auto`: the first that answers. */
  readonly containerEngine: (typeof CONTAINER_ENGINES)[number];
  /** Images that jobs may use; `*` stands for any text. Empty: all. */
  readonly containerImages: readonly string[];
  /** The disk space for pulled images, bytes. */
  readonly imageCache: number;
  /** What steps run in that have no container. */
  readonly isolation: (typeof AGENT_ISOLATIONS)[number];
  /** Whether steps in namespaces reach the network of the machine. */
  readonly isolationNetwork: boolean;
  /** Bounds of each step that has no container; null for none. */
  readonly stepLimits: {
    readonly memoryBytes: number | null;
    readonly pids: number | null;
    readonly cpus: number | null;
  };
}

const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(", ")}` });

export const PLACE_SETTINGS = {
  MILLRACE_AGENT_STEP_ISOLATION: oneOf(STEP_ISOLATIONS).default("auto"),
  MILLRACE_AGENT_CONTAINER_ENGINE: oneOf(CONTAINER_ENGINES).default("auto"),
  MILLRACE_AGENT_CONTAINER_IMAGES: imagePatterns.default([]),
  MILLRACE_AGENT_IMAGE_CACHE: size.default(20 * BYTES_OF_UNIT.GB),
  MILLRACE_AGENT_ISOLATION: oneOf(AGENT_ISOLATIONS).default("none"),
  MILLRACE_AGENT_ISOLATION_NETWORK: z.enum(["on", "off"], { error: "must be on or off" }).default("off"),
  MILLRACE_AGENT_STEP_MEMORY: size.optional(),
  MILLRACE_AGENT_STEP_PIDS: wholeNumber(1, 4_194_304).optional(),
  MILLRACE_AGENT_STEP_CPUS: processors.optional(),
} as const;

type Read = { readonly [Name in keyof typeof PLACE_SETTINGS]: z.output<(typeof PLACE_SETTINGS)[Name]> };

export function placeSettings(
  read: Partial<Read> & Omit<Read, `MILLRACE_AGENT_STEP_${"MEMORY" | "PIDS" | "CPUS"}`>,
): PlaceSettings {
  return {
    stepIsolation: read.MILLRACE_AGENT_STEP_ISOLATION,
    containerEngine: read.MILLRACE_AGENT_CONTAINER_ENGINE,
    containerImages: read.MILLRACE_AGENT_CONTAINER_IMAGES,
    imageCache: read.MILLRACE_AGENT_IMAGE_CACHE,
    isolation: read.MILLRACE_AGENT_ISOLATION,
    isolationNetwork: read.MILLRACE_AGENT_ISOLATION_NETWORK === "on",
    stepLimits: {
      memoryBytes: read.MILLRACE_AGENT_STEP_MEMORY ?? null,
      pids: read.MILLRACE_AGENT_STEP_PIDS ?? null,
      cpus: read.MILLRACE_AGENT_STEP_CPUS ?? null,
    },
  };
}
