/** The run aggregate: a run actor with its job and step actors, which live and are saved together. */
import { isFinalRunStatus } from "../../src/domain/status.ts";
import type { AggregateType } from "../kernel/actor-kind.ts";
import { jobActor } from "../job/actor.ts";
import type { AgentLost } from "../job/messages.ts";
import { stepActor } from "../step/actor.ts";
import { runActor, summariseRun } from "./actor.ts";
import type { RunMessage } from "./messages.ts";
import { type RunState, runStatus } from "./state.ts";

export const RUN_AGGREGATE: AggregateType = {
  kinds: { run: runActor, job: jobActor, step: stepActor },
  commandMessage({ kind, id, reason, operator }): RunMessage {
    return { type: kind, commandId: id, reason, operator };
  },
  summarise: (run: RunState, bound) => summariseRun(run, bound),
  isFinal: (run: RunState) => isFinalRunStatus(runStatus(run.state)),
  agentLostMessage({ agentId, bootId }, reason): AgentLost {
    return { type: "agentLost", agentId, bootId, reason };
  },
};
