/** The group aggregate: one actor, which is there as soon as somebody asks for a place. */
import { asId, type GroupId, type ProjectId } from "../../src/domain/ids.ts";
import { NO_PIPELINE, type RunOrigin, type RunSummary } from "../../src/stores/ports/aggregates.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import type { ActorKind, AggregateType } from "../kernel/actor-kind.ts";
import { decideGroup } from "./decide.ts";
import type { GroupMessage } from "./messages.ts";
import type { GroupState } from "./state.ts";

const groupActor: ActorKind<GroupState, GroupMessage> = {
  decide: decideGroup,
  index: ({ state }) => ({ position: 0, jobId: null, status: state, attempt: 1, agentId: null }),
  timers: () => [],
  outstanding: () => [],
  waitsForAgent: () => null,
  heldBy: () => null,
};

/** Those of no run. */
const SUMMARY: RunSummary = {
  pipelineId: NO_PIPELINE,
  projectId: asId<ProjectId>(""),
  status: "running",
  createdAt: 0,
  startedAt: null,
  endedAt: null,
  bound: false,
  waits: null,
};
const ORIGIN: RunOrigin = {
  trigger: { kind: "manual", ref: "" },
  variables: [],
  triggeredBy: "",
  actor: "",
  revisionId: "",
  commitSha: "",
  attempt: 1,
  retryOf: null,
  firstRunId: null,
};

export const GROUP_AGGREGATE: AggregateType = {
  kinds: { group: groupActor },
  isPlanned: false,
  initial: (rootId, shard) => {
    const state: GroupState = {
      groupId: rootId as GroupId,
      projectId: null,
      name: "",
      state: "idle",
      limit: 1,
      definedBy: "",
      seats: [],
    };
    return {
      head: {
        rootId,
        shard,
        schema: STORED_FORMAT.schema,
        version: 1,
        final: true,
        settled: true,
        eventNumber: 0,
        nextDueAt: null,
        owed: [],
        summary: SUMMARY,
        origin: ORIGIN,
      },
      actors: [{ kind: "group", id: rootId, state, index: groupActor.index(state) }],
    };
  },
  delivery: (command) => ({ to: { kind: "group", id: command.rootId }, message: messageOf(command) }),
  causeOf: () => ({ cause: "", by: "" }),
  summarise: () => SUMMARY,
  // Nothing of an empty group has to be done; the next one to enter finds it.
  isFinal: ({ state }: GroupState) => state === "idle",
  waitsMessage: () => {
    throw new Error("a group waits for no agent");
  },
  agentLostMessage: () => {
    throw new Error("no agent holds a group");
  },
};

function messageOf(command: Command): GroupMessage {
  if (command.kind === "enter" || command.kind === "leave") return { ...command, commandId: command.id };
  throw new Error(`a group cannot meet the command ${command.kind}`);
}
