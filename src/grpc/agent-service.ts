/** agent.v1: registration and heartbeats of agents, dispatch by push and by pull, and reports. */
import { z } from "zod";
import type { AgentServer, ConnectResponse } from "../../proto/generated/agent/v1/agent.ts";
import { cancelHeldStep, stepCancellation } from "../gateway/cancel-held-step.ts";
import { StepFetcher } from "../gateway/step-fetcher.ts";
import {
  agentRegistration,
  callingAgent,
  labelChange,
  registerAgent,
  unregisterAgent,
  updateLabels,
} from "../gateway/registration.ts";
import { reportAndWait } from "../gateway/report-and-wait.ts";
import type { AgentChannels } from "./agent-channel.ts";
import {
  agentChosenId,
  bootOf,
  connectResponse,
  dispatchMessage,
  readHeartbeat,
  readReport,
} from "./messages/agent-messages.ts";
import { duplex, requireStillValid, unary } from "./calls.ts";
import type { Dispatch } from "../gateway/dispatch-builder.ts";
import type { GatewayContext } from "../gateway/gateway-context.ts";
import type { GrantedStep } from "../domain/effects.ts";
import { parseMessage } from "./messages/parse-message.ts";
import { recordHeartbeat } from "../gateway/heartbeat.ts";
import { inventoryCalls } from "./inventory-calls.ts";
import { agentMessageOf } from "../gateway/agent-message.ts";

const MAX_FETCH_WAIT_MS = 30_000;
const MAX_REPORT_WAIT_MS = 10_000;
/** The part of a caller's deadline that is kept for the answer's way back. */
const ANSWER_MARGIN_MS = 200;

const fetchRequest = z.object({
  bootId: agentChosenId,
  requestId: agentChosenId,
  freeSlots: z.number().int().min(0),
  waitMs: z.bigint().transform((value) => Math.min(Math.max(0, Number(value)), MAX_FETCH_WAIT_MS)),
});

export function agentService(context: GatewayContext, channels: AgentChannels): AgentServer {
  const fetcher = new StepFetcher(context);
  return {
    ...inventoryCalls(context),

    register: unary(context, (request, { caller }) =>
      registerAgent(context, caller, parseMessage(agentRegistration, request)),
    ),

    unregister: unary(context, async (_, { caller }) => {
      await unregisterAgent(context, caller);
      return {};
    }),

    heartbeat: unary(context, async (request, { caller, hungUp }) => {
      const agentId = callingAgent(caller);
      const { bootId } = parseMessage(bootOf, request);
      const notices = await recordHeartbeat(context, agentId, { ...readHeartbeat(request), bootId }, hungUp);
      const missed: ConnectResponse[] = [];
      for (const notice of notices) {
        // A dispatch that cannot be built now comes with a later heartbeat; this one must be answered.
        const message = await agentMessageOf(context.builder, notice).catch((error: unknown) => {
          context.log.warn({ agentId, error: String(error) }, "a message to the agent could not be built");
          return undefined;
        });
        if (message !== undefined) missed.push(connectResponse(message));
      }
      const { eventNamespace } = context;
      const heartbeatIntervalMs = BigInt(context.heartbeatIntervalMs);
      return { sequence: request.sequence, missed, heartbeatIntervalMs, eventNamespace };
    }),

    fetchStepRun: unary(context, async (request, facts) => {
      const { caller, hungUp, leftMs } = facts;
      const agentId = callingAgent(caller);
      const fetch = parseMessage(fetchRequest, request);
      const waitMs = Math.max(0, Math.min(fetch.waitMs, leftMs - ANSWER_MARGIN_MS));
      const steps = await fetcher.fetch({ ...fetch, agentId, waitMs }, hungUp);
      // A dispatch holds secrets, and the token may have been revoked during the wait.
      if (steps.length > 0) await requireStillValid(context, facts);
      return { dispatches: (await buildAll(context, steps)).map(dispatchMessage) };
    }),

    reportStepRunStatus: unary(context, async (request, { caller, hungUp, leftMs }) => {
      const agentId = callingAgent(caller);
      const report = readReport(request.report);
      context.claimQueue.pauses.learnFrom(agentId, report.phase);
      const waitMs = Math.min(MAX_REPORT_WAIT_MS, leftMs - ANSWER_MARGIN_MS);
      const verdict = await reportAndWait(context, agentId, report, waitMs, hungUp);
      return { verdict: verdict === "processed" ? "REPORT_VERDICT_PROCESSED" : "REPORT_VERDICT_REFUSED" };
    }),

    connect: duplex(context, (call) => channels.serve(call)),

    cancelStepRun: unary(context, async (request, { caller }) => {
      await cancelHeldStep(context, context.builder, caller, parseMessage(stepCancellation, request));
      return {};
    }),

    updateLabels: unary(context, async (request, { caller }) => ({
      labels: { ...(await updateLabels(context, caller, parseMessage(labelChange, request))) },
    })),
  };
}

/**
 * The dispatches of those steps that can be built now: the others come with later heartbeats. Rejects when there are none of
 * them, so that the agent waits before it asks again.
 */
async function buildAll({ builder }: GatewayContext, steps: readonly GrantedStep[]): Promise<readonly Dispatch[]> {
  const built = await Promise.allSettled(steps.map((step) => builder.build(step)));
  const dispatches = built.flatMap((one) => (one.status === "fulfilled" ? (one.value ?? []) : []));
  const failed = built.find(({ status }) => status === "rejected");
  if (dispatches.length === 0 && failed?.status === "rejected") throw failed.reason;
  return dispatches;
}
