/** agent.v1: lifecycle of agents, dispatch by push and by pull, and reports. */
import { z } from "zod";
import type { AgentServer, ConnectResponse } from "../../proto/generated/agent/v1/agent.ts";
import { cancelHeldStep, stepCancellation } from "../gateway/cancel-held-step.ts";
import { StepFetcher } from "../gateway/step-fetcher.ts";
import {
  agentRegistration,
  callingAgent,
  labelChange,
  noAgent,
  registerAgent,
  unregisterAgent,
  updateLabels,
} from "../gateway/registration.ts";
import { reportAndWait } from "../gateway/report-and-wait.ts";
import { missedOrders } from "../gateway/reconciliation.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentChannels } from "./agent-channel.ts";
import { chosenId, noticeMessage, readHoldings, readReport } from "./messages/agent-messages.ts";
import { duplex, unary } from "./calls.ts";
import type { GatewayContext } from "../gateway/gateway-context.ts";
import { parse } from "./status.ts";

const MAX_FETCH_WAIT_MS = 30_000;
const MAX_REPORT_WAIT_MS = 10_000;
/** Left of a caller's deadline for the answer to travel. */
const ANSWER_MARGIN_MS = 200;

const fetchRequest = z.object({
  bootId: chosenId,
  requestId: chosenId,
  freeSlots: z.number().int().min(0),
  waitMs: z.bigint().transform((value) => Math.min(Math.max(0, Number(value)), MAX_FETCH_WAIT_MS)),
});

export function agentService(context: GatewayContext, channels: AgentChannels): AgentServer {
  const fetcher = new StepFetcher(context, context.desk);
  return {
    register: unary(context, (request, { caller }) =>
      registerAgent(context, caller, parse(agentRegistration, request)),
    ),

    unregister: unary(context, async (_, { caller }) => {
      await unregisterAgent(context, caller);
      return {};
    }),

    heartbeat: unary(context, async (request, { caller }) => {
      const agentId = callingAgent(caller);
      const boot = { agentId, bootId: parse(chosenId, request.bootId) };
      const holdings = readHoldings(request);
      const [agent, present] = await Promise.all([
        context.stores.identity.findAgent(agentId),
        context.presence.read([agentId]),
      ]);
      if (agent === undefined) throw noAgent(agentId);
      const newest = present.get(agentId)?.bootId ?? boot.bootId;
      // A late heartbeat of a former start must not take the newer one's work away.
      if (newest !== boot.bootId && request.sequence > 1n) {
        throw new MillraceError("conflict", "the agent has been started again since: this boot id is over");
      }
      const { labels, slots } = agent;
      await context.presence.beat({
        ...boot,
        gatewayId: context.gatewayId,
        labels,
        slots,
        busy: holdings.jobIds.length,
        takesNoJobs: holdings.takesNoJobs,
      });
      const { notices } = await missedOrders(context, context.builder, boot, holdings);
      const missed: ConnectResponse[] = [];
      for (const notice of notices) {
        const message = await noticeMessage(context.builder, notice);
        if (message !== undefined) missed.push(message);
      }
      const { eventNamespace } = context;
      const heartbeatIntervalMs = BigInt(context.heartbeatIntervalMs);
      return { sequence: request.sequence, missed, heartbeatIntervalMs, eventNamespace };
    }),

    fetchStepRun: unary(context, async (request, { caller, hungUp, leftMs }) => {
      const agentId = callingAgent(caller);
      const fetch = parse(fetchRequest, request);
      const waitMs = Math.max(0, Math.min(fetch.waitMs, leftMs - ANSWER_MARGIN_MS));
      const orders = await fetcher.fetch({ ...fetch, agentId, waitMs }, hungUp);
      const dispatches = await Promise.all(orders.map((order) => context.builder.build(order)));
      return { dispatches: dispatches.filter((dispatch) => dispatch !== undefined) };
    }),

    reportStepRunStatus: unary(context, async (request, { caller, hungUp, leftMs }) => {
      const agentId = callingAgent(caller);
      const report = readReport(request.report);
      context.desk.pauses.hear(agentId, report.phase);
      const waitMs = Math.min(MAX_REPORT_WAIT_MS, leftMs - ANSWER_MARGIN_MS);
      const verdict = await reportAndWait(context, agentId, report, waitMs, hungUp);
      return { verdict: verdict === "processed" ? "REPORT_VERDICT_PROCESSED" : "REPORT_VERDICT_REFUSED" };
    }),

    connect: duplex(context, (call) => channels.serve(call)),

    cancelStepRun: unary(context, async (request, { caller }) => {
      await cancelHeldStep(context, context.builder, caller, parse(stepCancellation, request));
      return {};
    }),

    updateLabels: unary(context, async (request, { caller }) => ({
      labels: { ...(await updateLabels(context, caller, parse(labelChange, request))) },
    })),
  };
}
