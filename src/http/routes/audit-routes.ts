/** Routes of the audit log. */
import { Readable } from "node:stream";
import type { AppContext } from "../../app/context.ts";
import { auditExportQuery, AuditPageShape, auditQuery, exportAudit, listAudit } from "../../app/audit/audit-log.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Audit log");
const NDJSON = "application/x-ndjson";

export const AUDIT_ROUTES = [
  route({
    method: "GET",
    path: "/audit",
    name: "listAudit",
    about: "Lists who changed what, the newest first.",
    query: auditQuery,
    answer: AuditPageShape,
    handle: (context, { caller, query }) => listAudit(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/audit/export",
    name: "exportAudit",
    about: "Exports the audit log, the oldest entry first, one JSON text a line.",
    query: auditExportQuery,
    answer: null,
    answerType: NDJSON,
    send(context, { caller, query, ctx }) {
      // Read as the caller takes it: no more than some hundred entries are in memory.
      ctx.body = Readable.from(exportAudit(context, caller, query), { objectMode: false });
      ctx.type = NDJSON;
      return Promise.resolve();
    },
  }),
];
