/** The run aggregate: a run actor with its job, step and approval actors, which are saved together as one snapshot. */
import type { Cause } from "../../src/domain/events.ts";
import type { ActorRef } from "../../src/domain/effects.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import type { RunWaits } from "../../src/stores/ports/aggregates.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import { approvalActor } from "../approval/actor.ts";
import type { ApprovalMessage } from "../approval/messages.ts";
import { gateName, gateOfJob } from "../approval/state.ts";
import type { ActorView, AggregateType } from "../kernel/actor-kind.ts";
import { jobActor } from "../job/actor.ts";
import type { AgentLost, JobMessage, JobWaits } from "../job/messages.ts";
import type { JobState } from "../job/state.ts";
import { stepActor } from "../step/actor.ts";
import type { StepMessage } from "../step/messages.ts";
import { runActor, summariseRun } from "./actor.ts";
import { attemptsBefore } from "./ended-attempts.ts";
import type { RunMessage } from "./messages.ts";
import { type RunState, runStatus } from "./state.ts";

export const RUN_AGGREGATE: AggregateType = {
  isPlanned: true,
  kinds: { run: runActor, job: jobActor, step: stepActor, approval: approvalActor },
  toMessage: (command) => ({ to: addressee(command), message: messageOf(command) }),
  causeOf,
  summarise: (run: RunState, bound, actors, plan) =>
    summariseRun(run, bound, bound ? null : waitsOf(run, actors, plan)),
  attemptsBefore,
  isFinal: (run: RunState) => isFinalRunStatus(runStatus(run.state)),
  waitsMessage: (wait): JobWaits => ({ type: "waits", ...wait }),
  agentLostMessage({ agentId, bootId }, reason): AgentLost {
    return { type: "agentLost", agentId, bootId, reason };
  },
};

type Message = RunMessage | JobMessage | StepMessage | ApprovalMessage;

function addressee(command: Command): ActorRef {
  switch (command.kind) {
    case "approve":
    case "reject":
      return { kind: "approval", id: command.approvalId };
    case "cancelJob":
    case "cancelStep":
    case "updateStep":
      return { kind: "job", id: command.jobId };
    default:
      return { kind: "run", id: command.rootId };
  }
}

function messageOf(command: Command): RunMessage | JobMessage | ApprovalMessage {
  const { id: commandId } = command;
  switch (command.kind) {
    case "stop":
    case "pause":
    case "resume":
    case "cancelJob":
      return { type: command.kind, commandId, reason: command.reason, operator: command.operator };
    case "cancelStep": {
      const { reason, operator, stepRunId } = command;
      return { type: command.kind, commandId, reason, operator, stepRunId };
    }
    case "pushEvents": {
      const { stepRunId, agentId, token, through } = command;
      return { type: "eventsPushed", commandId, stepRunId, agentId, token, through };
    }
    case "updateStep": {
      const { operator, stepRunId, change, expected } = command;
      return { type: command.kind, commandId, operator, stepRunId, change, ...(expected && { expected }) };
    }
    case "approve":
    case "reject":
      return { type: command.kind, commandId, voter: command.voter, comment: command.comment };
    case "placed":
    case "superseded":
    case "placeRefused":
      return { ...command, type: command.kind, commandId };
    case "enter":
    case "leave":
    case "triggersChanged":
    case "triggersRead":
    case "define":
    case "withdraw":
    case "startAnswered":
    case "runEnded":
      throw new Error(`the command ${command.kind} is not valid for a run`);
  }
}

function causeOf(message: Message): Cause {
  switch (message.type) {
    case "timer":
      return message.timer === "start" ? { cause: "trigger", by: "" } : { cause: `timer:${message.timer}`, by: "" };
    case "stop":
    case "pause":
    case "resume":
    case "cancelJob":
    case "cancelStep":
    case "updateStep":
      return { cause: message.type, by: "operator" in message ? message.operator : "" };
    case "approve":
    case "reject":
      return { cause: message.type, by: message.voter.name };
    case "placed":
    case "superseded":
    case "placeRefused":
      return { cause: message.type, by: "" };
    case "claimRequested":
    case "reported":
    case "agentLost":
    case "eventsPushed":
      return { cause: message.type, by: "agentId" in message ? message.agentId : "" };
    default:
      return { cause: message.type, by: "" };
  }
}

/**
 * What a run waits for when no job of it is bound to an agent: a place in its group, an approval, a job's gate, an
 * agent or a retry. Null when the run's status already says why.
 */
export function waitsOf(run: RunState, actors: Iterable<ActorView>, plan: RunPlan): RunWaits | null {
  if (run.place !== null && !run.place.held) return { reason: "concurrency", group: run.place.name };
  if (run.stageApproval !== null && run.state === "pending") {
    return { reason: "approval", gate: gateName({ run: true }, plan) };
  }
  if (run.state !== "running") return null;
  if (run.stageApproval !== null) return { reason: "approval", gate: `stage ${plan.stages[run.stage + 1]!.name}` };
  let queued: JobState | undefined;
  let gated: RunWaits | undefined;
  let isRetrying = false;
  for (const { kind, state } of actors) {
    if (kind !== "job") continue;
    const job = state as JobState;
    if (job.state === "queued" && (queued === undefined || job.queuedAt! < queued.queuedAt!)) queued = job;
    // An approval comes first, because people have to act.
    if (job.state === "waiting" && gated?.reason !== "approval") gated = gateOf(job, plan);
    isRetrying ||= job.state === "pending" && job.retryTimer !== null;
  }
  if (gated !== undefined) return gated;
  if (queued !== undefined) return { reason: "agent", selector: plan.jobs[queued.index]!.selector };
  return isRetrying ? { reason: "retry" } : null;
}

function gateOf({ index, place }: JobState, plan: RunPlan): RunWaits {
  if (place !== null) return { reason: "concurrency", group: place.name };
  return { reason: "approval", gate: gateName(gateOfJob(index, plan), plan) };
}
