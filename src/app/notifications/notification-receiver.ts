/** The receiver of notifications: sends each by its channel. Secrets are read for each try, and kept nowhere. */
import type { NotificationChannel, NotificationMessage } from "../../domain/plan.ts";
import type { Outgoing } from "../../outgoing/outgoing.ts";
import { NoAnswerError, type OutgoingRequest, type ReceivedAnswer, shownAddress } from "../../outgoing/requests.ts";
import { UnreadableSecretError } from "../../secrets/sealing.ts";
import type { Delivery } from "../../stores/ports/deliveries.ts";
import type { Receiver } from "../webhooks/receivers.ts";
import {
  type Attempt,
  pathsOf,
  placeOf,
  secretsOfAddress,
  tryToSend,
  UndeliverableError,
} from "../webhooks/sending.ts";
import { CLOUD_EVENT, isGone, USER_AGENT } from "../webhooks/webhook-receiver.ts";
import { signedHeaders } from "../webhooks/webhook-rules.ts";
import { isStillWanted } from "./chosen.ts";
import type { NotificationContext } from "./context.ts";
import { type NotificationRecord, recordOf, type ToldUser } from "./notification-record.ts";
import { escapeMarkup, oneLine, resolveSecrets } from "./render-notification.ts";
import { verdictOn } from "./standing-waits.ts";

const JSON_TYPE = "application/json; charset=utf-8";
/** What stands for an address, or a part of one, that a secret holds. */
const HIDDEN = "***";
const CHOSEN = "You have chosen to be told of this: `millrace notifications` shows and changes what you chose.";

export function notificationReceiver(context: NotificationContext, outgoing: Outgoing): Receiver {
  return {
    channelOf: (delivery) => `notify-${recordOf(delivery).channel}`,
    ordered: false,
    serial: false,
    refusal: null,
    async readiness(delivery) {
      const record = recordOf(delivery);
      const { wait, user } = record;
      if (user !== undefined && !(await isStillWanted(context, user, record, delivery.projectId))) return "over";
      // What was tried once is tried to the end, although the wait may be over.
      return wait === null || delivery.attempts > 0 ? "lasts" : verdictOn(context, delivery.runId, wait);
    },
    send(delivery, signal) {
      const record = recordOf(delivery);
      return tryToSend(context, delivery, shownTarget(record), async (at) => {
        const { message, secrets } = await openMessage(context, delivery, record);
        return attemptOf(record, message, secrets, { delivery, at, signal, outgoing });
      });
    },
    noted: () => Promise.resolve(),
  };
}

interface Opened {
  readonly message: NotificationMessage;
  /** Values of the secrets that the message reads, by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

async function openMessage(
  context: NotificationContext,
  { projectId }: Delivery,
  record: NotificationRecord,
): Promise<Opened> {
  const { pipelineId, channel, message, user } = record;
  if (user !== undefined) return { message: { ...message, to: [await addressOf(context, user)] }, secrets: {} };
  const names = [...record.secrets, ...(message.secret === undefined ? [] : [message.secret])];
  if (names.length === 0) return { message, secrets: {} };
  const secrets = Object.fromEntries(await readSecrets(context, { projectId, pipelineId }, names));
  const missing = names.filter((name) => !Object.hasOwn(secrets, name));
  // It may be set before the next try.
  if (missing.length > 0)
    throw new NoAnswerError(`the secret ${missing.join(", ")} is not set for this pipeline or its project`);
  return { message: resolveSecrets(record, channel, secrets), secrets };
}

async function addressOf({ stores }: NotificationContext, { userId }: ToldUser): Promise<string> {
  const email = (await stores.identity.findUser(userId))?.email;
  if (email !== undefined) return email;
  throw new UndeliverableError("the user has no e-mail address: an administrator can set one");
}

async function readSecrets(
  { secrets }: NotificationContext,
  of: Parameters<NotificationContext["secrets"]["read"]>[0],
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  try {
    return await secrets.read(of, names);
  } catch (error) {
    throw error instanceof UnreadableSecretError ? new NoAnswerError(error.message) : error;
  }
}

interface Try {
  readonly delivery: Delivery;
  readonly at: number;
  readonly signal: AbortSignal;
  readonly outgoing: Outgoing;
}

function attemptOf(
  record: NotificationRecord,
  message: NotificationMessage,
  secrets: Opened["secrets"],
  { delivery, at, signal, outgoing }: Try,
): Attempt {
  const { deliveryId } = delivery;
  const hidden = Object.values(secrets);
  const isPlaceSecret = hasSecretPlace(record);
  if (record.channel === "email") {
    const { mail } = outgoing;
    if (mail === null)
      throw new UndeliverableError("this installation sends no e-mail: its operator can set MILLRACE_SMTP_URL");
    const to = message.to?.[0];
    if (to === undefined) throw new UndeliverableError(record.problem);
    const subject = oneLine(message.subject ?? record.subject);
    const written = withProblem(message.text ?? record.text, record.problem);
    const text = record.user === undefined ? written : `${written}\n\n${CHOSEN}`;
    return {
      headers: {},
      secrets: hidden,
      address: shownTarget(record),
      ...(isPlaceSecret && { secretPlace: [to, ...to.split("@").slice(1), mail.host] }),
      send: () => mail.send({ to, subject, text, id: deliveryId }, signal),
      isGone: (status) => status >= 500,
    };
  }
  const { url } = message;
  if (url === undefined) throw new UndeliverableError(record.problem);
  const { headers, body } = requestOf(record, message, secrets, deliveryId, at);
  const request: OutgoingRequest = { url, headers, body };
  return {
    headers,
    // The path of an address of Slack is a secret also where the definition shows it.
    secrets: [
      ...hidden,
      ...secretsOfAddress(url),
      ...(isPlaceSecret || record.channel === "slack" ? pathsOf(url) : []),
    ],
    address: shownTarget(record),
    ...(isPlaceSecret && { secretPlace: placeOf(url) }),
    send: (): Promise<ReceivedAnswer> => outgoing.request(request, signal),
    isGone,
  };
}

function requestOf(
  { channel, event, problem, text }: NotificationRecord,
  message: NotificationMessage,
  secrets: Opened["secrets"],
  deliveryId: string,
  at: number,
): Pick<OutgoingRequest, "headers" | "body"> {
  const agent = { "user-agent": USER_AGENT };
  if (channel === "slack") {
    const written = message.text ?? escapeMarkup(text);
    const said = { text: withProblem(written, escapeMarkup(problem)) };
    const body = JSON.stringify(message.channel === undefined ? said : { ...said, channel: message.channel });
    return { headers: { "content-type": JSON_TYPE, ...agent }, body };
  }
  const isOwn = message.body !== undefined;
  const body = JSON.stringify(message.body ?? (problem === "" ? event : { ...event, problem }));
  const keys = message.secret === undefined ? [] : [secrets[message.secret]!];
  const signed = signedHeaders(keys, deliveryId, Math.floor(at / 1_000), body);
  return { headers: { "content-type": isOwn ? JSON_TYPE : CLOUD_EVENT, ...agent, ...signed }, body };
}

function withProblem(text: string, problem: string): string {
  return problem === "" ? text : `${text}\n\n(The notification of the pipeline has a problem: ${problem})`;
}

type Target = Pick<NotificationRecord, "channel" | "message" | "late" | "user">;

/** The address for people who may read the run; the name of a user, whose address is for the user alone. */
export function shownTarget(record: Target): string {
  const { channel, message, user } = record;
  if (user !== undefined) return user.name;
  const kinds: Readonly<Record<NotificationChannel, string | undefined>> = {
    webhook: message.url,
    slack: message.url,
    email: message.to?.[0],
  };
  const target = kinds[channel];
  if (target === undefined) return "";
  if (hasSecretPlace(record)) return HIDDEN;
  if (channel === "email") return target;
  // The path of such an address is its secret.
  return channel === "slack" ? `${new URL(shownAddress(target) || "http://x").origin}/...` : shownAddress(target);
}

/** Whether where it goes is hidden: it is the address of a user, or secrets are a part of it. */
function hasSecretPlace({ late, user }: Pick<NotificationRecord, "late" | "user">): boolean {
  if (user !== undefined) return true;
  return late.some((pointer) => pointer === "/url" || pointer.startsWith("/to/"));
}
