/** What must hold when every run has ended: the judge of the kill tests, and what only a simulation can see. */
import { isDeepStrictEqual } from "node:util";
import type { JobState } from "../../../actors/job/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import type { RunId } from "../../../src/domain/ids.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { checkLives } from "../../chaos/check/checker.ts";
import type { LivesEvidence, RunLife, Violation } from "../../chaos/check/evidence.ts";
import { approvalEvidence, jobEvidence } from "../../chaos/check/run-evidence.ts";
import { FINAL_RUN_STATUSES } from "../../../src/domain/status.ts";
import type { Clients, Triggered } from "../load/clients.ts";
import type { Document, RowKind, StoreServer } from "../store/store-server.ts";
import type { Effects } from "./effects.ts";
import type { Executions } from "./executions.ts";

export interface FinalEvidence {
  readonly store: StoreServer;
  readonly clients: Clients;
  readonly executions: Executions;
  readonly effects: Effects;
  /** True when nothing went wrong in the whole simulation. */
  readonly isFaultless: boolean;
}

export function checkFinal(evidence: FinalEvidence): readonly Violation[] {
  const { store, clients, executions } = evidence;
  const runs = runsOf(store).map((document) => runEvidence(store, document));
  const forChecker: LivesEvidence = {
    acknowledged: clients.triggered
      .filter(({ isAcknowledged }) => isAcknowledged)
      .map((run) => acknowledged(run, runs)),
    runs,
    marks: executions.marks,
    deadLetters: Array.from(store.deadLetters.values(), ({ rootId, reason }) => `${rootId}: ${reason}`),
  };
  return [
    ...checkLives(forChecker),
    ...checkCommands(evidence),
    ...checkProjections(store),
    ...(evidence.isFaultless ? checkOnce(evidence) : []),
  ];
}

/** True when the run has ended and owes nothing. */
export function isSettled(store: StoreServer, runId: RunId): boolean {
  return store.documents.get(runId)?.head.settled === true;
}

function runsOf(store: StoreServer): readonly Document[] {
  return [...store.documents.values()].filter(({ head }) => head.rootId.startsWith("run_"));
}

function runEvidence(store: StoreServer, { head, actors }: Document): RunLife {
  const statesOf = <State>(kind: string): readonly State[] =>
    [...actors.values()].flatMap((actor) => (actor.kind === kind ? [actor.state as State] : []));
  return {
    runId: head.rootId,
    status: head.summary.status,
    settled: head.settled,
    eventNumber: head.eventNumber,
    events: store.eventsOf(head.rootId as RunId),
    jobs: jobEvidence(
      statesOf<JobState>("job"),
      statesOf<StepState>("step"),
      store.plans.get(head.rootId as RunId)!.plan,
    ),
    approvals: statesOf<ApprovalState>("approval").map(approvalEvidence),
  };
}

function acknowledged(run: Triggered, runs: readonly RunLife[]): LivesEvidence["acknowledged"][number] {
  const { requestId, runId, shape, isDisturbed } = run;
  const isUnable = runs.some((one) => {
    return one.runId === runId && one.jobs.some(({ reason }) => reason === "dispatch_failed");
  });
  return {
    requestId,
    runId,
    ends: isDisturbed || isUnable ? FINAL_RUN_STATUSES : shape.ends,
    exclusion: shape.exclusion === null ? null : { unit: shape.exclusion, kind: shape.name },
  };
}

/** A command that was acknowledged has a verdict. */
function checkCommands({ store, clients }: FinalEvidence): readonly Violation[] {
  return clients.acknowledgedCommands.flatMap((id): readonly Violation[] => {
    const asked = store.inbox.get(id);
    if (asked === undefined) return [{ kind: "lost", text: `command ${id} was acknowledged and is not in the store` }];
    if (asked.verdict !== null) return [];
    return [{ kind: "lost", text: `command ${id} (${asked.command.kind}) was acknowledged and has no verdict` }];
  });
}

/** The rows of jobs, steps and approvals say what the snapshots say. */
function checkProjections(store: StoreServer): readonly Violation[] {
  return runsOf(store).flatMap(({ actors, head }) =>
    [...actors.values()].flatMap((actor): readonly Violation[] => {
      if (actor.kind === "run" || actor.kind === "group") return [];
      const row = store.rows[actor.kind satisfies RowKind].get(actor.id);
      if (row !== undefined && (row.actor === actor || isDeepStrictEqual(row.actor, actor))) return [];
      const shown = row === undefined ? "missing" : `${row.actor.index.status} (version ${row.version})`;
      const text = `the row of ${actor.id} of run ${head.rootId} is ${shown}, its snapshot ${actor.index.status}`;
      return [{ kind: "wrong", text }];
    }),
  );
}

/** Without a fault, no effect is performed twice. */
function checkOnce({ effects }: FinalEvidence): readonly Violation[] {
  return [...effects.counts].flatMap(([effect, times]): readonly Violation[] => {
    return times > 1 ? [{ kind: "doubled", text: `${effect} was performed ${times} times without a fault` }] : [];
  });
}
