/**
 * Takes deliveries: proves the sender, and stores what it has sent. The id of a delivery is claimed only when the sender is
 * proved, so that no other caller can use it up.
 */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type DeliveryId, type HookId, newId, type RunId } from "../../domain/ids.ts";
import { HOOKS_CHANNEL } from "../../feed/feed.ts";
import { type Hook, RECEIVED_STATES, type ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import { projectFactsOf } from "../project-facts.ts";
import { id, listOf, shape } from "../shapes.ts";
import type { HookContext } from "./context.ts";
import { eventWordOf, idHeaderOf, keptHeaders, proofProblem, senderIdOf } from "./senders.ts";

/** GitHub sends no more. */
export const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** A larger body is a blob. */
const INLINE_BYTES = 256 * 1024;
/** A body that never arrives as a whole is removed after this time. */
const ARRIVING_MS = 3_600_000;

export const ReceivedShape = shape("ReceivedHookDelivery", () => ({
  deliveryId: id<DeliveryId>(),
  state: z.enum(RECEIVED_STATES),
  /** True when the same delivery was taken before. */
  duplicate: z.boolean(),
  /** The runs that it has started so far. */
  runs: listOf(id<RunId>()),
}));
type ReceivedView = z.infer<typeof ReceivedShape>;

/** The hook that a sender calls. Throws `not_found`, and `conflict` for one that takes nothing. */
export async function hookToCall(context: HookContext, hookId: HookId): Promise<Hook> {
  const hook = await context.stores.hooks.find(hookId);
  if (hook === undefined) throw new MillraceError("not_found", "there is no such hook");
  if (!hook.enabled) throw new MillraceError("conflict", "the hook is disabled: enable it to take deliveries");
  const { archived } = await projectFactsOf(context, hook.projectId);
  if (archived) throw new MillraceError("conflict", "the project of the hook is archived: it starts no runs");
  return hook;
}

/**
 * Stores a delivery and answers; its runs are made afterwards. Throws `unauthenticated` when the sender is not proved,
 * `malformed_request` without an id of the delivery, `conflict` for another body under the same id, `unavailable` when the
 * secret is not set or the store cannot be written.
 */
export async function receiveDelivery(
  context: HookContext,
  hook: Hook,
  { headers, body }: { readonly headers: IncomingHttpHeaders; readonly body: Buffer },
): Promise<ReceivedView> {
  const { newId: idOf = newId } = context;
  const now = context.clock.now();
  const problem = proofProblem(hook, await secretOf(context, hook), headers, body, now);
  if (problem !== undefined) throw new MillraceError("unauthenticated", problem);
  const senderId = senderIdOf(hook, headers) ?? (hook.kind === "generic" ? idOf("hdl") : undefined);
  if (senderId === undefined) {
    const header = idHeaderOf(hook);
    const text = `the header ${header} must name the delivery, with at most 200 characters: is the sender of the kind ${hook.kind}?`;
    throw new MillraceError("malformed_request", text);
  }
  const text = body.length <= INLINE_BYTES ? inlineText(body) : undefined;
  const given: ReceivedDelivery = {
    deliveryId: idOf("hdl"),
    hookId: hook.hookId,
    projectId: hook.projectId,
    senderId,
    event: eventWordOf(hook, headers),
    headers: keptHeaders(headers),
    bytes: body.length,
    sha256: hash("sha256", body, "hex"),
    state: text === undefined ? "arriving" : "owed",
    receivedAt: now,
    dueAt: text === undefined ? now + ARRIVING_MS : now,
    failures: 0,
    error: "",
    events: [],
    verdicts: null,
    earlier: [],
    version: 1,
  };
  const taken = await context.stores.hooks.take(given, text ?? null);
  const delivery = taken.state === "arriving" ? await storeBody(context, taken, given, body) : taken;
  if (delivery.state === "owed") announce(context, hook.hookId);
  const duplicate = taken.deliveryId !== given.deliveryId;
  if (duplicate) context.log.debug({ hookId: hook.hookId, senderId }, "a delivery came again");
  return { deliveryId: delivery.deliveryId, state: delivery.state, duplicate, runs: runsOf(delivery) };
}

/** The runs that a delivery has started. */
export function runsOf({ verdicts, earlier }: Pick<ReceivedDelivery, "verdicts" | "earlier">): readonly RunId[] {
  return (verdicts ?? earlier).flatMap(({ outcome, made, runId }) =>
    outcome === "matched" && made && runId !== null ? [runId] : [],
  );
}

/** Stores a large body, and only then owes the delivery. A sender that was cut off sends it again, under the same id. */
async function storeBody(
  { stores }: HookContext,
  taken: ReceivedDelivery,
  { sha256, receivedAt }: ReceivedDelivery,
  body: Buffer,
): Promise<ReceivedDelivery> {
  if (taken.sha256 !== sha256) {
    throw new MillraceError("conflict", "another body is arriving under the same id of the delivery");
  }
  const { deliveryId } = taken;
  for (let offset = 0; offset < body.length; offset += PIECE_BYTES) {
    await stores.blobs.put(deliveryId, offset, body.subarray(offset, offset + PIECE_BYTES));
  }
  await stores.blobs.complete(deliveryId, body.length);
  const owed: ReceivedDelivery = { ...taken, state: "owed", dueAt: receivedAt, version: taken.version + 1 };
  if (await stores.hooks.saveDelivery(owed)) return owed;
  return (await stores.hooks.findDelivery(deliveryId)) ?? owed;
}

/** The body as a text that gives the same bytes; undefined when it is none. */
function inlineText(body: Buffer): string | undefined {
  const text = body.toString();
  return text.includes("\0") || !Buffer.from(text).equals(body) ? undefined : text;
}

async function secretOf({ secrets }: HookContext, { projectId, proof, secret }: Hook): Promise<string> {
  if (proof === "none" || secret === null) return "";
  const value = await secrets.readOne({ projectId, pipelineId: null, name: secret });
  if (value !== undefined) return value;
  throw new MillraceError("unavailable", `the secret ${secret} of the hook is not set: create it in the project`);
}

/** A hint: a worker that does not hear it looks at the store within 10 s. */
function announce({ feed, log }: HookContext, hookId: HookId): void {
  feed.publish(HOOKS_CHANNEL, { hookId }).catch((error: unknown) => {
    log.debug({ hookId, error: String(error) }, "a delivery was not announced");
  });
}
