/** What must hold when every run has ended: the judge of the kill tests, and what only a simulation can see. */
import { isDeepStrictEqual } from "node:util";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import type { RunEvent } from "../../../src/domain/events.ts";
import { asId, type RunId } from "../../../src/domain/ids.ts";
import type { StoredActor } from "../../../src/stores/ports/aggregates.ts";
import type { AcknowledgedTrigger, RunEvidence, Violation } from "../../chaos/check/evidence.ts";
import { checkExclusion } from "../../chaos/check/exclusion.ts";
import { isLostWithItsAgents } from "../../chaos/check/losses.ts";
import { approvalEvidence, jobEvidence } from "../../chaos/check/run-evidence.ts";
import { checkSteps } from "../../chaos/check/steps.ts";
import { checkTokens } from "../../chaos/check/tokens.ts";
import { checkTransitions } from "../../chaos/check/transitions.ts";
import { FINAL_RUN_STATUSES } from "../../../src/domain/status.ts";
import { eventProblem } from "../../support/event-check.ts";
import type { Clients, Triggered } from "../load/clients.ts";
import type { CodeHost } from "../outside/code-host.ts";
import type { Push } from "../outside/pushes.ts";
import type { Document, RowKind, StoreServer } from "../store/store-server.ts";
import type { Effects } from "./effects.ts";
import { checkDeliveries } from "./deliveries.ts";
import { checkSchedules } from "./schedules.ts";
import { checkStatuses } from "./statuses.ts";
import type { Executions } from "./executions.ts";

export interface FinalEvidence {
  readonly store: StoreServer;
  readonly host: CodeHost;
  readonly pushes: readonly Push[];
  readonly clients: Clients;
  readonly executions: Executions;
  readonly effects: Effects;
  /** True when nothing went wrong in the whole simulation. */
  readonly isFaultless: boolean;
  /** True when wall clocks of workers have jumped: then the times in the store are not those of the agents. */
  readonly haveClocksJumped?: boolean;
}

/** Violations that follow from a comparison of the times of several clocks. */
const OF_SEVERAL_CLOCKS = /has an earlier time than|was still running \d+ ms after its end/;

export function checkFinal(evidence: FinalEvidence): readonly Violation[] {
  const found = checkAll(evidence);
  return evidence.haveClocksJumped === true ? found.filter(({ text }) => !OF_SEVERAL_CLOCKS.test(text)) : found;
}

function checkAll(evidence: FinalEvidence): readonly Violation[] {
  const { store, clients, executions } = evidence;
  const runs = runsOf(store).map((document) => runEvidence(store, document));
  const { marks } = executions;
  const acknowledged = clients.triggered.filter(({ isAcknowledged }) => isAcknowledged);
  return [
    ...checkTriggers(clients.triggered, acknowledged, runs, store),
    ...runs.flatMap((run) => [...checkEnded(run), ...checkTransitions(run), ...checkTokens(run)]),
    ...checkSteps(runs, marks),
    ...checkExclusion({ acknowledged: acknowledged.map(exclusionOf), runs, marks }),
    ...Array.from(store.deadLetters.values(), ({ rootId, reason }): Violation => {
      return { kind: "wrong", text: `dead letter: ${rootId}: ${reason}` };
    }),
    ...runs.flatMap(({ runId }) => checkEvents(store.eventsOf(asId<RunId>(runId)))),
    ...runsOf(store).flatMap((document) => checkPushedEvents(store, document)),
    ...checkCommands(evidence),
    ...checkProjections(store),
    ...checkClaims(store),
    ...checkSchedules(store),
    ...checkDeliveries(store, evidence.pushes),
    ...checkStatuses(store, evidence.host, evidence.isFaultless),
    ...(evidence.isFaultless ? [...checkOnce(evidence), ...checkSlots(store)] : []),
  ];
}

function checkEvents(events: readonly RunEvent[]): readonly Violation[] {
  return events.flatMap((event) => {
    // The simulation stores no content.
    const problem = eventProblem(event.lifecycle === "pushed" ? { ...event, pushed: CONTENT } : event);
    return problem === undefined ? [] : [{ kind: "wrong", text: problem }];
  });
}

const CONTENT = { type: "svc.step.progress", eventId: "e", subject: "", time: 0, data: "{}" };

/** The log has the pushed events of each step once, in order and without a gap, as far as the snapshot and the verdicts say. */
function checkPushedEvents(store: StoreServer, document: Document): readonly Violation[] {
  const runId = document.head.rootId as RunId;
  const logged = store.eventsOf(runId).filter(({ lifecycle }) => lifecycle === "pushed");
  const commands = [...store.inbox.values()].filter(({ command }) => command.rootId === runId);
  const steps = actorsOf(store, document).flatMap(({ kind, state }) => (kind === "step" ? [state as StepState] : []));
  const wrong = steps.flatMap(({ stepRunId, eventsThrough = 0 }): readonly Violation[] => {
    const sequences = logged.flatMap((event) =>
      event.stepRunId === stepRunId ? [Number(event.data["sequence"])] : [],
    );
    const isWhole = sequences.length === eventsThrough && sequences.every((sequence, at) => sequence === at + 1);
    const promised = commands.flatMap(({ command, verdict }) =>
      command.kind === "pushEvents" && command.stepRunId === stepRunId ? [verdict?.through ?? 0] : [],
    );
    if (isWhole && promised.every((through) => through <= eventsThrough)) return [];
    const text = `${stepRunId} has taken ${eventsThrough} events, promised ${promised.join()}, logged ${sequences.join()}`;
    return [{ kind: "wrong", text }];
  });
  const total = steps.reduce((sum, { eventsThrough = 0 }) => sum + eventsThrough, 0);
  const run = document.actors.get(runId)!.state as RunState;
  if (total === (run.pushedEvents ?? 0)) return wrong;
  return [...wrong, { kind: "wrong", text: `${runId} counts ${run.pushedEvents} pushed events, its steps ${total}` }];
}

/** True when the run has ended and owes nothing. */
export function isSettled(store: StoreServer, runId: RunId): boolean {
  return store.documents.get(runId)?.head.settled === true;
}

function runsOf(store: StoreServer): readonly Document[] {
  return [...store.documents.values()].filter(({ head }) => head.rootId.startsWith("run_"));
}

function actorsOf(store: StoreServer, document: Document): readonly StoredActor[] {
  return [...document.actors.values(), ...store.endedOf(document)];
}

function runEvidence(store: StoreServer, document: Document): RunEvidence {
  const { head } = document;
  const statesOf = <State>(kind: string): readonly State[] =>
    actorsOf(store, document).flatMap((actor) => (actor.kind === kind ? [actor.state as State] : []));
  const { plan, jobs } = store.plans.get(head.rootId as RunId)!;
  return {
    runId: head.rootId,
    startedBy: null,
    status: head.summary.status,
    settled: head.settled,
    owed: head.owed.length,
    eventNumber: head.eventNumber,
    events: store.eventsOf(head.rootId as RunId),
    jobs: jobEvidence(statesOf<JobState>("job"), statesOf<StepState>("step"), plan, jobs),
    approvals: statesOf<ApprovalState>("approval").map(approvalEvidence),
    // The simulation compares the projections by itself: see below.
    actors: [],
    rows: { before: [], after: [] },
  };
}

function exclusionOf({ runId, shape }: Triggered): Pick<AcknowledgedTrigger, "runId" | "exclusion"> {
  const exclusion = shape.exclusion && { unit: shape.exclusion, kind: shape.name };
  return { runId, exclusion };
}

/** Every acknowledged trigger has its run, which ends as its definition says, and every run has a trigger. */
function checkTriggers(
  triggered: readonly Triggered[],
  acknowledged: readonly Triggered[],
  runs: readonly RunEvidence[],
  store: StoreServer,
): readonly Violation[] {
  const isOfItself = (runId: string): boolean => {
    const { scheduled, event } = store.documents.get(asId<RunId>(runId))!.head.origin.trigger;
    return scheduled !== undefined || event !== undefined;
  };
  const byId = new Map(runs.map((run) => [run.runId, run]));
  const known = new Set<string>(triggered.map(({ runId }) => runId));
  return [
    ...acknowledged.flatMap(({ runId, shape, isDisturbed }): readonly Violation[] => {
      const run = byId.get(runId);
      if (run === undefined) return [{ kind: "lost", text: `run ${runId} was acknowledged, and is not in the store` }];
      const isFinal = FINAL_RUN_STATUSES.includes(run.status);
      if (isDisturbed || !isFinal || shape.ends.includes(run.status) || isLostWithItsAgents(run)) return [];
      return [{ kind: "wrong", text: `run ${runId} ended ${run.status} instead of ${shape.ends.join(" or ")}` }];
    }),
    ...runs.flatMap(({ runId }): readonly Violation[] => {
      return known.has(runId) || isOfItself(runId)
        ? []
        : [{ kind: "doubled", text: `run ${runId} belongs to no trigger` }];
    }),
  ];
}

function checkEnded({ runId, status, settled }: RunEvidence): readonly Violation[] {
  if (!FINAL_RUN_STATUSES.includes(status)) return [{ kind: "stuck", text: `run ${runId} is still ${status}` }];
  return settled ? [] : [{ kind: "stuck", text: `run ${runId} has ended and still owes effects` }];
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
  return runsOf(store).flatMap((document) =>
    actorsOf(store, document).flatMap((actor): readonly Violation[] => {
      if (!(actor.kind in store.rows)) return [];
      const row = store.rows[actor.kind as RowKind].get(actor.id);
      if (row !== undefined && (row.actor === actor || isDeepStrictEqual(row.actor, actor))) return [];
      const shown = row === undefined ? "missing" : `${row.actor.index.status} (version ${row.version})`;
      const text = `the row of ${actor.id} of run ${document.head.rootId} is ${shown}, its snapshot ${actor.index.status}`;
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

/**
 * No request id of a stream has been granted two jobs. A fetch whose answer was lost claims again under the same id: see
 * step-fetcher.ts.
 */
function checkClaims(store: StoreServer): readonly Violation[] {
  const jobs = new Map<string, string>();
  return jobsOf(store).flatMap(({ jobId, grant, reusedFrom }): readonly Violation[] => {
    if (reusedFrom !== null || grant?.requestId.startsWith("uuid-") !== true) return [];
    const claim = `${grant.agentId} ${grant.bootId} ${grant.requestId}`;
    const other = jobs.get(claim);
    jobs.set(claim, jobId);
    return other === undefined ? [] : [{ kind: "doubled", text: `${claim} was granted ${other} and ${jobId}` }];
  });
}

/** Without a fault, no agent is given more jobs at a time than it has slots. */
function checkSlots(store: StoreServer): readonly Violation[] {
  const bound = jobsOf(store).filter(({ grant, reusedFrom }) => grant !== null && reusedFrom === null);
  return [...store.agents.values()].flatMap(({ agentId, slots }): readonly Violation[] => {
    const ofAgent = bound.filter(({ grant }) => grant!.agentId === agentId);
    const most = ofAgent.reduce((greatest, { startedAt }) => {
      const at = startedAt!;
      const atOnce = ofAgent.filter((job) => job.startedAt! <= at && at < (job.endedAt ?? Infinity));
      return Math.max(greatest, atOnce.length);
    }, 0);
    return most <= slots ? [] : [{ kind: "wrong", text: `${agentId} has ${slots} slots and was given ${most} jobs` }];
  });
}

function jobsOf(store: StoreServer): readonly JobState[] {
  return runsOf(store).flatMap(({ actors }) =>
    [...actors.values()].flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : [])),
  );
}
