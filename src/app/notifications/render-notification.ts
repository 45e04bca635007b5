/**
 * The texts of a notification: their expressions are evaluated when the notification is owed, except those that read secrets. These are
 * evaluated for each try and kept nowhere. Pure.
 */
import { CONTEXTS } from "../../definition/text/expression-places.ts";
import { fromPointer, isWithin, toPointer } from "../../domain/json-pointer.ts";
import type { NotificationValues, NotificationMessage, PlannedNotification } from "../../domain/plan.ts";
import { MissingOutputs } from "../../domain/outputs.ts";
import { WorkBudget } from "../../domain/work/work-budget.ts";
import { type Json, toPartialScope, toScope, UNKNOWN } from "../../expressions/context-data.ts";
import { foldTemplate } from "../../expressions/fold.ts";
import { asText, evaluateTemplate, OPEN, parseTemplate, type Template } from "../../expressions/template.ts";
import { UNBOUNDED } from "../../planner/deferred-texts.ts";
import { type Facts, factsOf } from "../../planner/gate.ts";
import { mapTexts } from "../../planner/map-texts.ts";

/** What the texts of one notification may cost, in characters. */
export const MAX_NOTIFICATION_WORK = 2_097_152;
const MAX_SUBJECT_CHARS = 300;
const MAX_TEXT_CHARS = 20_000;
const MAX_BODY_CHARS = 100_000;

export interface RenderedNotification {
  /** Without the parts that cannot be evaluated. */
  readonly message: NotificationMessage;
  /** JSON pointers to the texts in `message` whose expressions read secrets. */
  readonly late: readonly string[];
  /** Names of these secrets. */
  readonly secrets: readonly string[];
  /** Why the default stands for a part of the message; empty when it does for none. */
  readonly problem: string;
}

/** `facts` answers what the expressions read as `jobs`. Throws `MissingOutputs`. */
export function renderNotification(
  { channel, message }: Pick<PlannedNotification, "channel" | "message">,
  notification: NotificationValues,
  facts: Facts,
): RenderedNotification {
  const budget = new WorkBudget(MAX_NOTIFICATION_WORK);
  const late: string[] = [];
  const secrets = new Set<string>();
  const problems: string[] = [];
  const known = { notification: notification as unknown as Json };
  const render = (text: string, path: readonly PropertyKey[]): Json => {
    if (!text.includes(OPEN)) return text;
    budget.charge(text.length);
    const template = parseTemplate(text, CONTEXTS, UNBOUNDED);
    const contexts = { ...factsOf(text, template.references, facts), ...known };
    const read = template.references.filter(({ context }) => context === "secrets");
    if (read.length === 0) return valueOf(template, toScope(contexts), path, channel, budget);
    for (const { field } of read) {
      if (field === null) throw new Error("it names no single secret");
      secrets.add(field);
    }
    late.push(toPointer(path));
    return foldTemplate(template, toPartialScope({ ...contexts, secrets: UNKNOWN }), budget);
  };
  const parts: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(message)) {
    try {
      const rendered = mapTexts(part, [key], render);
      parts[key] = late.some((pointer) => isWithin(pointer, toPointer([key]))) ? rendered : bounded(key, rendered);
    } catch (error) {
      if (error instanceof MissingOutputs) throw error;
      problems.push(`\`${key}\` cannot be evaluated: ${wordsOf(error)}`);
    }
  }
  const kept = late.filter((pointer) => String(fromPointer(pointer)[0]) in parts);
  return { message: parts as NotificationMessage, late: kept, secrets: [...secrets], problem: problems.join("; ") };
}

/** The message with the texts that read secrets evaluated. Throws for a text that cannot be evaluated; the error holds no value. */
export function resolveSecrets(
  { message, late }: Pick<RenderedNotification, "message" | "late">,
  channel: PlannedNotification["channel"],
  secrets: Readonly<Record<string, string>>,
): NotificationMessage {
  const budget = new WorkBudget(MAX_NOTIFICATION_WORK);
  const scope = toScope({ secrets });
  const resolve = (text: string, path: readonly PropertyKey[]): Json => {
    if (!late.includes(toPointer(path))) return text;
    try {
      return valueOf(parseTemplate(text, CONTEXTS, UNBOUNDED), scope, path, channel, budget);
    } catch {
      throw new Error(`\`${String(path[0])}\` cannot be evaluated with the secrets that it reads`);
    }
  };
  const parts = Object.entries(message).map(([key, part]) => [key, bounded(key, mapTexts(part, [key], resolve))]);
  return Object.fromEntries(parts) as NotificationMessage;
}

/** An expression that is a whole text keeps its type in a JSON body. The text of Slack is markup, in which values are escaped. */
function valueOf(
  template: Template,
  scope: ReturnType<typeof toScope>,
  path: readonly PropertyKey[],
  channel: PlannedNotification["channel"],
  budget: WorkBudget,
): Json {
  const [key] = path;
  if (key === "body") return evaluateTemplate(template, scope, undefined, budget);
  const escape = channel === "slack" && key === "text" ? escapeMarkup : (text: string) => text;
  return template.parts
    .map((part) => {
      if (typeof part === "string") return part;
      return escape(asText(evaluateTemplate({ ...template, parts: [part] }, scope, undefined, budget)));
    })
    .join("");
}

/** Source: https://docs.slack.dev/messaging/formatting-message-text#escaping */
export function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Values may be long, and a subject is one line. Throws for a body that is too large. */
function bounded(key: string, part: unknown): unknown {
  if (key === "subject") return oneLine(String(part), MAX_SUBJECT_CHARS);
  if (key === "text") return cut(String(part).replaceAll("\0", ""), MAX_TEXT_CHARS);
  if (key === "body" && JSON.stringify(part).length > MAX_BODY_CHARS)
    throw new Error(`it has more than ${MAX_BODY_CHARS} characters`);
  return part;
}

export function oneLine(text: string, chars = MAX_SUBJECT_CHARS): string {
  // oxlint-disable-next-line no-control-regex
  return cut(text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu, " ").trim(), chars);
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
