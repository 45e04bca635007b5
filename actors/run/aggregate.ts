/** The run aggregate: a run actor with its job and step actors, which live and are saved together. */
import type { Cause } from "../../src/domain/events.ts";
import type { ActorRef } from "../../src/domain/effects.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import type { Command } from "../../src/stores/inbox.ts";
import { approvalActor } from "../approval/actor.ts";
import type { ApprovalMessage } from "../approval/messages.ts";
import type { AggregateType } from "../kernel/actor-kind.ts";
import { jobActor } from "../job/actor.ts";
import type { AgentLost, JobMessage } from "../job/messages.ts";
import { stepActor } from "../step/actor.ts";
import type { StepMessage } from "../step/messages.ts";
import { runActor, summariseRun } from "./actor.ts";
import type { RunMessage } from "./messages.ts";
import { type RunState, runStatus } from "./state.ts";

export const RUN_AGGREGATE: AggregateType = {
  isPlanned: true,
  kinds: { run: runActor, job: jobActor, step: stepActor, approval: approvalActor },
  delivery: (command) => ({ to: addressee(command), message: messageOf(command) }),
  causeOf,
  summarise: (run: RunState, bound) => summariseRun(run, bound),
  isFinal: (run: RunState) => isFinalRunStatus(runStatus(run.state)),
  agentLostMessage({ agentId, bootId }, reason): AgentLost {
    return { type: "agentLost", agentId, bootId, reason };
  },
};

type Message = RunMessage | JobMessage | StepMessage | ApprovalMessage;

function addressee(command: Command): ActorRef {
  const isVote = command.kind === "approve" || command.kind === "reject";
  return isVote ? { kind: "approval", id: command.approvalId } : { kind: "run", id: command.rootId };
}

function messageOf(command: Command): RunMessage | ApprovalMessage {
  const { id: commandId } = command;
  switch (command.kind) {
    case "stop":
    case "pause":
    case "resume":
      return { type: command.kind, commandId, reason: command.reason, operator: command.operator };
    case "approve":
    case "reject":
      return { type: command.kind, commandId, voter: command.voter, comment: command.comment };
    case "placed":
    case "superseded":
    case "placeRefused":
      return { ...command, type: command.kind, commandId };
    case "enter":
    case "leave":
      throw new Error(`a run cannot meet the command ${command.kind}`);
  }
}

function causeOf(message: Message): Cause {
  switch (message.type) {
    case "timer":
      return message.timer === "start" ? { cause: "trigger", by: "" } : { cause: `timer:${message.timer}`, by: "" };
    case "stop":
    case "pause":
    case "resume":
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
      return { cause: message.type, by: "agentId" in message ? message.agentId : "" };
    default:
      return { cause: message.type, by: "" };
  }
}
