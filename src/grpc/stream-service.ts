/** stream.v1: live statuses and events of runs, the presence of agents, and the control channel of agents in a second encoding. */
import { z } from "zod";
import type { ConnectRequest, ConnectResponse } from "../../proto/generated/agent/v1/agent.ts";
import type {
  AgentChannelRequest,
  AgentChannelResponse,
  StreamEventsRequest,
  StreamEventsResponse,
  StreamServer,
} from "../../proto/generated/stream/v1/stream.ts";
import type { AgentPresenceFeed } from "../app/following/agent-presence-feed.ts";
import { type CloudEvent, cloudEvent, systemCloudEvent } from "../app/events/cloud-event.ts";
import { followAgents } from "../app/following/agent-updates.ts";
import { followEvents } from "../app/following/run-events.ts";
import type { RunEventFeed } from "../app/following/run-event-feed.ts";
import type { RunStateOfSave } from "../app/following/run-states.ts";
import type { SystemEventFeed } from "../app/system-events/system-event-feed.ts";
import { followSystemLog, newestOf, sightOf } from "../app/system-events/system-log.ts";
import { followRuns } from "../app/following/runs-channel.ts";
import type { StateFeed } from "../app/following/state-feed.ts";
import {
  type ReportedObject,
  reportedJob,
  reportedRun,
  reportedStep,
  reportStatus,
  type StatusReport,
} from "../app/following/status-reports.ts";
import { EVENT_OBJECTS, type RunEvent } from "../domain/events.ts";
import {
  type AgentId,
  asId,
  DEFAULT_TENANT,
  type JobRunId,
  type PipelineId,
  type ProjectId,
  type RunId,
  type StepRunId,
  type TenantId,
} from "../domain/ids.ts";
import { SYSTEM_OBJECTS, type SystemEvent } from "../domain/system-events.ts";
import type { JobStatus, RunStatus, StepStatus } from "../domain/status.ts";
import type { AgentChannels } from "./agent-channel.ts";
import { agentUpdateMessage } from "./messages/agent-status-messages.ts";
import { type Duplex, duplex } from "./calls.ts";
import type { GatewayContext } from "../gateway/gateway-context.ts";
import type { ServerStream, ServerStreams } from "./server-streams.ts";
import { runUpdateMessage } from "./messages/run-state-messages.ts";
import { JOB_STATUSES, RUN_STATUSES, STEP_STATUSES, wordOf } from "./messages/words.ts";
import { parseMessage } from "./messages/parse-message.ts";

const MAX_AGENTS = 1_000;

const idOf = (prefix: string, what: string) =>
  z.string().regex(new RegExp(`^${prefix}_\\w{1,64}$`), `must be the id of a ${what}: ${prefix}_...`);

const number = z
  .bigint()
  .refine((value) => value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER), "must be the number of an event, or 0")
  .transform(Number);

const after = { afterEvent: number.optional() };
const stepRequest = z.object({ stepRunId: idOf("step", "step run"), ...after });
const jobRequest = z.object({ jobId: idOf("job", "job run"), ...after });
const runRequest = z.object({ runId: idOf("run", "run"), ...after });
const eventsRequest = z.object({
  runId: idOf("run", "run"),
  after: number,
  objects: z.array(z.enum(EVENT_OBJECTS, `must be one of ${EVENT_OBJECTS.join(", ")}`)),
  log: z.literal("", "must be empty for the events of a run"),
});
const systemEventsRequest = z.object({
  after: number,
  objects: z.array(z.enum(SYSTEM_OBJECTS, `must be one of ${SYSTEM_OBJECTS.join(", ")}`)),
  log: z.string().max(64),
});
/** Empty: any. */
const idText = z.string().max(64);
const agentsRequest = z.object({
  agentIds: z.array(idOf("agt", "registered agent")).max(MAX_AGENTS, `must be at most ${MAX_AGENTS}`),
  revision: z.string().max(128),
});

const runsRequest = z.object({
  tenantId: idText,
  projectId: idText,
  pipelineId: idText,
  statuses: z.array(
    z.string().transform((status, { issues }): RunStatus => {
      const word = wordOf(RUN_STATUSES, status as never);
      if (word === undefined) issues.push({ code: "custom", input: status, message: "must be a status of a run" });
      return word ?? "pending";
    }),
  ),
  revision: z.string().max(128),
});

export interface StreamServiceParts {
  readonly channels: AgentChannels;
  readonly streams: ServerStreams;
  readonly runEvents: RunEventFeed;
  readonly presenceFeed: AgentPresenceFeed;
  readonly runs: StateFeed<RunStateOfSave>;
  readonly systemEvents: SystemEventFeed;
}

export function streamService(
  context: GatewayContext,
  { channels, streams, runEvents, presenceFeed, runs, systemEvents }: StreamServiceParts,
): StreamServer {
  return {
    streamStepRunStatus: streams.handler(async (stream) => {
      const { stepRunId, afterEvent } = parseMessage(stepRequest, stream.request);
      const step = await reportedStep(context, stream.caller, asId<StepRunId>(stepRunId));
      const { runId, jobId } = step;
      await sendReports(stream, step, afterEvent, ({ status, ...rest }) => {
        return { stepRunId, runId, jobId, status: STEP_STATUSES[status as StepStatus], ...rest };
      });
    }),

    streamJobStatus: streams.handler(async (stream) => {
      const { jobId, afterEvent } = parseMessage(jobRequest, stream.request);
      const job = await reportedJob(context, stream.caller, asId<JobRunId>(jobId));
      await sendReports(stream, job, afterEvent, ({ status, ...rest }) => {
        return { jobId, runId: job.runId, status: JOB_STATUSES[status as JobStatus], ...rest };
      });
    }),

    streamPipelineStatus: streams.handler(async (stream) => {
      const { runId, afterEvent } = parseMessage(runRequest, stream.request);
      const run = await reportedRun(context, stream.caller, asId<RunId>(runId));
      await sendReports(stream, run, afterEvent, ({ status, ...rest }) => {
        return { runId, pipelineId: run.pipelineId, status: RUN_STATUSES[status as RunStatus], ...rest };
      });
    }),

    streamEvents: streams.handler(async (stream) => {
      const { request, caller, hungUp, write } = stream;
      if (request.runId === "") return sendSystemEvents(stream);
      const { runId, log: _, ...rest } = parseMessage(eventsRequest, request);
      const following = { runId: asId<RunId>(runId), ...rest, abort: hungUp };
      for await (const event of followEvents(context, runEvents, caller, following)) {
        await write(
          eventMessage(event, cloudEvent(event, context.eventNamespace)),
          `resume with after ${event.number}`,
        );
      }
    }),

    streamAgentStatus: streams.handler(async ({ request, caller, hungUp, write }) => {
      const { agentIds, revision } = parseMessage(agentsRequest, request);
      const following = { agentIds: agentIds.map((id) => asId<AgentId>(id)), revision, abort: hungUp };
      for await (const update of followAgents(context, presenceFeed, caller, following)) {
        await write(agentUpdateMessage(update), `resume with revision ${update.revision}`);
      }
    }),

    streamRuns: streams.handler(async ({ request, caller, hungUp, write }) => {
      const { tenantId, projectId, pipelineId, statuses, revision } = parseMessage(runsRequest, request);
      const filter = {
        tenantId: idIn<TenantId>(tenantId),
        projectId: idIn<ProjectId>(projectId),
        pipelineId: idIn<PipelineId>(pipelineId),
        statuses: statuses.length === 0 ? undefined : new Set(statuses),
      };
      for await (const update of followRuns({ context, runs }, caller, filter, { revision, abort: hungUp })) {
        await write(runUpdateMessage(update), `resume with revision ${update.revision}`);
      }
    }),

    agentChannel: duplex(context, (call) => channels.serve(unwrapChannel(call))),
  };

  async function sendSystemEvents({
    request,
    caller,
    hungUp,
    write,
  }: ServerStream<StreamEventsRequest, StreamEventsResponse>): Promise<void> {
    const { after, objects, log } = parseMessage(systemEventsRequest, request);
    const wanted = { log: log === "" ? DEFAULT_TENANT : log, ...(objects.length > 0 && { objects: new Set(objects) }) };
    const sight = await sightOf(context, caller, wanted);
    const newest = await newestOf(context, sight, after);
    for await (const update of followSystemLog(systemEvents, sight, { after, newest, abort: hungUp })) {
      if (update.type !== "event") continue;
      const { event } = update;
      const message = eventMessage(event, systemCloudEvent(event, context.eventNamespace));
      await write(message, `resume with after ${event.number}`);
    }
  }

  async function sendReports<Request, Response>(
    { write, hungUp }: ServerStream<Request, Response>,
    object: ReportedObject,
    afterEvent: number | undefined,
    message: (
      report: Omit<StatusReport, "eventNumber" | "timeMs"> & { eventNumber: bigint; timeMs: bigint },
    ) => Response,
  ): Promise<void> {
    for await (const report of reportStatus(runEvents, object, { after: afterEvent, abort: hungUp })) {
      const { eventNumber, timeMs, ...rest } = report;
      const response = message({ ...rest, eventNumber: BigInt(eventNumber), timeMs: BigInt(Math.round(timeMs)) });
      await write(response, `resume with after_event ${eventNumber}`);
    }
  }
}

function idIn<I extends string>(text: string): I | undefined {
  return text === "" ? undefined : (text as I);
}

function eventMessage(
  { number: position, timeMs }: RunEvent | SystemEvent,
  { id, source, type, subject, data }: CloudEvent,
): StreamEventsResponse {
  return {
    id,
    source,
    type,
    subject,
    number: BigInt(position),
    timeMs: BigInt(Math.round(timeMs)),
    dataJson: JSON.stringify(data),
  };
}

/** The call in the encoding of `agent.v1`, whose messages are those inside the messages of `AgentChannel`. */
function unwrapChannel(
  call: Duplex<AgentChannelRequest, AgentChannelResponse>,
): Duplex<ConnectRequest, ConnectResponse> {
  return {
    ...call,
    requests: unwrapRequests(call.requests),
    write: (response) => call.write({ response }),
  };
}

async function* unwrapRequests(
  wrapped: AsyncIterator<AgentChannelRequest, undefined>,
): AsyncGenerator<ConnectRequest, undefined> {
  for (let next = await wrapped.next(); next.done !== true; next = await wrapped.next()) {
    yield next.value.request ?? { message: undefined };
  }
  return undefined;
}
