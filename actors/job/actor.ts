/** Binds the job actor to the kernel. */
import type { ActorKind } from "../kernel/actor-kind.ts";
import { decideJob, outstandingJob } from "./decide.ts";
import type { JobMessage } from "./messages.ts";
import { countedAs } from "./matrix.ts";
import { isBound, type JobState, jobStatus } from "./state.ts";

/** Most jobs have no timer, and the kernel asks each changed one in every turn. */
const NO_TIMERS: readonly [string, null][] = [];

export const jobActor: ActorKind<JobState, JobMessage> = {
  decide: decideJob,
  index: (job) => ({
    position: job.index,
    jobId: null,
    status: jobStatus(job.state),
    attempt: job.attempt,
    agentId: isBound(job) ? job.grant!.agentId : null,
    ...(job.deployment !== undefined && { deployment: job.deployment }),
  }),
  timers: (job) =>
    job.queueTimer === null && job.timeoutTimer === null && job.retryTimer === null
      ? NO_TIMERS
      : [
          ["queueTimeout", job.queueTimer],
          ["timeout", job.timeoutTimer],
          ["retry", job.retryTimer],
        ],
  outstanding: outstandingJob,
  waitsForAgent: (job) =>
    job.state === "queued" && !job.paused ? { since: job.queuedAt!, reported: job.waits } : null,
  heldBy: (job) =>
    isBound(job)
      ? { agentId: job.grant!.agentId, bootId: job.grant!.bootId, leaseMs: job.leaseMs, quotas: job.quotas }
      : null,
  countedAs,
};
