/** `millrace system-events`: the newest events of a log of system events, and with `--follow` each further one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { EXIT } from "../../exit-codes.ts";
import { findTenantId } from "../../remote/find.ts";
import type { Column } from "../../remote/report.ts";
import { type RemoteOptions, type Session, withServer } from "../../remote/session.ts";
import { visible, visibleJson } from "../../remote/visible.ts";

export interface SystemEventsOptions extends RemoteOptions {
  readonly tenant?: string;
  readonly installation?: boolean;
  readonly objects?: string;
  readonly limit: number;
  readonly follow?: boolean;
}

type Event = Schemas["SystemEvent"];
const MOST_OF_A_PAGE = 100;
const FOLLOW_MS = 1_000;

const COLUMNS: readonly Column<Event>[] = [
  { title: "time", text: ({ time }) => time },
  { title: "type", text: ({ type }) => type },
  { title: "object", text: ({ data }) => textOf(data["name"]) ?? data.id },
  { title: "by", text: ({ data }) => textOf(data["by"]) ?? "-" },
];

export function systemEvents(options: SystemEventsOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async (session) => {
    const log = await logOf(session, options);
    const read = (after: number, limit = MOST_OF_A_PAGE) => {
      const query = { log, after, limit, objects: options.objects };
      return session.client.get("/system-events", { query, signal });
    };
    const { newest } = await read(0, 1);
    const found: Event[] = [];
    let after = Math.max(0, newest - options.limit);
    for (let isBehind = newest > 0; isBehind;) {
      const page = await read(after);
      found.push(...page.list);
      isBehind = page.after > after && page.after < newest;
      after = page.after;
    }
    const { report } = session;
    if (options.follow !== true) {
      report.list(found.slice(-options.limit), COLUMNS, "no events");
      return EXIT.ok;
    }
    const print = (event: Event) =>
      process.stdout.write(
        `${report.isJson ? visibleJson(event) : COLUMNS.map(({ text }) => visible(text(event))).join("  ")}\n`,
      );
    for (let fresh: readonly Event[] = found; ;) {
      fresh.forEach(print);
      const page = await read(after);
      fresh = page.list;
      if (page.after === after) await sleep(FOLLOW_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      after = page.after;
    }
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

async function logOf({ client }: Session, { tenant, installation = false }: SystemEventsOptions): Promise<string> {
  if (tenant !== undefined && installation) throw new UsageError("--tenant and --installation exclude each other");
  if (installation) return "installation";
  return tenant === undefined ? "default" : findTenantId(client, tenant);
}
