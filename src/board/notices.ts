/** What the plane, or another gateway, tells the gateway that serves an agent, over that agent's channel of the feed. */
import type { DispatchOrder } from "../domain/effects.ts";
import type { JobRunId, StepRunId } from "../domain/ids.ts";
import type { Labels } from "../domain/labels.ts";

export type AgentNotice =
  | { readonly type: "dispatch"; readonly order: DispatchOrder }
  | {
      readonly type: "revoke";
      readonly jobId: JobRunId;
      readonly stepRunId: StepRunId;
      readonly token: number;
      readonly graceMs: number;
      readonly reason: string;
    }
  | { readonly type: "release"; readonly jobId: JobRunId; readonly succeeded?: boolean }
  | { readonly type: "acknowledge"; readonly stepRunId: StepRunId; readonly token: number }
  | { readonly type: "refuse"; readonly stepRunId: StepRunId; readonly token: number }
  /** The agent has changed them. */
  | { readonly type: "labels"; readonly labels: Labels }
  | { readonly type: "refuseClaim"; readonly requestId: string }
  /** Older streams of the agent are over: it has opened the stream `by`, or (empty) was registered anew or removed. */
  | { readonly type: "superseded"; readonly by: string };
