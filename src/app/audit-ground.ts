/** What the trails of one edge work with, and who the actor of a trail is. */
import { RefusalBounds } from "../audit/refusal-bounds.ts";
import type { Actor, TrailGround } from "../audit/trail.ts";
import type { AuditStore } from "../stores/ports/audit.ts";
import type { AppContext, WithStores } from "./context.ts";
import type { Caller } from "./identity/access.ts";
import { announceSystemEvent } from "../feed/system-event-hints.ts";
import { projectFactsOf } from "./project-facts.ts";

/** By store, so that the doors of one node share the bounds on refusals. */
const grounds = new WeakMap<AuditStore, TrailGround>();

export function trailGround(
  context: Pick<AppContext, "clock" | "log" | "feed"> & WithStores<"audit" | "documents" | "pipelines" | "rights">,
): TrailGround {
  const { stores, clock, log } = context;
  const known = grounds.get(stores.audit);
  if (known !== undefined) return known;
  const ground: TrailGround = {
    store: stores.audit,
    clock,
    log,
    refusals: new RefusalBounds(clock),
    announce: (systemLog) => announceSystemEvent(context, systemLog),
    tenantOf: async (projectId) => (await projectFactsOf(context, projectId)).tenantId,
  };
  grounds.set(stores.audit, ground);
  return ground;
}

export function actorOf(caller: Caller): Actor {
  switch (caller.kind) {
    case "user": {
      const { userId, name, standing, isJob = false } = caller;
      const proof =
        standing === undefined || "loggedInAt" in standing
          ? null
          : "session" in standing
            ? standing.session
            : standing.token;
      return { kind: isJob ? "job" : "user", id: userId, name, proof };
    }
    case "agent":
      return { kind: "agent", id: caller.agentId, name: "", proof: caller.tokenId };
    case "job":
      return { kind: "job", id: caller.jobId, name: "", proof: null };
    case "registration":
      return "tokenId" in caller.proof
        ? { kind: "registration", id: caller.proof.tokenId, name: "", proof: caller.proof.tokenId }
        : { kind: "registration", id: caller.proof.workload.id, name: caller.proof.workload.subject, proof: null };
  }
}
