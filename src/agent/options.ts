/** What an agent is started with; whoever starts it (the command line, a test) has read it from somewhere. */
import type { DiskFloor } from "../domain/disk-floor.ts";
import type { Labels } from "../domain/labels.ts";
import type { Logger } from "../domain/logger.ts";

export interface AgentOptions {
  /** `host:port` of a gateway, or of what stands before several. */
  readonly address: string;
  /** Only one agent at a time may use it; made when it is missing. */
  readonly dataDir: string;
  /** Unique among the agents of the control plane. */
  readonly name: string;
  readonly labels: Labels;
  /** Whether the agent's own facts are labels too: `os`, `arch`, `hostname` and `cores`. Labels of these names override them. */
  readonly facts: boolean;
  /** Jobs at a time, 1 to 1000. */
  readonly slots: number;
  /** Needed on the first start, and again when the agent's own token is revoked. */
  readonly registrationToken?: string;
  /** Encrypts the connection; `caFile` (PEM) replaces the system's authorities, `client` (PEM) says who this agent is. */
  readonly tls?: {
    readonly caFile?: string;
    readonly client?: { readonly certificateFile: string; readonly keyFile: string };
  };
  /** Allows an unencrypted connection to a host that is not this machine. */
  readonly insecure?: boolean;
  /** Shown to operators. */
  readonly version?: string;
  /** Folders in which the operator has plugins that the registry does not know. Default none. */
  readonly pluginDirs?: readonly string[];
  /** What plugins of the registry may take on this machine, bytes, besides those in use. Default 1 GB. */
  readonly pluginCacheBytes?: number;
  readonly log: Logger;
  /** What of the disk is to stay free for jobs to begin. */
  readonly minFreeDisk: DiskFloor;
  /** What log lines that cannot be sent may take on the disk, bytes; 0 keeps some in memory alone. */
  readonly logBufferBytes: number;
  /**
   * How long running jobs may go on once the agent is asked to end, milliseconds. In the last fifth of it steps are asked to
   * end, and then killed.
   */
  readonly drainTimeoutMs: number;
  /** Ends the drain at once: running steps are killed and reported as lost. */
  readonly killSignal?: AbortSignal;
  /** Called once, when the control plane has first welcomed this agent. */
  readonly onReady?: (agent: { readonly agentId: string }) => void;
}
