/** The group aggregate: one actor, which the kernel creates when the first run or job asks for a place. */
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

/** Every aggregate has a summary and an origin; those of a group say nothing. */
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
  toMessage: (command) => ({ to: { kind: "group", id: command.rootId }, message: messageOf(command) }),
  causeOf: () => ({ cause: "", by: "" }),
  summarise: () => SUMMARY,
  // An empty group owes nothing. The next member that enters loads it again.
  isFinal: ({ state }: GroupState) => state === "idle",
  waitsMessage: () => {
    throw new Error("a group does not wait for an agent");
  },
  agentLostMessage: () => {
    throw new Error("a group is not held by an agent");
  },
};

function messageOf(command: Command): GroupMessage {
  if (command.kind === "enter" || command.kind === "leave") return { ...command, commandId: command.id };
  throw new Error(`the command ${command.kind} is not valid for a group`);
}
