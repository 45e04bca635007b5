/** `millrace audit`: the audit log, listed and exported. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { findProject } from "../../remote/find.ts";
import { pipeOut } from "../../remote/pipe-out.ts";
import type { Column } from "../../remote/report.ts";
import { type RemoteOptions, type Session, withServer } from "../../remote/session.ts";
import { takeItems } from "../../remote/take.ts";
import { parseTime } from "./parse-time.ts";

export interface FilterOptions extends RemoteOptions {
  readonly actor?: string;
  readonly operation?: string;
  readonly object?: string;
  readonly project?: string;
  readonly outcome?: "done" | "refused";
  /** Times of RFC 3339, or durations before now. */
  readonly since?: string;
  readonly until?: string;
}

export interface ListOptions extends FilterOptions {
  readonly limit: number;
}

type Entry = Schemas["AuditEntry"];
const MOST_OF_A_PAGE = 100;

const COLUMNS: readonly Column<Entry>[] = [
  { title: "time", text: ({ time }) => time },
  { title: "who", text: ({ actor, onBehalfOf }) => nameOf(actor) + (onBehalfOf === null ? "" : ` for ${onBehalfOf}`) },
  {
    title: "operation",
    text: ({ operation, outcome }) => (outcome === "refused" ? `${operation} (refused)` : operation),
    colour: ({ outcome }) => (outcome === "refused" ? "red" : undefined),
  },
  { title: "object", text: ({ object }) => (object === null ? "-" : `${object.kind} ${object.name ?? object.id}`) },
  { title: "from", text: ({ from }) => from.address ?? from.door },
  { title: "change", text: (entry) => changeOf(entry) },
];

/** The newest entries that the filters leave, the newest first. */
export function listAudit(options: ListOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const query = { ...(await filterOf(client, options)), limit: Math.min(options.limit, MOST_OF_A_PAGE) };
    report.list(await takeItems(client.items("/audit", { query, signal }), options.limit), COLUMNS, "no entries");
  });
}

/** Every entry that the filters leave, one JSON text a line, the oldest first. */
export function exportAudit(options: FilterOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client }) => {
    const query = await filterOf(client, options);
    await pipeOut(await client.open("/audit/export", { query, signal }), process.stdout, signal);
  });
}

async function filterOf(client: Session["client"], options: FilterOptions) {
  const { actor, operation, object, project, outcome, since, until } = options;
  return {
    actor,
    operation,
    object,
    outcome,
    project: project === undefined ? undefined : (await findProject(client, project)).projectId,
    since: since === undefined ? undefined : parseTime("--since", since),
    until: until === undefined ? undefined : parseTime("--until", until),
  };
}

function nameOf({ kind, id, name }: Entry["actor"]): string {
  return name === "" ? (id ?? kind) : name;
}

/** What has changed, for example `role: viewer -> operator`; of a refusal, why. */
function changeOf({ before, after, reason }: Entry): string {
  if (reason !== null) return reason;
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const word = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));
  return fields
    .map((field) => {
      if (before === null) return `${field}: ${word(after?.[field])}`;
      return `${field}: ${word(before[field])}${after === null ? "" : ` -> ${word(after[field])}`}`;
    })
    .join(", ");
}
