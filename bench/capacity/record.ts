/** The file of what was measured. */
import { readFileSync, writeFileSync } from "node:fs";
import type { StoreRecord } from "./model.ts";

const FILE = new URL("measured.json", import.meta.url);

/** What was measured last on each store. */
export function readRecord(file: URL = FILE): readonly StoreRecord[] {
  return JSON.parse(readFileSync(file, "utf8")) as readonly StoreRecord[];
}

/** Replaces the measurements of the stores that were measured, and keeps those of the others. */
export function writeRecord(measured: readonly StoreRecord[], file: URL = FILE): void {
  const names = measured.map(({ store }) => store);
  const kept = readRecord(file).filter(({ store }) => !names.includes(store));
  writeFileSync(file, `${JSON.stringify([...kept, ...measured], null, 2)}\n`);
}
