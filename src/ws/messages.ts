/** The messages of the WebSocket endpoint, in both directions. */
import { z } from "zod";
import { MillraceError } from "../domain/errors.ts";
import type { RunEvent } from "../domain/events.ts";
import { asId, type JobRunId, type PipelineId, type StepRunId } from "../domain/ids.ts";
import { cloudEvent } from "../app/following/cloud-event.ts";
import type { StepRunName } from "../app/step-runs.ts";

export const CHANNELS = ["channel_log", "channel_status"] as const;
export type Channel = (typeof CHANNELS)[number];

export interface ClientMessage {
  readonly channel: Channel;
  readonly action: "subscribe" | "unsubscribe";
  readonly name: StepRunName;
  /** For the log channel: the number of the first line to send, from 1. */
  readonly fromLine: number;
}

/** The part of a request that is repeated in every answer to it. */
export interface Echo {
  readonly channel: string;
  readonly params: Readonly<Record<string, string>>;
}

export interface ServerMessage extends Echo {
  readonly type: string;
  readonly data: unknown;
  readonly error?: string;
}

/** Makes a function that writes messages which differ only in `data`. The shared fields are turned into JSON once. */
export function messageWriter(shared: Echo & Pick<ServerMessage, "type">): (data: unknown) => string {
  const head = JSON.stringify(shared).slice(0, -1);
  return (data) => `${head},"data":${JSON.stringify(data)}}`;
}

const id = z.string().min(1).max(200);
const messageShape = z.strictObject({
  channel: z.enum(CHANNELS, { error: `channel must be one of ${CHANNELS.join(", ")}` }),
  action: z
    .enum(["subscribe", "unsubscribe"], { error: "action must be subscribe or unsubscribe" })
    .default("subscribe"),
  params: z.strictObject({ pipelineId: id, jobId: id, stepRunId: id, fromLine: z.int().min(1).default(1) }),
});
const ID_FIELDS = ["pipelineId", "jobId", "stepRunId"] as const;
const IDS_REQUIRED = "params must have pipelineId, jobId and stepRunId: all three are required";

/**
 * Reads a message of a client; never throws. `echo` holds the fields that could be read, also of a bad message. For a bad
 * message, `message` is the error to answer with: `malformed_request` with every problem.
 */
export function readMessage(text: string): { readonly echo: Echo; readonly message: ClientMessage | MillraceError } {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return { echo: { channel: "", params: {} }, message: malformed("the message is not valid JSON") };
  }
  const echo = echoOf(raw);
  const result = messageShape.safeParse(raw);
  if (!result.success) return { echo, message: malformed(describe(result.error.issues)) };
  const { channel, action, params } = result.data;
  const name: StepRunName = {
    pipelineId: asId<PipelineId>(params.pipelineId),
    jobId: asId<JobRunId>(params.jobId),
    stepRunId: asId<StepRunId>(params.stepRunId),
  };
  return { echo, message: { channel, action, name, fromLine: params.fromLine } };
}

/** The data of a live `status` message; `raw` is the event as `StreamEvents` of stream.v1 carries it. */
export function statusEvent(event: RunEvent, eventNamespace: string) {
  const raw = cloudEvent(event, eventNamespace);
  return {
    pipelineId: event.pipelineId,
    jobId: event.jobId,
    stepRunId: event.stepRunId,
    eventType: raw.type,
    status: event.status,
    subject: raw.subject,
    raw,
  };
}

function echoOf(raw: unknown): Echo {
  if (!isRecord(raw)) return { channel: "", params: {} };
  const given = isRecord(raw["params"]) ? raw["params"] : {};
  const params: Record<string, string> = {};
  for (const field of ID_FIELDS) {
    const value = given[field];
    if (typeof value === "string") params[field] = value;
  }
  return { channel: typeof raw["channel"] === "string" ? raw["channel"] : "", params };
}

function describe(issues: readonly z.core.$ZodIssue[]): string {
  const texts = issues.map((issue) => {
    if (issue.code === "unrecognized_keys") return `unknown field ${issue.keys.join(", ")}`;
    const field = issue.path.at(-1);
    if (field === "fromLine") return "fromLine must be a whole number from 1";
    if (issue.path[0] === "params") return IDS_REQUIRED;
    return issue.path.length === 0 ? "the message must be a JSON object" : issue.message;
  });
  return [...new Set(texts)].join("; ");
}

const malformed = (text: string) => new MillraceError("malformed_request", text);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
