/** The run aggregate: a run actor with its job and step actors, which live and are saved together. */
import type { Cause } from "../../src/domain/events.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import type { RunWaits } from "../../src/stores/aggregates.ts";
import type { ActorView, AggregateType } from "../kernel/actor-kind.ts";
import { jobActor } from "../job/actor.ts";
import type { AgentLost, JobMessage, JobWaits } from "../job/messages.ts";
import type { JobState } from "../job/state.ts";
import { stepActor } from "../step/actor.ts";
import type { StepMessage } from "../step/messages.ts";
import { runActor, summariseRun } from "./actor.ts";
import type { RunMessage } from "./messages.ts";
import { type RunState, runStatus } from "./state.ts";

export const RUN_AGGREGATE: AggregateType = {
  kinds: { run: runActor, job: jobActor, step: stepActor },
  commandMessage({ kind, id, reason, operator }): RunMessage {
    return { type: kind, commandId: id, reason, operator };
  },
  causeOf,
  summarise: (run: RunState, bound, actors, plan) =>
    summariseRun(run, bound, bound ? null : waitsOf(run, actors, plan)),
  isFinal: (run: RunState) => isFinalRunStatus(runStatus(run.state)),
  waitsMessage: (wait): JobWaits => ({ type: "waits", ...wait }),
  agentLostMessage({ agentId, bootId }, reason): AgentLost {
    return { type: "agentLost", agentId, bootId, reason };
  },
};

type Message = RunMessage | JobMessage | StepMessage;

function causeOf(message: Message): Cause {
  switch (message.type) {
    case "timer":
      return message.timer === "start" ? { cause: "trigger", by: "" } : { cause: `timer:${message.timer}`, by: "" };
    case "stop":
    case "pause":
    case "resume":
      return { cause: message.type, by: "operator" in message ? message.operator : "" };
    case "claimRequested":
    case "reported":
    case "agentLost":
      return { cause: message.type, by: "agentId" in message ? message.agentId : "" };
    default:
      return { cause: message.type, by: "" };
  }
}

/** What a run waits for of which no job is at work: that with which it goes on. Null where its status tells. */
export function waitsOf(run: RunState, actors: Iterable<ActorView>, plan: RunPlan): RunWaits | null {
  if (run.state !== "running") return null;
  let queued: JobState | undefined;
  let isRetrying = false;
  for (const { kind, state } of actors) {
    if (kind !== "job") continue;
    const job = state as JobState;
    if (job.state === "queued" && (queued === undefined || job.queuedAt! < queued.queuedAt!)) queued = job;
    isRetrying ||= job.state === "pending" && job.retryTimer !== null;
  }
  if (queued !== undefined) return { reason: "agent", selector: plan.jobs[queued.index]!.selector };
  return isRetrying ? { reason: "retry" } : null;
}
