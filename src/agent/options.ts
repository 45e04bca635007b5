/** The options of an agent. Its starter (the command line or a test) reads them and passes them on. */
import type { Isolation } from "../domain/containers/containers.ts";
import type { DiskFloor } from "../domain/disk-space.ts";
import type { Labels } from "../domain/labels.ts";
import type { Logger } from "../domain/logger.ts";
import type { Connection } from "./connection/gateway-clients.ts";
import type { ContainerOptions } from "./containers/open-engine.ts";
import type { IsolationKind } from "./process/step-isolation.ts";
import type { StepLimits } from "./process/step-limits.ts";

export interface AgentOptions extends Connection {
  /** Only one agent at a time may use it. It is created when it is missing. */
  readonly dataDir: string;
  /** Unique among the agents of the control plane. */
  readonly name: string;
  readonly labels: Labels;
  /** Whether the agent adds the labels `os`, `arch`, `hostname`, `cores` and `step-isolation`. `labels` of these names override them. */
  readonly facts: boolean;
  /** How many jobs may run at the same time, 1 to 1000. */
  readonly slots: number;
  /** The agent ends by itself after this many jobs, from 1. Absent: after none. */
  readonly maxJobs?: number;
  /** The agent ends by itself when it has waited this long for a job, milliseconds. Absent: it waits indefinitely. */
  readonly idleExitMs?: number;
  /** Needed on the first start, and again when the agent's own token is revoked. */
  readonly registrationToken?: string;
  /** File with an identity token of a trusted issuer. It is read for each registration, and counts before `registrationToken`. */
  readonly identityTokenFile?: string;
  /** The user as whom steps run; absent: as the agent. */
  readonly stepUser?: string;
  /** Containers of jobs. Absent: this agent takes no jobs with containers. */
  readonly containers?: ContainerOptions;
  /** What steps run in that have no container. Absent: the machine itself. */
  readonly isolation?: {
    /** `container`: no such step runs here. `namespaces`: it sees the machine read-only, and its own processes. */
    readonly kind: Isolation;
    /** Whether steps in namespaces reach the network of the machine. */
    readonly hasNetwork: boolean;
  };
  /** Bounds of each step that has no container. Absent: none. */
  readonly stepLimits?: StepLimits;
  /** Shown to operators. */
  readonly version?: string;
  /** The operator's folders with plugins that the registry does not have. Default: none. */
  readonly pluginDirs?: readonly string[];
  /** Bytes of disk for plugins of the registry. Plugins in use stay even beyond this bound. Default 1 GB. */
  readonly pluginCacheBytes?: number;
  readonly log: Logger;
  /** Free disk space below which the agent starts no new job. */
  readonly minFreeDisk: DiskFloor;
  /** How the agent finds the processes of its steps. Default: `auto`, the best kind that works on this machine. */
  readonly stepIsolation?: IsolationKind | "auto";
  /** Bytes of disk for log lines that cannot be sent yet. With 0, the agent buffers them in memory alone. */
  readonly logBufferBytes: number;
  /**
   * How long jobs may keep running after the agent is asked to end, milliseconds. In the last fifth of this time the
   * agent asks running steps to end, and then it kills them.
   */
  readonly drainTimeoutMs: number;
  /** When aborted, ends the drain at once: running steps are killed and reported as lost. */
  readonly killSignal?: AbortSignal;
  /**
   * Called once, at the start. `workLeftMs` tells how long the agent's work stays valid without the control plane,
   * milliseconds; 0 when the agent holds no job and no report.
   */
  readonly onStart?: (agent: { readonly workLeftMs: () => number }) => void;
  /** Called once, when the control plane welcomes this agent for the first time. */
  readonly onReady?: (agent: { readonly agentId: string }) => void;
}
