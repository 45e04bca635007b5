/** The event triggers of a definition, as a reader sees them. Pure. */

export interface EventTrigger {
  readonly provider: string;
  readonly event: string;
  /** What narrows it: `branches`, with the patterns that count and those that do not. */
  readonly filters: readonly {
    readonly name: FilterName;
    readonly only: readonly string[];
    readonly except: readonly string[];
  }[];
}

const FILTERS = ["branches", "tags", "paths", "actors", "labels", "actions", "when"] as const;
type FilterName = (typeof FILTERS)[number];

/** Reads what is there, and leaves out what a definition cannot have: the server has checked it. */
export function readEvents(spec: unknown): readonly EventTrigger[] {
  const triggers = field(spec, "triggers") ?? field(spec, "Triggers");
  const events = field(triggers, "event");
  if (!Array.isArray(events)) return [];
  return events.map((event: unknown) => ({
    provider: text(field(event, "provider")),
    event: text(field(event, "event")),
    filters: FILTERS.flatMap((name) => {
      const given = field(event, name);
      if (given === undefined) return [];
      const isMap = typeof given === "object" && given !== null && !Array.isArray(given);
      const only = list(isMap ? field(given, "include") : given);
      const except = list(isMap ? field(given, "exclude") : undefined);
      return [{ name, only, except }];
    }),
  }));
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function list(value: unknown): readonly string[] {
  return value === undefined ? [] : Array.isArray(value) ? value.map(text) : [text(value)];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}
