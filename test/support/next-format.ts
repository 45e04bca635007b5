/** The stored format of a release that is yet to come: fields of every part have other names. */
import {
  type Conversion,
  formatOf,
  type Part,
  type SchemaStep,
  type StoredFormat,
} from "../../src/stores/stored-format.ts";

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
  plan: [["jobs", "graph"]],
  spec: [["steps", "commands"]],
  letter: [["message", "content"]],
};

type Direction = "upgrade" | "downgrade";

/** Schema 1 to 2: what a developer appends to the steps of the format. */
export const RENAMING: SchemaStep = { upgrade: renaming("upgrade"), downgrade: renaming("downgrade") };

/**
 * The format of a node that stores and reads schema 2, while its code works with today's shape, which is that of schema
 * 1: the steps run the other way about.
 */
export const NEXT_FORMAT: StoredFormat = inverse(formatOf([RENAMING]));

function inverse(format: StoredFormat): StoredFormat {
  return {
    schema: format.schema,
    read: (part, stored, schema) => (schema === 1 ? stored : format.write(part, stored, 1)),
    write: (part, value, schema) => (schema === 1 ? value : format.read(part, value, 1)),
  };
}

function renaming(direction: Direction): Conversion {
  return Object.fromEntries(
    Object.entries(NAMES).map(([part, names]) => [
      part,
      (value: object) =>
        Array.isArray(value)
          ? value.map((each: object) => renamed(each, names, direction))
          : renamed(value, names, direction),
    ]),
  ) as Conversion;
}

function renamed(value: object, names: readonly (readonly [string, string])[], direction: Direction): object {
  const to = new Map(names.map(([old, next]) => (direction === "upgrade" ? [old, next] : [next, old])));
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [to.get(name) ?? name, field]));
}
