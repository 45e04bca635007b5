/**
 * Snapshots near the bound of a document. MongoDB holds documents of up to 16 MiB. The planner refuses a run whose actors
 * may not fit, so a document can become too large only by the effects of one turn over thousands of jobs, and by the
 * actors of a run that an older release has planned. Both are then stored compressed: first the effects; and the actors
 * too, if that is not enough. Such a run can always be stopped.
 *
 * A node of an older release that loads a document with packed actors fails, and keeps the run parked; it could not have
 * saved the turn at all.
 */
import { promisify } from "node:util";
import { deflate, inflate } from "node:zlib";
import { Binary, BSON, type Document } from "mongodb";
import type { OwedRecord, StoredActor } from "../ports/aggregates.ts";

const MIB = 1_048_576;
/** The largest document that is written; a part of the 16 MiB is left for what the server and an update add. */
const DOCUMENT_BYTES = 15.5 * MIB;
/** The largest snapshot that the planner may plan: it leaves room for packed effects. */
export const SNAPSHOT_BYTES = 14 * MIB;

/** A change of so few actors and effects is small. */
const FEW = 64;

/** Source: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml, and `update_stage.cpp`. */
const TOO_LARGE = [10_334, 17_419, 17_420];

type Actors = Readonly<Record<string, StoredActor>>;

/** The part of a document that may be packed. */
export interface Contents {
  readonly actors: Actors;
  readonly owed: readonly OwedRecord[];
  /** Ids of the actors that the newest version has changed. */
  readonly changed: readonly string[];
}

export interface PackedFields {
  /** `owed` and `changed`, which are empty beside it. */
  readonly packed?: Binary;
  /** All actors; `actors` is empty beside it. */
  readonly packedActors?: Binary;
}

/** The contents in a form that fits into a document with these other fields. Unpacked whenever that fits. */
export async function fitted(contents: Contents, others: Document): Promise<Contents & PackedFields> {
  const { actors, owed, changed } = contents;
  if (isFit({ ...others, ...contents })) return contents;
  const light = { actors, owed: [], changed: [], packed: await pack({ owed, changed }) };
  if (isFit({ ...others, ...light })) return light;
  return { ...light, actors: {}, packedActors: await pack(actors) };
}

/** The reverse of {@link fitted}. */
export async function unpacked({
  actors,
  owed,
  changed,
  packed,
  packedActors,
}: Contents & PackedFields): Promise<Contents> {
  const all = packedActors === undefined ? actors : ((await unpack(packedActors)) as Actors);
  if (packed === undefined) return { actors: all, owed, changed };
  return { actors: all, ...((await unpack(packed)) as Pick<Contents, "owed" | "changed">) };
}

/** True for the error of a server, or of the driver, that a document is too large. */
export function isTooLarge(error: unknown): boolean {
  return TOO_LARGE.includes((error as { readonly code?: unknown }).code as number);
}

/** True for a change that is written without a look at the size of the stored document. */
export function isSmall({ owed, changed }: Pick<Contents, "owed" | "changed">, update: Document): boolean {
  // The size of a change is computed only where it may be large.
  return owed.length + changed.length <= FEW || BSON.calculateObjectSize(update) < MIB / 4;
}

function isFit(document: Document): boolean {
  return BSON.calculateObjectSize(document) <= DOCUMENT_BYTES;
}

async function pack(value: unknown): Promise<Binary> {
  return new Binary(await promisify(deflate)(JSON.stringify(value)));
}

async function unpack({ buffer, position }: Binary): Promise<unknown> {
  return JSON.parse((await promisify(inflate)(buffer.subarray(0, position))).toString()) as unknown;
}
