/** The tables and schemas of docs/events.md, and docs/events.json; `npm run generate` writes them from the table of events. */
import { z } from "zod";
import { type EventKind, payloadOf, RUN_EVENTS } from "../../src/domain/event-table/run-events.ts";
import { AGENT_REPORT, SYSTEM_EVENTS, systemPayloadOf } from "../../src/domain/event-table/system-events.ts";
import type { EventObject } from "../../src/domain/events.ts";
import { renderTable } from "./markdown-table.ts";

interface EventType {
  /** Without the namespace. */
  readonly type: string;
  readonly when: string;
  readonly schema: object;
}

/** The types of each section of the page. */
const EVENT_TYPES: Readonly<Record<string, readonly EventType[]>> = {
  ...Object.fromEntries(
    Object.entries(RUN_EVENTS).map(([object, kinds]) => [
      object,
      typesOf(object, kinds, (kind) => payloadOf(object as EventObject, kind)),
    ]),
  ),
  system: Object.entries(SYSTEM_EVENTS).flatMap(([object, kinds]) => typesOf(object, kinds, systemPayloadOf)),
  report: typesOf("agent", { "*": AGENT_REPORT }, systemPayloadOf),
};

function typesOf(
  object: string,
  kinds: Readonly<Record<string, EventKind>>,
  payload: (kind: EventKind) => z.ZodType,
): readonly EventType[] {
  return Object.entries(kinds).map(([lifecycle, kind]) => {
    return { type: `${object}.${lifecycle}`, when: kind.when, schema: schemaOf(payload(kind)) };
  });
}

/** The page, with the types of each section between `<!-- events: SECTION -->` and `<!-- end -->`. */
export function deriveEventsPage(page: string): string {
  return page.replace(
    /(<!-- events: (\w+) -->\n).*?(<!-- end -->)/gs,
    (_, begin: string, object: string, end: string) => `${begin}\n${sectionOf(EVENT_TYPES[object]!)}\n\n${end}`,
  );
}

/** One JSON Schema for each type, for programs. */
export function deriveEventSchemas(): string {
  const schemas = Object.values(EVENT_TYPES).flatMap((types) => types.map(({ type, schema }) => [type, schema]));
  return `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", $defs: Object.fromEntries(schemas) }, null, 2)}\n`;
}

/** The types, and then each schema with the types that have it. */
function sectionOf(types: readonly EventType[]): string {
  const table = renderTable([["Type", "When"], ...types.map(({ type, when }) => [`\`${type}\``, when])]);
  const typesOf = new Map<string, string[]>();
  for (const { type, schema } of types) {
    const text = JSON.stringify(schema, null, 2);
    typesOf.set(text, [...(typesOf.get(text) ?? []), `\`${type}\``]);
  }
  const schemas = [...typesOf].map(([text, of]) => `The \`data\` of ${listed(of)}:\n\n\`\`\`json\n${text}\n\`\`\``);
  return [table, ...schemas].join("\n\n");
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function schemaOf(shape: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    override({ jsonSchema }) {
      // Later versions may add fields.
      delete jsonSchema.additionalProperties;
      // The pattern of a time is a whole line that `format` says already.
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return schema;
}
