/** The events of a step: JSON objects, one a line, in the file that `MILLRACE_EVENTS` names. The agent sends them when the step has ended. */
import { isUtf8 } from "node:buffer";
import {
  type AgentEvent,
  EventVerdict,
  type PushEventsRequest,
  type PushEventsResponse,
} from "../../proto/generated/gateway/v1/gateway.ts";
import { MAX_PUSHED_EVENTS, PUSHED_EVENT_BOUNDS } from "../domain/events.ts";
import { type Attempt, callWithRetries, type GatewayAccess } from "./connection/gateway-call.ts";
import type { SecretFinder } from "./logs/secret-finder.ts";
import type { StepFile } from "./step-file.ts";
import type { ReportingStep } from "./reports/test-reports.ts";

const FILE_BYTES = 8_388_608;
/** Of a line: the data of an event, and the rest of it. */
const LINE_BYTES = PUSHED_EVENT_BOUNDS.dataBytes + 2_048;
/** The characters of a batch, so that it is below a megabyte in any encoding. */
const BATCH_CHARS = 250_000;
/** Problems that are told one by one. */
const TOLD_PROBLEMS = 10;
const TAKEN: readonly EventVerdict[] = [EventVerdict.EVENT_VERDICT_ACCEPTED, EventVerdict.EVENT_VERDICT_DUPLICATE];
const KEYS: readonly string[] = ["type", "subject", "data"];

/** An event of the file. */
interface WrittenEvent {
  readonly line: number;
  /** The last word of the type. */
  readonly type: string;
  readonly subject: string;
  /** A JSON object. */
  readonly dataJson: string;
}

interface ReadEvents {
  readonly events: readonly WrittenEvent[];
  /** What is left out and why, by line, without text of the step; 0 for the file as a whole. */
  readonly problems: readonly EventProblem[];
}

interface EventProblem {
  readonly line: number;
  readonly text: string;
}

/** Call when no process of the step is left. Secrets are masked in all texts of the events. */
export function readEvents(file: StepFile, secrets: SecretFinder): ReadEvents {
  const { bytes, size, problem } = file.read(FILE_BYTES);
  if (problem !== undefined) return { events: [], problems: [{ line: 0, text: problem }] };
  const isCut = size > FILE_BYTES;
  const events: WrittenEvent[] = [];
  const problems: EventProblem[] = [];
  let leftOut = 0;
  for (let line = 1, start = 0; start < bytes.length; line++) {
    const feed = bytes.indexOf("\n", start);
    // The last line of a file that is cut is not whole.
    if (feed === -1 && isCut) break;
    const end = feed === -1 ? bytes.length : feed;
    const found = parseEvent(bytes.subarray(start, end), secrets);
    start = end + 1;
    if (found === undefined) continue;
    if (typeof found === "string") problems.push({ line, text: found });
    else if (events.length < MAX_PUSHED_EVENTS) events.push({ line, ...found });
    else leftOut++;
  }
  if (leftOut > 0) problems.push({ line: 0, text: `only its first ${MAX_PUSHED_EVENTS} events are sent` });
  if (isCut) problems.push({ line: 0, text: `it is read up to ${FILE_BYTES} bytes` });
  return { events, problems };
}

/** Undefined for a blank line; a text says why there is no event in the line. */
function parseEvent(bytes: Buffer, secrets: SecretFinder): Omit<WrittenEvent, "line"> | string | undefined {
  if (bytes.length > LINE_BYTES) return `it has more than ${LINE_BYTES} bytes`;
  if (!isUtf8(bytes)) return "it is not UTF-8";
  const text = bytes.toString("utf8").trim();
  if (text === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  if (!isObject(value)) return "it must be a JSON object with type, subject and data";
  if (Object.keys(value).some((key) => !KEYS.includes(key))) {
    return "it has a key besides type, subject and data";
  }
  const { type, subject = "", data = {} } = value as Readonly<Record<string, unknown>>;
  if (typeof type !== "string") return "its type must be a string, such as progress";
  if (typeof subject !== "string") return "its subject must be a string";
  if (!isObject(data)) return "its data must be a JSON object";
  const masked = maskTexts(data, secrets, 1);
  if (masked === undefined) return `its data has more than ${PUSHED_EVENT_BOUNDS.dataLevels} levels`;
  const dataJson = JSON.stringify(masked);
  // A secret may also be a number, or be split over several values.
  if (secrets.isIn(dataJson) || secrets.isIn(type)) return "it holds a secret where it cannot be masked";
  return { type, subject: secrets.mask(subject), dataJson };
}

/** The value with the secrets in its strings and keys masked; undefined when it has too many levels. */
function maskTexts(value: unknown, secrets: SecretFinder, level: number): unknown {
  if (typeof value === "string") return secrets.mask(value);
  if (typeof value !== "object" || value === null) return value;
  if (level > PUSHED_EVENT_BOUNDS.dataLevels) return undefined;
  let isDeep = false;
  const maskPart = (part: unknown): unknown => {
    const masked = maskTexts(part, secrets, level + 1);
    isDeep ||= masked === undefined;
    return masked;
  };
  const masked = Array.isArray(value)
    ? value.map(maskPart)
    : Object.fromEntries(Object.entries(value).map(([key, part]) => [secrets.mask(key), maskPart(part)]));
  return isDeep ? undefined : masked;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface EventOptions {
  readonly gateway: GatewayAccess;
  readonly secrets: SecretFinder;
  readonly signal: AbortSignal;
}

/** Reads and sends the events. Answers what went wrong as lines for the log. Never rejects. */
export async function keepEvents(
  step: ReportingStep,
  file: StepFile,
  { gateway, secrets, signal }: EventOptions,
): Promise<readonly string[]> {
  const { events, problems } = readEvents(file, secrets);
  const found = [...problems];
  try {
    if (events.length > 0) await sendEvents(step, events, { gateway, signal }, (problem) => found.push(problem));
  } catch (error) {
    const why = signal.aborted ? "there was no time left" : (error as Error).message;
    found.push({ line: 0, text: `not all of its events could be sent: ${why}` });
  }
  return problemLines(found);
}

/** Calls `refused` for each event that the control plane refuses. Rejects when nothing gets through. */
async function sendEvents(
  { stepRunId, token }: ReportingStep,
  events: readonly WrittenEvent[],
  { gateway, signal }: Pick<EventOptions, "gateway" | "signal">,
  refused: (problem: EventProblem) => void,
): Promise<void> {
  const timeMs = BigInt(Date.now());
  const batches = batchesOf(events);
  let next = 0;
  const sendRest = async (attempt: Attempt<PushEventsRequest, PushEventsResponse>): Promise<void> => {
    for (; next < batches.length; next++) {
      const batch = batches[next]!;
      attempt.write({
        events: batch.map(({ line, type, subject, dataJson }): AgentEvent => ({
          // A repeat after a broken call has the same id, and is a duplicate.
          id: `${stepRunId}/${token}/${line}`,
          type: `${gateway.eventNamespace()}.step.${type}`,
          subject,
          timeMs,
          dataJson,
          stepRunId,
          token,
        })),
      });
      const { results } = await attempt.next();
      for (const [at, { verdict, reason }] of results.entries()) {
        if (!TAKEN.includes(verdict)) refused({ line: batch[at]?.line ?? 0, text: reason });
      }
      attempt.onProgress();
    }
  };
  await callWithRetries(gateway, (client, metadata) => client.pushEvents(metadata), sendRest, signal);
}

function batchesOf(events: readonly WrittenEvent[]): readonly (readonly WrittenEvent[])[] {
  const batches: WrittenEvent[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const event of events) {
    const size = event.type.length + event.subject.length + event.dataJson.length;
    if (chars + size > BATCH_CHARS || batches.at(-1)!.length === PUSHED_EVENT_BOUNDS.batchEvents) {
      batches.push([]);
      chars = 0;
    }
    batches.at(-1)!.push(event);
    chars += size;
  }
  return batches;
}

/** The problems as lines of the log, which are annotations. Many of them end in one line that counts the rest. */
function problemLines(problems: readonly EventProblem[]): readonly string[] {
  const told = problems.slice(0, TOLD_PROBLEMS).map(({ line, text }) => {
    return line === 0 ? `MILLRACE_EVENTS: ${text}` : `line ${line} of MILLRACE_EVENTS is not sent: ${text}`;
  });
  const rest = problems.length - told.length;
  if (rest > 0) told.push(`${rest} more lines of MILLRACE_EVENTS are not sent`);
  return told.map((text) => `::warning title=MILLRACE_EVENTS::${text.replaceAll("%", "%25")}`);
}
