/** The states of all runs that have not ended, for the feed over runs. */
import type { ProjectId, PipelineId, RunId } from "../../domain/ids.ts";
import { isFinalRunStatus, RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import { RUNS_CHANNEL, type RunHint } from "../../feed/feed.ts";
import type { AggregateHead, RunSearch, RunWaits } from "../../stores/ports/aggregates.ts";
import type { ListKey } from "../../stores/ports/pages.ts";
import type { WithStores } from "../context.ts";
import { runWaitingFor } from "../runs/waiting.ts";
import type { FollowingContext } from "./context.ts";
import type { StateSource } from "./state-feed.ts";

/** Runs of one read. */
const PAGE = 500;
/** Runs that a feed follows at most; of more, the newest ones. A run takes some hundred bytes. */
const MAX_RUNS = 100_000;
/** A run may be stored so long after the time that it names, because clocks differ and commits take time. */
const MARGIN_MS = 30_000;
const LIVE = (Object.keys(RUN_STATUS_CODES) as RunStatus[]).filter((status) => !isFinalRunStatus(status));

export interface LiveRun {
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  readonly status: RunStatus;
  /** `agent`: the run itself says which agents there are, and what they lack. */
  readonly waitingFor: { readonly reason: string; readonly text: string } | null;
  /** Number of the newest event of the run that the state includes. */
  readonly eventNumber: number;
}

/** A state with the number of the save that it comes from. */
export interface RunStateOfSave extends LiveRun {
  readonly version: number;
}

export function runStates(
  context: Pick<FollowingContext, "feed"> & WithStores<"aggregates">,
): StateSource<RunStateOfSave> {
  const { aggregates } = context.stores;
  const pages = async function* (search: RunSearch, isKnown?: (runId: RunId) => boolean) {
    let after: ListKey | undefined;
    for (let count = 0; count < MAX_RUNS; count += PAGE) {
      const { list, next } = await aggregates.findRuns(search, { limit: PAGE, after, isKnown });
      yield list.map((head) => stateOf(hintOf(head)));
      if (next === null) return;
      after = next;
    }
  };
  return {
    keyOf: ({ runId }) => runId,
    versionOf: ({ version }) => version,
    isOver: ({ status }) => isFinalRunStatus(status),
    isSame: (one, other) => one.version === other.version,
    async *readLive(since, isKnown) {
      yield* pages({ statuses: LIVE });
      // What has begun and ended between two reads was in neither.
      if (since !== null) yield* pages({ from: since - MARGIN_MS }, isKnown);
    },
    async readOne({ runId }) {
      const head = await aggregates.loadHead(runId);
      return head === undefined ? undefined : stateOf(hintOf(head));
    },
    listen: (heard) => context.feed.follow(RUNS_CHANNEL, (hint) => heard(stateOf(hint as RunHint))),
  };
}

function hintOf({ rootId: runId, version, eventNumber, summary }: AggregateHead): RunHint {
  const { pipelineId, projectId, status, bound, waits } = summary;
  return { runId, pipelineId, projectId, status, bound, waits, version, eventNumber };
}

function stateOf(hint: RunHint): RunStateOfSave {
  const { runId, pipelineId, projectId, status, version, eventNumber } = hint;
  const waits = hint.waits as RunWaits | null;
  const wait = runWaitingFor({ ...hint, waits }, { online: null, quotas: [] });
  const waitingFor = wait === null ? null : { reason: wait.reason, text: wait.text };
  return { runId, pipelineId, projectId, status, waitingFor, version, eventNumber };
}
