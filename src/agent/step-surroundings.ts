/** What a step finds on its agent. */
import type { AfterJobs } from "./builtins/after-job.ts";
import type { PluginSources } from "./builtins/plugin/plugin-step.ts";
import type { Confinement } from "./confinement.ts";
import type { GatewayAccess } from "./connection/gateway-call.ts";
import type { JobContainers } from "./containers/job-containers.ts";
import type { HeldLease } from "./process/leases.ts";
import type { OutputTarget } from "./logs/output-capture.ts";
import type { FifoPool } from "./process/fifo-pool.ts";
import type { Launcher } from "./process/launcher.ts";
import type { StepUser } from "./process/step-user.ts";
import type { StepFiles } from "./step-file.ts";
import type { Trash } from "./folders/trash.ts";
import type { Workspaces } from "./folders/workspace.ts";

export interface StepSurroundings {
  readonly workspaces: Workspaces;
  readonly stepFiles: StepFiles;
  readonly scratchDir: string;
  readonly trash: Trash;
  /** As whom steps run; undefined: as the agent. */
  readonly user: StepUser | undefined;
  readonly launcher: Launcher;
  readonly pipes: FifoPool;
  readonly lease: HeldLease;
  readonly output: OutputTarget;
  readonly gateway: GatewayAccess;
  readonly plugins: PluginSources;
  readonly afterJobs: AfterJobs;
  /** Undefined for an agent without a container engine. */
  readonly containers: JobContainers | undefined;
  readonly confinement: Confinement;
  /** Called once, when the process or the builtin has started. */
  readonly onStarted: (startedAtMs: number) => void;
}
