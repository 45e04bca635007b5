/** The audit log at the HTTP edge: each call of a route that changes something has a trail, which ends with the call. */
import { Trail, type RecordedChange, type TrailGround } from "../audit/trail.ts";
import type { ObjectKind } from "../audit/entry.ts";
import { actorOf } from "../app/audit-ground.ts";
import { MillraceError } from "../domain/errors.ts";
import { givenTraceparent } from "../app/given-traceparent.ts";
import type { AddressOf } from "./request/caller-address.ts";
import type { Recorder } from "./route.ts";
import type { ApiContext } from "./request/state.ts";

/** The kind of the object that a parameter of a path names. */
const KINDS: Readonly<Record<string, ObjectKind>> = {
  tenantId: "tenant",
  teamId: "team",
  projectId: "project",
  pipelineId: "pipeline",
  runId: "run",
  jobId: "job",
  stepRunId: "step",
  approvalId: "approval",
  artifactId: "artifact",
  cacheId: "cache",
  uploadId: "upload",
  webhookId: "webhook",
  hookId: "hook",
  deliveryId: "delivery",
  agentId: "agent",
  /** Of `/cluster/dead-letters/:id`. */
  id: "deadLetter",
  userId: "user",
  sessionId: "session",
  tokenId: "token",
  member: "member",
};

export function recorderOf(ground: TrailGround, addressOf: AddressOf): Recorder {
  return ({ name }, handle) =>
    async (ctx) => {
      const { caller, requestId } = ctx.state;
      const from = originOf(ctx, addressOf);
      const trail = new Trail(ground, { operation: name, actor: actorOf(caller), from, requestId });
      ctx.state.caller = Object.assign({}, caller, { trail }, givenTraceparent(ctx.get("traceparent")));
      try {
        await handle(ctx);
        await trail.close(objectOf(ctx.params));
      } catch (error) {
        if (error instanceof MillraceError && error.reason === "forbidden") {
          await trail.refuse(error, objectOf(ctx.params));
        }
        throw error;
      }
    };
}

/** Where a call comes from. The name of the program is what the caller says. */
export function originOf(ctx: ApiContext, addressOf: AddressOf): { door: "http"; address: string; userAgent: string } {
  return { door: "http", address: addressOf(ctx.req), userAgent: ctx.get("user-agent") };
}

/** What the last parameter of a path names. */
function objectOf(params: Readonly<Record<string, string | undefined>>): RecordedChange {
  const [name, value = ""] = Object.entries(params).findLast(([, one]) => one !== undefined) ?? [];
  if (name === undefined) return { kind: "installation", id: "installation" };
  return { kind: KINDS[name] ?? "call", id: value };
}
