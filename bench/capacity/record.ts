/** The file of what was measured. */
import { readFileSync, writeFileSync } from "node:fs";
import type { StoreRecord } from "./model.ts";
import { SHAPES } from "./shapes.ts";

const FILE = new URL("measured.json", import.meta.url);

/** What was measured last on each store. */
export function readRecord(file: URL = FILE): readonly StoreRecord[] {
  return JSON.parse(readFileSync(file, "utf8")) as readonly StoreRecord[];
}

/** What a session has measured: some rows, and the rates or not. */
export type Measured = Omit<StoreRecord, "rates"> & Partial<Pick<StoreRecord, "rates">>;

/** The record with what was measured in place of what it had of the same. Rows stay in the order of the shapes. */
export function merged(records: readonly StoreRecord[], measured: Measured): readonly StoreRecord[] {
  const { store } = measured;
  const known = records.find((record) => record.store === store);
  const rowOf = (name: string) => [...measured.rows, ...(known?.rows ?? [])].find((row) => row.name === name);
  const rows = SHAPES.flatMap(({ name }) => rowOf(name) ?? []);
  const rates = measured.rates ?? known?.rates;
  if (rates === undefined) throw new Error(`nothing is known of the rates on ${store}: measure all of it first`);
  return [...records.filter((record) => record !== known), { store, machine: measured.machine, rows, rates }];
}

export function writeRecord(records: readonly StoreRecord[], file: URL = FILE): void {
  writeFileSync(file, `${JSON.stringify(records, null, 2)}\n`);
}
