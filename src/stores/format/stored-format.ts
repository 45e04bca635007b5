/**
 * The format of what nodes leave for one another in the store and in mailboxes: snapshots, plans, letters. One number, the
 * schema, stands for all of it, and each head, state, origin, plan and envelope carries the one that it was written with.
 *
 * A node reads every schema up to its own, and writes its own or, while a node lives that cannot read it, the one before
 * (schema-switch.ts): so releases one schema apart run side by side. What queries are made of (`index`, a head's columns)
 * is changed by migrations of the stores, and commands, events and notices only ever gain fields: none of them is here.
 */
import { MillraceError } from "../../domain/errors.ts";
import { CONDITIONS_AND_OUTPUTS, GATES_AND_RERUNS, USAGE_AND_STEP_NEEDS } from "./schema-steps.ts";
import type { Conversion, Part, SchemaStep, StoredParts } from "./stored-parts.ts";

export interface StoredFormat {
  /** The newest that is read and can be written. */
  readonly schema: number;
  /** What was stored with `schema`, 1 to the newest, as this program works with it. */
  read<P extends Part, T extends StoredParts[P]>(part: P, stored: T, schema: number): T;
  /** The reverse, for the newest schema and the one before it. */
  write<P extends Part, T extends StoredParts[P]>(part: P, value: T, schema: number): T;
}

/**
 * What has changed since schema 1, in order. To change a stored shape, append one step. Earlier ones stay, since a
 * finished run keeps its schema for ever; of the downgrades only the last is used.
 */
const STEPS: readonly SchemaStep[] = [CONDITIONS_AND_OUTPUTS, GATES_AND_RERUNS, USAGE_AND_STEP_NEEDS];

export const STORED_FORMAT: StoredFormat = formatOf(STEPS);

/** The format whose newest schema is one above the number of steps. */
export function formatOf(steps: readonly SchemaStep[]): StoredFormat {
  const schema = steps.length + 1;
  return {
    schema,
    read: (part, stored, from) =>
      steps.slice(from - 1).reduce((value, { upgrade }) => convert(upgrade, part, value), stored),
    write: (part, value, to) => (to === schema ? value : convert(steps.at(-1)!.downgrade, part, value)),
  };
}

function convert<P extends Part, T extends StoredParts[P]>(conversion: Conversion, part: P, value: T): T {
  const change = conversion[part];
  return change === undefined ? value : (change(value) as T);
}

/** A part that is kept as a document of its own. */
type Document = Exclude<Part, "owed" | "letter">;

/** A document as it is stored: in the shape of `schema`, which it carries from then on. */
export function toStored<P extends Document, T extends StoredParts[P]>(
  format: StoredFormat,
  part: P,
  value: T,
  schema: number,
): T {
  return { ...format.write(part, value, schema), schema };
}

/** A stored document as this program works with it. Throws a {@link NewerSchemaError} that calls it `what`. */
export function fromStored<P extends Document, T extends StoredParts[P]>(
  format: StoredFormat,
  part: P,
  stored: T,
  what: string,
): T {
  const { schema = 1, ...value } = stored as T & { readonly schema?: number };
  refuseNewer(what, schema, format);
  return format.read<P, T>(part, value as unknown as T, schema);
}

/** What was met was stored by a newer version: this node can do nothing with it, now or later. */
export class NewerSchemaError extends MillraceError {}

/** `what` names it for an operator; throws a {@link NewerSchemaError}, `unavailable`. */
export function refuseNewer(what: string, schema: number, { schema: newest }: Pick<StoredFormat, "schema">): void {
  if (schema <= newest) return;
  throw new NewerSchemaError(
    "unavailable",
    `${what} was stored with schema ${schema} by a newer version, and this node reads up to ${newest}: upgrade this node`,
  );
}
