/** The messages of the WebSocket endpoint, in both directions. */
import { z } from "zod";
import { MillraceError } from "../domain/errors.ts";
import { asId, type JobRunId, type PipelineId, type StepRunId } from "../domain/ids.ts";
import { LIVE_CHANNELS } from "../app/following/channels.ts";
import type { LiveChannel, LiveMessage } from "../app/following/live-channel.ts";
import type { StepRunName } from "../app/step-runs.ts";

/** The channels of a step run, which its three ids name. */
const STEP_CHANNELS = ["channel_log", "channel_status"] as const;
const LIVE: ReadonlyMap<string, LiveChannel> = new Map(LIVE_CHANNELS.map((one) => [`channel_${one.name}`, one]));
export const CHANNELS: readonly string[] = [...STEP_CHANNELS, ...LIVE.keys()];

export type ClientMessage = StepMessage | LiveRequestMessage;

interface AnyMessage {
  readonly action: "subscribe" | "unsubscribe";
  /** A connection has at most one subscription with this key. */
  readonly key: string;
}

export interface StepMessage extends AnyMessage {
  readonly channel: (typeof STEP_CHANNELS)[number];
  readonly name: StepRunName;
  /** For the log channel: the number of the first line to send, from 1. */
  readonly fromLine: number;
}

export interface LiveRequestMessage extends AnyMessage {
  readonly channel: LiveChannel;
  readonly params: Record<string, unknown>;
}

/** The part of a request that is repeated in every answer to it. */
export interface Echo {
  readonly channel: string;
  readonly params: Readonly<Record<string, string | number>>;
}

export interface ServerMessage extends Echo {
  readonly type: string;
  readonly data: unknown;
  readonly error?: string;
}

const id = z.string().min(1).max(200);
const action = z
  .enum(["subscribe", "unsubscribe"], { error: "action must be subscribe or unsubscribe" })
  .default("subscribe");
const messageShape = z.strictObject({
  channel: z.enum(STEP_CHANNELS, { error: `channel must be one of ${CHANNELS.join(", ")}` }),
  action,
  params: z.strictObject({ pipelineId: id, jobId: id, stepRunId: id, fromLine: z.int().min(1).default(1) }),
});
/** Of a parameter that messages repeat. */
const MAX_ECHO_CHARS = 200;
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
  const live = isRecord(raw) ? LIVE.get(String(raw["channel"])) : undefined;
  if (live !== undefined) return readLiveMessage(live, raw as Record<string, unknown>);
  const echo = echoOf(raw);
  const result = messageShape.safeParse(raw);
  if (!result.success) return { echo, message: malformed(describe(result.error.issues)) };
  const { channel, action, params } = result.data;
  const name: StepRunName = {
    pipelineId: asId<PipelineId>(params.pipelineId),
    jobId: asId<JobRunId>(params.jobId),
    stepRunId: asId<StepRunId>(params.stepRunId),
  };
  const key = `${channel}/${name.stepRunId}`;
  return { echo, message: { channel, action, key, name, fromLine: params.fromLine } };
}

function readLiveMessage(channel: LiveChannel, raw: Record<string, unknown>): ReturnType<typeof readMessage> {
  const names = Object.keys(channel.params.shape);
  const given = isRecord(raw["params"]) ? raw["params"] : {};
  const params = Object.fromEntries(names.flatMap((name) => echoed(name, given[name])));
  const echo: Echo = { channel: `channel_${channel.name}`, params };
  const shape = z.strictObject({ channel: z.string(), action, params: channel.params });
  const result = shape.safeParse(raw);
  if (!result.success) {
    const texts = result.error.issues.map(({ path, message }) => [...path, message].join(" "));
    return { echo, message: malformed([...new Set(texts)].join("; ")) };
  }
  // A subscription that goes on somewhere replaces the one that it goes on with.
  const { after: _, ...rest } = params;
  const key = `${echo.channel}/${JSON.stringify(rest)}`;
  return { echo, message: { channel, action: result.data.action, key, params: result.data.params } };
}

/** Every message repeats the parameters, so that long ones would multiply. */
function echoed(name: string, value: unknown): readonly (readonly [string, string | number])[] {
  const isShort = typeof value === "number" || (typeof value === "string" && value.length <= MAX_ECHO_CHARS);
  return isShort ? [[name, value]] : [];
}

/** Makes the text of a message of a live channel, whose data is JSON already. */
export function liveText({ channel, params }: Echo, { type, after, json }: LiveMessage): string {
  const head = JSON.stringify(after === null ? { channel, params, type } : { channel, params, type, after });
  return `${head.slice(0, -1)},"data":${json}}`;
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
