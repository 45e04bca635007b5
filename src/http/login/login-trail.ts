/** What logins leave in the audit log. A login begins with no user proved, and its trail learns whom it proves. */
import { actorOf, trailGround } from "../../app/audit-ground.ts";
import type { AppContext } from "../../app/context.ts";
import type { UserCaller } from "../../app/identity/access.ts";
import { anonymous, Trail } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { originOf } from "../audit.ts";
import type { AddressOf } from "../request/caller-address.ts";
import type { ApiContext } from "../request/state.ts";

interface LoginGround {
  readonly context: AppContext;
  readonly addressOf: AddressOf;
}

/** Makes a login, and records it also when it proves no user. A call that is slowed down tries nothing: it has no entry. */
export async function recordingLogin<T>(
  ground: LoginGround,
  ctx: ApiContext,
  operation: string,
  attempt: (trail: Trail) => Promise<T>,
): Promise<T> {
  const trail = trailOf(ground, ctx, operation);
  try {
    return await attempt(trail);
  } catch (error) {
    if (error instanceof MillraceError && error.reason === "unauthenticated") {
      await trail.refuse(error, { kind: "session", id: "" });
    }
    throw error;
  }
}

/** The caller with a trail for one operation. */
export function traced(ground: LoginGround, ctx: ApiContext, caller: UserCaller, operation: string): UserCaller {
  const trail = trailOf(ground, ctx, operation);
  trail.proved(actorOf(caller));
  return { ...caller, trail };
}

function trailOf({ context, addressOf }: LoginGround, ctx: ApiContext, operation: string): Trail {
  const { requestId } = ctx.state;
  const start = { operation, actor: anonymous(), from: originOf(ctx, addressOf), requestId };
  return new Trail(trailGround(context), start);
}
