/**
 * Dead letters, which operators list and redrive. There are two kinds: messages that their actor could not decide,
 * which are in the store, and envelopes that no owner could read, which are in their mailbox.
 */
import { z } from "zod";
import type { FailedEnvelope } from "../../../queues/mailbox-inspection.ts";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { within } from "../../domain/work/within.ts";
import type { KeptDeadLetter } from "../../stores/ports/dead-letters.ts";
import { authoriseUser, type Caller, type UserCaller } from "../identity/access.ts";
import type { WithStores } from "../context.ts";
import { type ClusterContext, countFailed } from "./cluster.ts";
import { cursorOf, placedListFields, type PlacedListView, sortField } from "../lists.ts";
import { fields, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

type DeadLetterContext = Pick<ClusterContext, "clock" | "log" | "mailboxes" | "inspection"> & WithStores<"deadLetters">;

export const listDeadLettersQuery = z.strictObject({ ...placedListFields, sort: sortField(["at"], "at") });

const ENVELOPE_ID = /^mb(\d{1,9})-(.+)$/;
const REDRIVE_WITHIN_MS = 5_000;

export const DeadLetterShape = shape("DeadLetter", () => ({
  /**
   * Of a message: the same id for the same message to the same actor. Of an envelope: `mb<shard>-<id of its BullMQ
   * job>`.
   */
  id: z.string(),
  kind: z.enum(["message", "envelope"]),
  shard: wholeNumber,
  /** Null for an envelope, which may hold messages for several runs. */
  runId: z.string().nullable(),
  /** Of a message: `{ to, message }`. Of an envelope: its content in the mailbox. */
  letter: z.unknown(),
  reason: z.string(),
  at: time,
}));
export const RedrivenShape = fields(() => ({ id: z.string() }));

export type DeadLetterView = z.infer<typeof DeadLetterShape>;

/** The place of an envelope is its number: a mailbox lists them by their places only. */
const ENVELOPES = "envelopes";

/** For administrators. Envelopes come before messages; `sort` orders each of the two kinds. */
export async function listDeadLetters(
  context: DeadLetterContext,
  caller: Caller,
  query: z.output<typeof listDeadLettersQuery>,
): Promise<PlacedListView<DeadLetterView>> {
  authoriseUser(caller, "readCluster");
  const { page, pageSize, sort, after } = query;
  const { inspection, stores } = context;
  const [mailboxes, messages] = await Promise.all([inspection.states(), stores.deadLetters.count()]);
  const envelopes = countFailed(mailboxes);
  const descending = sort === "-at";
  const behind = typeof after?.at === "number" ? { at: after.at, id: after.id } : undefined;
  const first = after?.at === ENVELOPES ? Number(after.id) : behind ? envelopes : (page - 1) * pageSize;
  const fromEnvelopes = Math.min(Math.max(0, envelopes - first), pageSize);
  const fromMessages = pageSize - fromEnvelopes;
  const [failed, kept] = await Promise.all([
    fromEnvelopes === 0 ? [] : inspection.failed(first, fromEnvelopes, descending),
    fromMessages === 0
      ? []
      : stores.deadLetters.list({
          offset: Math.max(0, first - envelopes),
          limit: fromMessages,
          descending,
          after: behind,
        }),
  ]);
  const list = [...failed.map(envelopeView), ...kept.map(messageView)];
  const lastMessage = kept.at(-1);
  const last = lastMessage ?? { at: ENVELOPES, id: String(first + failed.length) };
  const next = list.length === pageSize ? cursorOf({ at: last.at, id: last.id }) : null;
  return { list, total: envelopes + messages, totalIsExact: true, page, pageSize, next };
}

/**
 * For administrators. Sends a dead letter to its mailbox again, and removes it from the list afterwards. After a crash
 * in between it is in the mailbox and in the list; redriving it again is safe, because messages are idempotent. A
 * message that fails again is listed again under the same id. Throws `not_found`, and `unavailable` when the mailbox
 * cannot be reached within 5 s.
 */
export async function redriveDeadLetter(
  context: DeadLetterContext,
  caller: Caller,
  { id }: { readonly id: string },
): Promise<z.infer<typeof RedrivenShape>> {
  const user = authoriseUser(caller, "redriveDeadLetters");
  // Opening a mailbox for the first time waits for Redis without a limit, so the limit is here.
  const found = await within(REDRIVE_WITHIN_MS, "the mailbox of the dead letter", redrive(context, user, id));
  if (!found) throw new MillraceError("not_found", `there is no dead letter ${JSON.stringify(id)}`);
  return { id };
}

async function redrive(context: DeadLetterContext, user: UserCaller, id: string): Promise<boolean> {
  const [, shard, jobId] = ENVELOPE_ID.exec(id) ?? [];
  const found =
    shard === undefined
      ? await redriveMessage(context, user, id)
      : await recorded(user, { kind: "deadLetter", id }, () => context.inspection.retry(Number(shard), jobId!));
  if (found) context.log.info({ id, by: user.name, userId: user.userId }, "a dead letter was redriven");
  return found;
}

async function redriveMessage(
  { stores, mailboxes, clock }: DeadLetterContext,
  user: UserCaller,
  id: string,
): Promise<boolean> {
  const kept = await stores.deadLetters.find(id);
  if (kept === undefined) return false;
  // As a timer that is due: `send` may keep a message only in the memory of this process, and this one is not repeated.
  await mailboxes.sendAt({ rootId: kept.rootId, ...kept.letter }, clock.now(), `redrive.${id}.${kept.times}`);
  const change = { kind: "deadLetter", id, before: { runId: kept.rootId } } as const;
  await recorded(user, change, () => stores.deadLetters.remove(id, kept.times));
  return true;
}

function messageView({ id, shard, rootId, letter, reason, at }: KeptDeadLetter): DeadLetterView {
  return { id, kind: "message", shard, runId: rootId, letter, reason, at: rfc3339(at) };
}

function envelopeView({ shard, jobId, envelope, reason, at }: FailedEnvelope): DeadLetterView {
  const id = `mb${shard}-${jobId}`;
  return { id, kind: "envelope", shard, runId: null, letter: envelope, reason, at: rfc3339(at) };
}
