/** Changes of the states of runs as messages of stream.v1. */
import type { StreamRunsResponse } from "../../../proto/generated/stream/v1/stream.ts";
import type { RunsUpdate } from "../../app/following/runs-channel.ts";
import { RUN_STATUSES } from "./words.ts";

const NO_RUN = {
  runId: "",
  pipelineId: "",
  projectId: "",
  status: "RUN_STATUS_UNSPECIFIED",
  waitingFor: undefined,
  eventNumber: 0n,
} as const;

export function runUpdateMessage({ revision, ...news }: RunsUpdate): StreamRunsResponse {
  if (news.type !== "change") {
    return { ...NO_RUN, revision, reset: news.type === "reset", caughtUp: news.type === "caughtUp", removed: false };
  }
  const { runId, pipelineId, projectId, status, waitingFor, eventNumber } = news.change.state;
  return {
    runId,
    pipelineId,
    projectId,
    status: RUN_STATUSES[status],
    waitingFor: waitingFor === null ? undefined : { ...NO_WAIT, ...waitingFor },
    eventNumber: BigInt(eventNumber),
    revision,
    reset: false,
    caughtUp: false,
    removed: news.change.isRemoved,
  };
}

const NO_WAIT = {
  needs: [],
  approvalId: "",
  group: "",
  holderRunId: "",
  ahead: 0,
  agents: undefined,
  quota: undefined,
};
