/** A stored format of an imagined next release: every part has fields with other names. */
import { formatOf, STORED_FORMAT, type StoredFormat } from "../../src/stores/format/stored-format.ts";
import type { Conversion, Part, SchemaStep } from "../../src/stores/format/stored-parts.ts";

const NAMES: Readonly<Record<Part, readonly (readonly [old: string, next: string])[]>> = {
  owed: [
    ["effect", "promise"],
    ["at", "timeMs"],
  ],
  origin: [["triggeredBy", "startedBy"]],
  run: [["remaining", "jobsLeft"]],
  job: [
    ["fence", "newestToken"],
    ["state", "phase"],
  ],
  step: [
    ["state", "phase"],
    ["grant", "given"],
  ],
  approval: [["votes", "ballots"]],
  group: [["seats", "places"]],
  schedule: [["waiting", "pending"]],
  timetable: [["schedules", "triggers"]],
  plan: [["jobs", "graph"]],
  spec: [["steps", "commands"]],
  message: [["message", "content"]],
};

type Direction = "upgrade" | "downgrade";

/** The step from today's schema to the next. A developer would append such a step to the steps of the format. */
export const RENAMING: SchemaStep = { upgrade: renaming("upgrade"), downgrade: renaming("downgrade") };

const TODAY = STORED_FORMAT.schema;
const RENAMED = formatOf([RENAMING]);

/**
 * The format of a node that stores and reads one more schema, while the node's code works with today's shapes. So the
 * last step runs in reverse: a read undoes the renaming, a write applies it.
 */
export const NEXT_FORMAT: StoredFormat = {
  schema: TODAY + 1,
  read: (part, stored, schema) =>
    schema <= TODAY ? STORED_FORMAT.read(part, stored, schema) : RENAMED.write(part, stored, 1),
  write: (part, value, schema) => (schema === TODAY ? value : RENAMED.read(part, value, 1)),
};

function renaming(direction: Direction): Conversion {
  return Object.fromEntries(
    Object.entries(NAMES).map(([part, names]) => [
      part,
      (value: object) =>
        Array.isArray(value)
          ? value.map((element: object) => renamed(element, names, direction))
          : renamed(value, names, direction),
    ]),
  ) as Conversion;
}

function renamed(value: object, names: readonly (readonly [string, string])[], direction: Direction): object {
  const to = new Map(names.map(([old, next]) => (direction === "upgrade" ? [old, next] : [next, old])));
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [to.get(name) ?? name, field]));
}
