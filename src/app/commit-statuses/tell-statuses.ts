/**
 * Turns stored events of runs into owed commit statuses. Of several events the newest one counts: a host is told what is, and
 * not what was.
 */
import { formatDuration } from "../../domain/durations.ts";
import type { Lifecycle, RunEvent } from "../../domain/events.ts";
import type { JobRunId } from "../../domain/ids.ts";
import { FULL_COMMIT } from "../../domain/names.ts";
import { parseRemote } from "../../git/remote.ts";
import type { StatusState } from "../../providers/provider.ts";
import type { Delivery } from "../../stores/ports/deliveries.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { inWords } from "../notifications/notification-texts.ts";
import { failuresOf, type JobView, jobOf, type Scene, sceneOf } from "../notifications/scene.ts";
import type { Place } from "../notifications/tell-notifications.ts";
import { deliveryIdOf, neverTried } from "../webhooks/webhook-rules.ts";
import type { StatusContext } from "./context.ts";
import { reportedBy } from "./reporting.ts";
import { statusOwner } from "./status-owner.ts";
import { descriptionOf, statusLane, statusName, type StatusRecord } from "./status-record.ts";

/** The jobs of a run with more jobs have no statuses of their own: hosts bound how many they take. */
export const MAX_REPORTED_JOBS = 100;

/** What changes the status of a run or a job, or what it says. */
const TELLING: readonly Lifecycle[] = [
  "created",
  "queued",
  "waiting",
  "started",
  "paused",
  "resumed",
  "completed",
  "failed",
  "cancelled",
  "skipped",
];

const STATES: Readonly<Record<string, StatusState>> = {
  pending: "pending",
  queued: "pending",
  paused: "pending",
  running: "running",
  success: "success",
  // Only jobs that may fail have failed.
  partial: "success",
  failed: "failure",
  cancelled: "cancelled",
};

/** The deliveries of the commit statuses that follow from these events of one run. */
export async function statusesOf(
  context: StatusContext,
  events: readonly RunEvent[],
  place: Place,
): Promise<readonly Delivery[]> {
  const telling = events.filter(
    ({ object, lifecycle }) => (object === "pipeline" || object === "job") && TELLING.includes(lifecycle),
  );
  const [first] = telling;
  const pipeline = first && (await context.stores.pipelines.find(first.pipelineId));
  const reported = pipeline === undefined ? "off" : reportedBy(pipeline);
  const remote = pipeline === undefined ? "" : parseRemote(pipeline.repoUrl);
  if (first === undefined || pipeline === undefined || reported === "off" || typeof remote === "string") return [];
  const ofRun = telling.findLast(({ object }) => object === "pipeline");
  const ofJobs = reported === "jobs" ? newestByJob(telling) : new Map<JobRunId, RunEvent>();
  if (ofRun === undefined && ofJobs.size === 0) return [];
  const scene = await sceneOf(context, first.runId);
  // A run from before the pipeline was in Git has a revision here.
  if (scene === undefined || !FULL_COMMIT.test(scene.head.origin.commitSha)) return [];
  const owner = await statusOwner(context, pipeline);
  const owe = (event: RunEvent, said: Said) =>
    deliveryOf(context, { scene, pipeline, owner, host: remote.host }, event, said, place);
  const owed: Delivery[] = [];
  if (ofRun !== undefined) owed.push(owe(ofRun, await saidOfRun(context, scene, ofRun)));
  if (scene.plan.jobs.length > MAX_REPORTED_JOBS) return owed;
  for (const [jobId, event] of ofJobs) {
    const job = await jobOf(context, scene, jobId);
    if (job !== undefined && !job.isPassing) owed.push(owe(event, saidOfJob(job)));
  }
  return owed;
}

function newestByJob(events: readonly RunEvent[]): Map<JobRunId, RunEvent> {
  return new Map(events.flatMap((event) => (event.object === "job" ? [[event.jobId!, event] as const] : [])));
}

type Said = Pick<StatusRecord, "job" | "state" | "description">;

async function saidOfRun(context: StatusContext, scene: Scene, event: RunEvent): Promise<Said> {
  const { status, lifecycle, data, timeMs } = event;
  const { startedAt, createdAt } = scene.head.summary;
  const said = (description: string): Said => ({ job: null, state: STATES[status] ?? "pending", description });
  switch (status) {
    case "success":
      return said(`Succeeded in ${formatDuration(timeMs - (startedAt ?? createdAt))}.`);
    case "partial":
      return said("Succeeded; jobs that may fail have failed.");
    case "failed": {
      const { failed, count } = await failuresOf(context, scene);
      const named = failed.map(({ name, why }) => (why === "" ? name : `${name} (${why})`));
      const others = count > named.length ? [`${count - named.length} more`] : [];
      const why = [...named, ...others].join(", ");
      return said(why === "" ? "Failed." : `Failed: ${why}.`);
    }
    case "cancelled":
      return said("Was cancelled.");
    case "paused":
      return said("Is paused.");
    case "running":
      return said("Is running.");
    default:
      return said(lifecycle === "waiting" ? waitInWords(data) : "Waits.");
  }
}

function waitInWords({ waitingFor, text }: RunEvent["data"]): string {
  if (waitingFor === "approval") return `Waits for the approval of ${String(text)}.`;
  return `Waits for a place in the group ${JSON.stringify(text)}.`;
}

function saidOfJob({ name, status, why, reason }: JobView): Said {
  const words = why === "" ? inWords(reason) : why;
  const texts: Readonly<Record<string, string>> = {
    running: "Is running.",
    success: reason === "condition" ? "Was skipped: its condition is not true." : "Succeeded.",
    cancelled: "Did not run to its end.",
  };
  const failed = words === "" ? "Failed." : `Failed: ${words}.`;
  const description = status === "failed" ? failed : (texts[status] ?? "Waits.");
  return { job: name, state: STATES[status] ?? "pending", description };
}

interface Reporting {
  readonly scene: Scene;
  readonly pipeline: Pipeline;
  /** What the names of its statuses add; empty for nothing. */
  readonly owner: string;
  readonly host: string;
}

function deliveryOf(
  { clock, eventNamespace }: StatusContext,
  { scene, pipeline, owner, host }: Reporting,
  { runId, number, object, lifecycle }: RunEvent,
  { job, state, description }: Said,
  place: Place,
): Delivery {
  const record: StatusRecord = {
    pipelineId: pipeline.pipelineId,
    job,
    host,
    commit: scene.head.origin.commitSha,
    name: statusName(pipeline.name, owner, job),
    state,
    description: descriptionOf(description),
    url: scene.url === "" ? null : scene.url,
  };
  const lane = statusLane(place.projectId, pipeline.repoUrl, record);
  return {
    deliveryId: deliveryIdOf(lane, runId, String(number)),
    lane,
    ...place,
    runId,
    number,
    type: `${eventNamespace}.${object}.${lifecycle}`,
    body: JSON.stringify(record),
    ...neverTried(clock.now()),
  };
}
