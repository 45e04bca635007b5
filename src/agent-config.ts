/** The settings of an agent, as its program starts with them. */
import type { Address, LogLevel } from "./config-values.ts";
import type { DiskFloor } from "./domain/disk-space.ts";
import type { Labels } from "./domain/labels.ts";

export const CONTAINER_ENGINES = ["auto", "podman", "docker", "off"] as const;
export const STEP_ISOLATIONS = ["auto", "cgroup", "pid-namespace", "subreaper", "mark"] as const;

export interface AgentConfig {
  readonly gateway: Address;
  /** Null: plaintext, which is allowed only to a gateway on this machine. */
  readonly security: "tls" | "plaintext" | null;
  /** PEM file of the authorities to trust in place of the system's, or null. */
  readonly caFile: string | null;
  /** PEM files with the certificate and key that the agent presents to a gateway that asks for them, or null. */
  readonly clientCertificate: { readonly certificateFile: string; readonly keyFile: string } | null;
  readonly registrationToken: string | null;
  /** File with an identity token of a trusted issuer, which is presented in place of a registration token. */
  readonly identityTokenFile: string | null;
  readonly name: string;
  /** How many jobs the agent runs at the same time. */
  readonly slots: number;
  /** After how many jobs the agent ends; null: never. */
  readonly maxJobs: number | null;
  /** How long the agent waits for a job before it ends; null: indefinitely. */
  readonly idleExitMs: number | null;
  readonly labels: Labels;
  /** Whether the agent adds labels that describe its machine (`os`, `arch`, `hostname`, `cores`, `step-isolation`). */
  readonly facts: boolean;
  /** Folders with plugins that the operator installed. */
  /** Null: steps run as the agent. */
  readonly stepUser: string | null;
  readonly pluginDirs: readonly string[];
  /** The disk space for fetched plugins, bytes. */
  readonly pluginCache: number;
  readonly dataDir: string | null;
  /** How long jobs may continue after SIGTERM. */
  readonly drainTimeoutMs: number;
  readonly minFreeDisk: DiskFloor;
  /** How the agent finds the processes that steps start. */
  readonly stepIsolation: (typeof STEP_ISOLATIONS)[number];
  /** The engine that runs the containers of jobs; `auto`: the first that answers. */
  readonly containerEngine: (typeof CONTAINER_ENGINES)[number];
  /** Images that jobs may use; `*` stands for any text. Empty: all. */
  readonly containerImages: readonly string[];
  /** The disk space for log lines that cannot be sent. */
  readonly logBufferBytes: number;
  readonly logLevel: LogLevel | null;
}
