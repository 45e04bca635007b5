/** The run aggregate: a run actor with its job and step actors, which live and are saved together. */
import type { Cause } from "../../src/domain/events.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import type { AggregateType } from "../kernel/actor-kind.ts";
import { jobActor } from "../job/actor.ts";
import type { AgentLost, JobMessage } from "../job/messages.ts";
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
  summarise: (run: RunState, bound) => summariseRun(run, bound),
  isFinal: (run: RunState) => isFinalRunStatus(runStatus(run.state)),
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
