/** audit.v1: the audit log, read by programs. */
import { AuditEntry as EntryMessage, AuditOutcome, type AuditServer } from "../../proto/generated/audit/v1/audit.ts";
import { AuditEntryShape, auditQuery, listAudit } from "../app/audit/audit-log.ts";
import type { AppContext } from "../app/context.ts";
import type { z } from "zod";
import { unary } from "./calls.ts";
import { nonEmpty, unixMs } from "./messages/fields.ts";
import { parseMessage } from "./messages/parse-message.ts";
import { wordOf } from "./messages/words.ts";

const OUTCOMES = {
  done: AuditOutcome.AUDIT_OUTCOME_DONE,
  refused: AuditOutcome.AUDIT_OUTCOME_REFUSED,
} as const;

export function auditService(context: AppContext): AuditServer {
  return {
    listAuditEntries: unary(context, async (request, { caller }) => {
      const query = parseMessage(auditQuery, {
        actor: nonEmpty(request.actor),
        operation: nonEmpty(request.operation),
        object: nonEmpty(request.object),
        project: nonEmpty(request.projectId),
        outcome: wordOf(OUTCOMES, request.outcome),
        since: timeOf(request.sinceMs),
        until: timeOf(request.untilMs),
        after: nonEmpty(request.after),
        limit: request.limit === 0 ? undefined : request.limit,
      });
      const { list, next } = await listAudit(context, caller, query);
      return { entries: list.map(entryMessage), next: next ?? "" };
    }),
  };
}

/** A time that no text can name is refused as such a text is. */
function timeOf(ms: bigint): string | undefined {
  if (ms === 0n) return undefined;
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? "none" : date.toISOString();
}

function entryMessage(entry: z.infer<typeof AuditEntryShape>): EntryMessage {
  const { auditId, time, outcome, operation, actor, object, from, before, after } = entry;
  return {
    auditId,
    timeMs: unixMs(time),
    outcome: OUTCOMES[outcome],
    operation,
    actorKind: actor.kind,
    actorId: actor.id ?? "",
    actorName: actor.name,
    actorProof: actor.proof ?? "",
    onBehalfOf: entry.onBehalfOf ?? "",
    tenantId: entry.tenantId ?? "",
    projectId: entry.projectId ?? "",
    objectKind: object?.kind ?? "",
    objectId: object?.id ?? "",
    objectName: object?.name ?? "",
    door: from.door,
    address: from.address ?? "",
    userAgent: from.userAgent ?? "",
    requestId: entry.requestId ?? "",
    beforeJson: before === null ? "" : JSON.stringify(before),
    afterJson: after === null ? "" : JSON.stringify(after),
    reason: entry.reason ?? "",
    leftOut: entry.leftOut,
  };
}
