/**
 * An aggregate with one actor, which its owner creates with the first command to it: a concurrency group, a schedule, a
 * timetable. It is no run: it has no plan, no agent holds it, and lists of runs leave it out.
 */
import { asId, type ProjectId, type RootId } from "../../src/domain/ids.ts";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import { NO_PIPELINE, type RunOrigin, type RunSummary } from "../../src/stores/ports/aggregates.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import type { ActorKind, AggregateType, Kind } from "./actor-kind.ts";

/** Every aggregate has a summary and an origin; those of a lone actor say nothing. */
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

export interface LoneActor<State, Message> {
  readonly kind: Kind;
  /** For messages: `a group`. */
  readonly noun: string;
  readonly decide: (state: State, message: Message, now: number) => ReturnType<ActorKind<State, Message>["decide"]>;
  readonly initial: (rootId: RootId) => State & { readonly state: string };
  readonly messageOf: (command: Command) => Message;
  /** True for a state that owes nothing. The next command loads it again, or creates it again after it was removed. */
  readonly isFinal: (state: State) => boolean;
  /** When the actor has something to do next, Unix milliseconds; null for never. The message of its timer says nothing else. */
  readonly wakeAt?: (state: State) => number | null;
}

export function loneAggregate<State extends { readonly state: string }, Message>({
  kind,
  noun,
  decide,
  initial,
  messageOf,
  isFinal,
  wakeAt = () => null,
}: LoneActor<State, Message>): AggregateType {
  const actor: ActorKind<State, Message> = {
    decide,
    index: ({ state }) => ({ position: 0, jobId: null, status: state, attempt: 1, agentId: null }),
    timers(state) {
      const dueAt = wakeAt(state);
      return dueAt === null ? [] : [["next", { generation: 0, dueAt }]];
    },
    // The sweeps find the timer in the store, so Redis has nothing to be told again.
    outstanding: () => [],
    waitsForAgent: () => null,
    heldBy: () => null,
  };
  return {
    kinds: { [kind]: actor },
    isPlanned: false,
    initial(rootId, shard) {
      const state = initial(rootId);
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
        actors: [{ kind, id: rootId, state, index: actor.index(state) }],
      };
    },
    toMessage: (command) => ({ to: { kind, id: command.rootId }, message: messageOf(command) }),
    causeOf: () => ({ cause: "", by: "" }),
    summarise: () => SUMMARY,
    isFinal,
    waitsMessage() {
      throw new Error(`${noun} does not wait for an agent`);
    },
    agentLostMessage() {
      throw new Error(`${noun} is not held by an agent`);
    },
  };
}
