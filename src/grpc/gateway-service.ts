/** gateway.v1: log lines and events that agents send; artifacts, uploads, caches and plugins have files of their own. */
import { z } from "zod";
import {
  type AgentEvent as EventMessage,
  EventVerdict as VerdictCode,
  type GatewayServer,
  type LogLine as LineMessage,
  LogStream,
  type PushEventsRequest,
  type PushEventsResponse,
  type PushLogsRequest,
  type PushLogsResponse,
} from "../../proto/generated/gateway/v1/gateway.ts";
import type { AgentCaller } from "../app/identity/access.ts";
import { takeAgentEvents } from "../gateway/ingest/event-ingest.ts";
import type { EventVerdict, PushedEvent } from "../gateway/ingest/pushed-events.ts";
import { listenToRevocation } from "../board/agent-notices.ts";
import { LogLimits } from "../gateway/log-limits.ts";
import { agentCaller, tokenRevoked } from "../gateway/registration.ts";
import type { AppContext } from "../app/context.ts";
import { type LogBatch, LogIngest } from "../gateway/ingest/log-ingest.ts";
import { MillraceError } from "../domain/errors.ts";
import { asId, type StepRunId } from "../domain/ids.ts";
import { artifactCalls } from "./artifact-calls.ts";
import { cacheCalls } from "./cache-calls.ts";
import { type Duplex, duplex, type StreamContext } from "./calls.ts";
import { imageCalls } from "./image-calls.ts";
import { answerInOrder } from "./ordered-answers.ts";
import { pluginCalls } from "./plugin-calls.ts";
import { testCaseCalls } from "./test-case-calls.ts";
import { uploadCalls } from "./upload-calls.ts";

/** The fields of a batch that are checked here; `LogIngest` checks its lines. */
const batchOwner = z.object({
  stepRunId: z.string().min(1).max(128),
  token: z.bigint().max(BigInt(Number.MAX_SAFE_INTEGER)).nonnegative().transform(Number),
});

const VERDICTS: Readonly<Record<EventVerdict["verdict"], VerdictCode>> = {
  accepted: VerdictCode.EVENT_VERDICT_ACCEPTED,
  duplicate: VerdictCode.EVENT_VERDICT_DUPLICATE,
  stale: VerdictCode.EVENT_VERDICT_STALE,
  invalid: VerdictCode.EVENT_VERDICT_INVALID,
};

export function gatewayService(context: StreamContext): GatewayServer {
  const limits = new LogLimits(context);
  return {
    pushLogs: duplex(context, (call) => pushLogs(context, limits, call)),
    pushEvents: duplex(context, (call) => pushEvents(context, call)),
    ...artifactCalls(context),
    ...uploadCalls(context),
    ...pluginCalls(context),
    ...cacheCalls(context),
    ...testCaseCalls(context),
    ...imageCalls(context),
  };
}

/**
 * Batches of one stream that are stored at once, and bytes of their lines: those of many steps are stored together. A slow
 * store holds the agent back all the same.
 */
const LOG_BATCHES = 64;
const LOG_BYTES = 1 << 20;

/** Ends the stream with `unavailable` when the store cannot be reached. */
async function pushLogs(
  context: AppContext,
  limits: LogLimits,
  call: Duplex<PushLogsRequest, PushLogsResponse>,
): Promise<void> {
  const agent = agentCaller(call.caller);
  const ingest = new LogIngest(context, agent.agentId, limits);
  await whileTrusted(context, agent, () =>
    answerInOrder(call, (request) => answer(context, ingest, request), {
      requests: LOG_BATCHES,
      bytes: LOG_BYTES,
      bytesOf: ({ lines }) => lines.reduce((sum, { content }) => sum + content.length, 0),
    }),
  );
}

/** Takes one batch after the other, so that a slow store holds the agent back. */
function pushEvents(context: AppContext, call: Duplex<PushEventsRequest, PushEventsResponse>): Promise<void> {
  const agent = agentCaller(call.caller);
  const answerTo = async ({ events }: PushEventsRequest): Promise<PushEventsResponse> => {
    const pushed = events.map(readEvent);
    const verdicts = await takeAgentEvents(context, agent.agentId, pushed).catch((error: unknown) => {
      context.log.warn({ agentId: agent.agentId, error: String(error) }, "events could not be stored");
      throw new MillraceError("unavailable", "events cannot be stored now: connect again and send them again");
    });
    return { results: verdicts.map(({ id, verdict, reason }) => ({ id, verdict: VERDICTS[verdict], reason })) };
  };
  return whileTrusted(context, agent, () =>
    answerInOrder(call, answerTo, { requests: 1, bytes: Number.POSITIVE_INFINITY, bytesOf: () => 0 }),
  );
}

/** Serves a stream. Rejects at once when the agent's token is revoked. */
async function whileTrusted(context: AppContext, agent: AgentCaller, serve: () => Promise<void>): Promise<void> {
  let revoke: (reason: MillraceError) => void = () => {};
  const revoked = new Promise<never>((_, reject) => (revoke = reject));
  // This promise is not awaited: log lines and events are accepted also while Redis cannot be reached.
  const listening = listenToRevocation(context, agent.agentId, () => revoke(tokenRevoked()));
  try {
    await Promise.race([revoked, serve()]);
  } finally {
    listening
      .then((unsubscribe) => unsubscribe())
      .catch((error: unknown) => context.log.debug({ error: String(error) }, "a subscription has failed"));
  }
}

async function answer(context: AppContext, ingest: LogIngest, request: PushLogsRequest): Promise<PushLogsResponse> {
  const { stepRunId, token } = request;
  const owner = batchOwner.safeParse(request);
  if (!owner.success) return { stepRunId, token, verdict: "PUSH_LOGS_VERDICT_INVALID", storedThrough: 0n };
  const lines = request.lines.map(readLine);
  try {
    const verdict = await ingest.push({ stepRunId: asId<StepRunId>(stepRunId), token: owner.data.token, lines });
    switch (verdict.verdict) {
      case "stored":
        return {
          stepRunId,
          token,
          verdict: "PUSH_LOGS_VERDICT_STORED",
          storedThrough: BigInt(verdict.storedThrough),
        };
      case "refused":
        return { stepRunId, token, verdict: "PUSH_LOGS_VERDICT_REFUSED", storedThrough: 0n };
      case "invalid":
        return { stepRunId, token, verdict: "PUSH_LOGS_VERDICT_INVALID", storedThrough: 0n };
    }
  } catch (error) {
    context.log.warn({ stepRunId, error: String(error) }, "log lines could not be stored");
    throw new MillraceError("unavailable", "log lines cannot be stored now: connect again and send them again");
  }
}

/** A 64-bit number that a double cannot hold exactly is out of range for `LogIngest`, and so is its rounded value. */
function readLine({ line, timeMs, stream, level, content, lost }: LineMessage): LogBatch["lines"][number] {
  return {
    line: Number(line),
    timeMs: Number(timeMs),
    stream: stream === LogStream.LOG_STREAM_STDERR ? "stderr" : "stdout",
    level,
    content,
    lost: Number(lost),
  };
}

function readEvent({ id, type, subject, timeMs, dataJson, stepRunId, token }: EventMessage): PushedEvent {
  const step = stepRunId === "" ? "" : asId<StepRunId>(stepRunId);
  return { id, type, subject, timeMs: Number(timeMs), dataJson, stepRunId: step, token: Number(token) };
}
