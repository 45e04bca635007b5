/** What must hold of commit statuses at the end: the host shows the end of the newest run of each commit, and was told no more than needed. */
import type { JobState } from "../../../actors/job/state.ts";
import { FULL_COMMIT } from "../../../src/domain/names.ts";
import type { CommitStatus, StatusState } from "../../../src/providers/provider.ts";
import { statusOf } from "../../../src/app/commit-statuses/status-record.ts";
import type { Violation } from "../../chaos/check/evidence.ts";
import { type CodeHost, placeOf } from "../outside/code-host.ts";
import type { Document, StoreServer } from "../store/store-server.ts";

/** What the host says of a run and a job that have ended so. */
const ENDS: Readonly<Record<string, StatusState>> = {
  success: "success",
  partial: "success",
  failed: "failure",
  cancelled: "cancelled",
};

/** True when the host was told of every run whose pipeline reports. */
export function areStatusesDone(store: StoreServer): boolean {
  const { telling } = store;
  if (telling.select(({ state }) => state === "owed").length > 0) return false;
  return reportedRuns(store).every(({ head }) => (telling.told.get(head.rootId) ?? 0) >= head.eventNumber);
}

export function checkStatuses(store: StoreServer, host: CodeHost, isFaultless: boolean): readonly Violation[] {
  const newest = new Map<string, Document>();
  for (const run of reportedRuns(store)) {
    const { rootId, summary } = run.head;
    const known = newest.get(summary.pipelineId);
    if (known === undefined || known.head.rootId < rootId) newest.set(summary.pipelineId, run);
  }
  return [
    ...[...newest.values()].flatMap((run) => checkShown(store, host, run)),
    ...[...host.statuses.values()].flatMap((given) => checkGiven(store, given)),
    ...store.telling
      .select(({ state }) => state !== "delivered")
      .map(({ deliveryId, state, body }): Violation => {
        return { kind: state === "owed" ? "stuck" : "lost", text: `the status ${deliveryId} is ${state}: ${body}` };
      }),
    ...(isFaultless ? checkOnce(store, host) : []),
  ];
}

function reportedRuns({ documents, catalogue }: StoreServer): readonly Document[] {
  return [...documents.values()].filter(({ head: { summary, origin } }) => {
    const pipeline = catalogue.pipelines.get(summary.pipelineId);
    return (pipeline?.commitStatuses ?? "") !== "" && FULL_COMMIT.test(origin.commitSha);
  });
}

/** The last status that the host was given, of the run and of each of its jobs, is the end of the newest run. */
function checkShown(store: StoreServer, host: CodeHost, { head, actors }: Document): readonly Violation[] {
  const { rootId, summary, origin } = head;
  const { name, commitStatuses } = store.catalogue.pipelines.get(summary.pipelineId)!;
  const wanted = new Map<string, StatusState | undefined>([[`millrace/${name}`, ENDS[summary.status]]]);
  if (commitStatuses === "jobs") {
    const plan = store.plans.get(rootId as never)!.plan;
    const jobs = [...actors.values(), ...store.endedOf({ head, actors, changed: [] })].flatMap((actor) =>
      actor.kind === "job" ? [actor.state as JobState] : [],
    );
    for (const { index, state, cell, cells, reusedFrom } of newestAttempts(jobs)) {
      // A result that a rerun takes over was told of by the run before.
      if (cells.length > 0 || cell !== null || reusedFrom !== null) continue;
      wanted.set(`millrace/${name}/${plan.jobs[index]!.name}`, ENDS[state]);
    }
  }
  return [...wanted].flatMap(([ofName, state]): readonly Violation[] => {
    const shown = host.statuses.get(placeOf({ commit: origin.commitSha, name: ofName }))?.at(-1);
    if (shown !== undefined && shown.state === state && runOf(shown) === rootId) return [];
    const seen = shown === undefined ? "nothing" : `${shown.state} of ${runOf(shown)}`;
    return [{ kind: "lost", text: `the host shows ${seen} for ${ofName}, and ${rootId} ended ${state}` }];
  });
}

function newestAttempts(jobs: readonly JobState[]): readonly JobState[] {
  const newest = new Map<string, JobState>();
  for (const job of jobs) {
    const key = `${job.index} ${job.cell}`;
    if ((newest.get(key)?.attempt ?? 0) < job.attempt) newest.set(key, job);
  }
  return [...newest.values()];
}

/** The host was given nothing of a run that is not stored, and of no end that the run did not have. */
function checkGiven(store: StoreServer, given: readonly CommitStatus[]): readonly Violation[] {
  return given.flatMap((status): readonly Violation[] => {
    const run = store.documents.get(runOf(status) as never);
    if (run === undefined) return [{ kind: "wrong", text: `the host was given a status of ${runOf(status)}` }];
    const isOfRun = status.name.split("/").length === 2;
    const isEnd = Object.values(ENDS).includes(status.state);
    if (!isOfRun || !isEnd || status.state === ENDS[run.head.summary.status]) return [];
    return [{ kind: "wrong", text: `the host was told that ${run.head.rootId} ended ${status.state}` }];
  });
}

/** Without a fault, each status is set once. */
function checkOnce({ telling }: StoreServer, host: CodeHost): readonly Violation[] {
  const sets = new Map([...host.statuses].map(([place, given]) => [place, given.length]));
  for (const delivery of telling.deliveries.values()) {
    const place = placeOf(statusOf(delivery));
    sets.set(place, (sets.get(place) ?? 0) - 1);
  }
  return [...sets].flatMap(([place, more]): readonly Violation[] =>
    more === 0
      ? []
      : [{ kind: "doubled", text: `${place}: ${more} more statuses were set than owed, without a fault` }],
  );
}

/** The run that a status links to. */
function runOf({ url }: CommitStatus): string {
  return url?.split("/").at(-1) ?? "";
}
