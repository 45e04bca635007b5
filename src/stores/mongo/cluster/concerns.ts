/**
 * What calls of MongoDB wait for, and which member of the replica set answers them. What is not said here follows from the
 * settings of every call.
 */
import type { ReadConcernLevel } from "mongodb";

/**
 * Of every call: writes wait until a majority of the replica set has them, so that no election takes back what was
 * answered. Reads ask the primary, which has the newest write of each document: a secondary may be late. An address of the
 * server that says otherwise changes nothing.
 */
export const EVERY_CALL = { writeConcern: { w: "majority" }, readPreference: "primary" } as const;

/**
 * Of reads whose answer makes someone forget what it has, such as lines of a log or a report of a step: what the primary
 * alone has may be taken back. They may miss what was written a moment ago.
 */
export const DURABLE = readConcern("majority");

/** Of reads that compare what the primary has with what a majority has. */
export function readConcern(level: Extract<ReadConcernLevel, "local" | "majority">) {
  return { readConcern: { level } } as const;
}
