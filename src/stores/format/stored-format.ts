/**
 * The format of the data that nodes share through the store and the mailboxes: snapshots, plans and messages. One
 * number, the schema, versions all of it. Each head, actor state, origin, plan and envelope carries the schema that it
 * was written with.
 *
 * A node reads every schema up to its own. It writes its own schema or, while a node lives that cannot read that one,
 * the schema before (schema-switch.ts). So releases one schema apart run side by side. Three things are not part of
 * this format: the fields that queries use (`index`, the columns of a head) change by migrations of the stores;
 * commands, events and notices only ever gain fields.
 */
import { MillraceError } from "../../domain/errors.ts";
import {
  CONDITIONS_AND_OUTPUTS,
  ENDED_ATTEMPTS_APART,
  GATES_AND_RERUNS,
  PACKED_RECORDS,
  TRUSTED_SELECTORS,
  USAGE_AND_STEP_NEEDS,
  VARIABLES_AND_PERMISSIONS,
} from "./schema-steps.ts";
import type { Conversion, Part, SchemaStep, StoredParts } from "./stored-parts.ts";

export interface StoredFormat {
  /** The newest schema that this format reads and writes. */
  readonly schema: number;
  /** Converts a stored part from `schema` (1 to the newest) to the shape that this program works with. */
  read<P extends Part, T extends StoredParts[P]>(part: P, stored: T, schema: number): T;
  /** Converts a part to the stored shape of `schema`: the newest schema or the one before it. */
  write<P extends Part, T extends StoredParts[P]>(part: P, value: T, schema: number): T;
}

/**
 * The changes since schema 1, in order. To change a stored shape, append one step. The earlier steps stay, because a
 * finished run keeps its schema indefinitely. Only the downgrade of the last step is used.
 */
const STEPS: readonly SchemaStep[] = [
  CONDITIONS_AND_OUTPUTS,
  GATES_AND_RERUNS,
  USAGE_AND_STEP_NEEDS,
  TRUSTED_SELECTORS,
  ENDED_ATTEMPTS_APART,
  VARIABLES_AND_PERMISSIONS,
  PACKED_RECORDS,
];

/** The first schema in which ended attempts are stored apart from the snapshot. */
export const APART_SCHEMA = STEPS.indexOf(ENDED_ATTEMPTS_APART) + 2;

/** From this schema on, every node reads compressed log chunks. */
export const PACKED_LOGS_SCHEMA = STEPS.indexOf(VARIABLES_AND_PERMISSIONS) + 2;

/** From this schema on, every node reads log chunks that are in an object storage. */
export const COLD_LOGS_SCHEMA = STEPS.indexOf(VARIABLES_AND_PERMISSIONS) + 2;

/** From this schema on, every node knows commands that bring pushed events. */
export const PUSHED_EVENTS_SCHEMA = STEPS.indexOf(VARIABLES_AND_PERMISSIONS) + 2;

/** From this schema on, every node reads packed events, plans and states. */
export const PACKED_RECORDS_SCHEMA = STEPS.indexOf(PACKED_RECORDS) + 2;

export const STORED_FORMAT: StoredFormat = formatOf(STEPS);

/** The format of these steps. Its newest schema is the number of steps plus one. */
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

/** A part that is stored as a document of its own and carries its schema. */
type Document = Exclude<Part, "owed" | "message">;

/** The stored form of a document: in the shape of `schema`, and with that number in it. */
export function toStored<P extends Document, T extends StoredParts[P]>(
  format: StoredFormat,
  part: P,
  value: T,
  schema: number,
): T {
  // A member behind a spread takes V8 of Node 20 some microseconds, and a hidden class for each object. What `Object.assign` makes of
  // 30 members is slow to stringify.
  return { schema, ...format.write(part, value, schema) };
}

/**
 * A stored document in the shape that this program works with. Throws a {@link NewerSchemaError}, which names the
 * document as `what`, when its schema is newer.
 */
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

/** A newer version stored this data, so this node cannot read it. A retry on this node fails too. */
export class NewerSchemaError extends MillraceError {}

/**
 * Throws a {@link NewerSchemaError} (`unavailable`) when `schema` is newer than the format. `what` names the data for
 * an operator.
 */
export function refuseNewer(what: string, schema: number, { schema: newest }: Pick<StoredFormat, "schema">): void {
  if (schema <= newest) return;
  throw new NewerSchemaError(
    "unavailable",
    `${what} was stored with schema ${schema} by a newer version, and this node reads up to ${newest}: upgrade this node`,
  );
}
