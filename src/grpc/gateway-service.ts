/** gateway.v1: what agents produce in bulk. */
import { z } from "zod";
import {
  type GatewayServer,
  type LogLine as LineMessage,
  LogStream,
  type PushLogsRequest,
  type PushLogsResponse,
} from "../../proto/generated/gateway/v1/gateway.ts";
import { callingAgent } from "../app/agent-registration.ts";
import type { AppContext } from "../app/context.ts";
import { type LogBatch, LogIngest } from "../app/log-ingest.ts";
import { MillraceError } from "../domain/errors.ts";
import { asId, type StepRunId } from "../domain/ids.ts";
import { artifactCalls } from "./artifact-calls.ts";
import { type Duplex, duplex } from "./calls.ts";
import { unimplementedStream } from "./unimplemented.ts";

/** What of a batch is looked at here; its lines are for whoever takes them. */
const batchOwner = z.object({
  stepRunId: z.string().min(1).max(128),
  token: z.bigint().max(BigInt(Number.MAX_SAFE_INTEGER)).nonnegative().transform(Number),
});

export function gatewayService(context: AppContext): GatewayServer {
  return {
    pushLogs: duplex(context, (call) => pushLogs(context, call)),
    ...artifactCalls(context),
    pushEvents: unimplementedStream("PushEvents", context.log),
  };
}

/** One batch after the other: while the store is slow, the agent is held back. Ends the stream when the store is out. */
async function pushLogs(
  context: AppContext,
  { caller, requests, write, hungUp }: Duplex<PushLogsRequest, PushLogsResponse>,
): Promise<void> {
  const ingest = new LogIngest(context, callingAgent(caller));
  for (let next = await requests.next(); next.done !== true; next = await requests.next()) {
    const response = await answer(context, ingest, next.value);
    if (hungUp.aborted) return;
    await write(response);
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

/** A number that a double cannot hold becomes one that is just as much out of range. */
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
