/** Calls with a `requestId` are idempotent: a repeat finds what the first call created. */
import { createHash, createHmac } from "node:crypto";
import { MillraceError } from "../domain/errors.ts";
import type { IdempotencyKey } from "../stores/ports/idempotency.ts";
import type { UserCaller } from "./identity/access.ts";
import type { AppContext, WithStores } from "./context.ts";

export interface IdentifiedRequest<Id extends string> {
  readonly caller: UserCaller;
  /** The operation and the object it is called on, for example `trigger/pl_01...`. */
  readonly scope: string;
  /** Absent or empty: the call is no repeat of another call. */
  readonly requestId: string | undefined;
  /** JSON; the order of keys does not matter. */
  readonly body: unknown;
  readonly freshId: () => Id;
}

/**
 * The id of what the call creates. `repeated` is true when an earlier call of the same caller had the same `requestId`
 * and body: then the id is that of the earlier call, whose creation may be unfinished; else the id is fresh. Throws
 * `request_id_reused` when the earlier call had another body.
 */
export async function claimRequest<Id extends string>(
  context: Pick<AppContext, "clock"> & WithStores<"idempotency">,
  request: IdentifiedRequest<Id>,
): Promise<{ readonly id: Id; readonly repeated: boolean; readonly key?: string }> {
  const id = request.freshId();
  const identity = identityOf(request);
  if (identity === undefined) return { id, repeated: false };
  const { key } = identity;
  const stored = await context.stores.idempotency.claim({ ...identity, createdId: id, at: context.clock.now() });
  requireSameBody(request, identity, stored);
  return { id: stored.createdId as Id, repeated: stored.createdId !== id, key };
}

/**
 * What {@link claimRequest} would answer as `id` to a repeat; undefined for a first call, for which nothing is claimed. Throws
 * `request_id_reused`.
 */
export async function peekRequest<Id extends string>(
  { stores }: WithStores<"idempotency">,
  request: Omit<IdentifiedRequest<Id>, "freshId">,
): Promise<Id | undefined> {
  const identity = identityOf(request);
  const stored = identity && (await stores.idempotency.find(identity.key));
  if (identity === undefined || stored === undefined) return undefined;
  requireSameBody(request, identity, stored);
  return stored.createdId as Id;
}

type Identity = Pick<IdempotencyKey, "key" | "bodyHash">;

/** Undefined for a call that is no repeat of another call. */
function identityOf({
  caller,
  scope,
  requestId,
  body,
}: Omit<IdentifiedRequest<string>, "freshId">): Identity | undefined {
  if (requestId === undefined || requestId === "") return undefined;
  return { key: sha256(canonicalJson([scope, caller.userId, requestId])), bodyHash: sha256(canonicalJson(body)) };
}

function requireSameBody(
  { requestId }: Pick<IdentifiedRequest<string>, "requestId">,
  { bodyHash }: Identity,
  stored: Identity,
): void {
  if (stored.bodyHash === bodyHash) return;
  throw new MillraceError(
    "request_id_reused",
    `requestId ${JSON.stringify(requestId)} was used with another body: choose a new one for a new request`,
  );
}

/** Of a call that creates: absent for a call that is no repeat of another call. */
export interface WithRequestId {
  readonly requestId?: string | undefined;
}

interface CreatedOnce<Id extends string, T> extends IdentifiedRequest<Id> {
  /** What an earlier call created; undefined when there is no such object. */
  readonly find: (id: Id) => Promise<T | undefined>;
  readonly create: (id: Id) => Promise<T>;
}

interface ShownOnce<Id extends string, T> extends IdentifiedRequest<Id> {
  /** Whether what an earlier call created is there. */
  readonly exists: (id: Id) => Promise<boolean>;
  readonly create: (id: Id) => Promise<T>;
  /** For example `/tokenId`. */
  readonly pointer: string;
  /** What a caller who has lost the answer can do: a clause in the imperative. */
  readonly remedy: string;
}

/**
 * Creates an object once: a repeat is answered the object as it is now. Throws what `create` throws, `request_id_reused`,
 * and `conflict` for a repeat when the object is gone, or was never created because the first call was refused or cut off:
 * the store cannot tell these apart, and an object that was deleted must not come back. A call that is refused because the
 * name is taken leaves its key unused.
 */
export async function createOnce<Id extends string, T>(
  context: Parameters<typeof claimRequest>[0],
  { find, create, ...request }: CreatedOnce<Id, T>,
): Promise<T> {
  const { id, repeated, key } = await claimRequest(context, request);
  if (!repeated) {
    try {
      return await create(id);
    } catch (error) {
      // Nothing was created, so that a repeat is refused as this call is.
      const isTaken = error instanceof MillraceError && error.reason === "already_exists";
      if (isTaken && key !== undefined) await context.stores.idempotency.remove(key);
      throw error;
    }
  }
  const found = await find(id);
  if (found !== undefined) {
    request.caller.trail?.changedNothing();
    return found;
  }
  throw new MillraceError(
    "conflict",
    "the first call with this key created nothing, or what it created is gone: use a new key to create it",
  );
}

/**
 * Creates once what is shown once, such as a token: a repeat is refused with `already_exists`, and the refusal names the
 * object that the first call made. Nothing of the secret is kept for a repeat: a caller who has lost the answer deletes the
 * object, and makes another one with a new key. `pointer` names the field of an answer that has the id.
 */
export function createShownOnce<Id extends string, T>(
  context: Parameters<typeof claimRequest>[0],
  { exists, pointer, remedy, ...request }: ShownOnce<Id, T>,
): Promise<T> {
  return createOnce(context, {
    ...request,
    find: async (id) => {
      if (!(await exists(id))) return undefined;
      throw new MillraceError(
        "already_exists",
        `the first call with this key made ${id}, and only the answer to that call shows its secret: if the answer is lost, ${remedy}`,
        { problems: [{ code: "created", pointer, message: id }] },
      );
    },
  });
}

/**
 * What stands for a secret in the body of an identified request. A plain digest of a password in the store would serve
 * to guess the password.
 */
export function standInFor({ signingKey }: Pick<AppContext, "signingKey">, secret: string): string {
  return createHmac("sha256", signingKey).update("millrace request body 1\0").update(secret).digest("hex");
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
