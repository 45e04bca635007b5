/** The model of capacity: what was measured, and what is fitted to it. Pure. */
import type { Machine } from "../machine.ts";
import { costOf, fitParts, type Parts } from "./fit.ts";
import { type Amounts, amountsOf, type MeasuredShape } from "./shapes.ts";

export const STORES = ["mongodb", "sqlite"] as const;
export type StoreName = (typeof STORES)[number];

/**
 * Costs by figure. Names that end in `Ms` are processor time of a process, ms; `storeCalls` are commands of MongoDB, or calls of
 * the store's ports with SQLite; `redisCalls` are calls of the nodes, without those that wait; `storeBytes` is what is kept.
 */
export type Costs = Readonly<Record<string, number>>;

/** When something was measured. */
export interface Session {
  readonly commit: string;
  readonly date: string;
  /** Of the minute before the session: the load by other programs. */
  readonly loadAverage: number;
}

export interface MeasuredRow extends MeasuredShape {
  readonly session: Session;
  readonly runs: number;
  /** What the loop of unit.ts took around this measurement, ms. */
  readonly unitMs: number;
  /** Of one run. */
  readonly cost: Costs;
}

/** Costs that do not belong to the work of a run. */
export interface Rates {
  readonly session: Session;
  /** What the loop of unit.ts took meanwhile, ms. */
  readonly unitMs: number;
  /** Of the whole installation without work, in a second. */
  readonly idleSecond: Costs;
  /** Of one connected agent without work, in a second; `redisBytes` is the memory of Redis for one. */
  readonly agentSecond: Costs;
  /** Of a line that one viewer is shown, without what the line itself costs. */
  readonly viewedLine: Costs;
  /** Of a run that retention removes; of the mean of the measured runs. */
  readonly removedRun: Costs;
}

export interface StoreRecord {
  readonly store: StoreName;
  readonly machine: Omit<Machine, "loadAverage">;
  readonly rows: readonly MeasuredRow[];
  readonly rates: Rates;
}

/** The fitted model of one store: for each figure what each kind of work costs. Times are in units of unit.ts. */
export type Model = Readonly<Record<string, Parts>>;

const NODES = ["edgeMs", "gatewayMs", "workerMs", "nodeMs"] as const;

export const isTime = (figure: string): boolean => figure.endsWith("Ms");

/** A measured cost with its times in units, so that it does not depend on how fast the machine was. */
export function inUnits(row: Pick<MeasuredRow, "cost" | "unitMs">): Costs {
  return Object.fromEntries(
    Object.entries(row.cost).map(([figure, value]) => [figure, isTime(figure) ? value / row.unitMs : value]),
  );
}

/** Fits a model to the rows that are there for that. */
export function modelOf(rows: readonly MeasuredRow[]): Model {
  const fitted = rows
    .filter(({ use }) => use === "fit")
    .map((row) => ({ amounts: amountsOf(row), costs: inUnits(row) }));
  const figures = Object.keys(fitted[0]?.costs ?? {});
  return Object.fromEntries(
    figures.map((figure) => [
      figure,
      fitParts(fitted.map(({ amounts, costs }) => ({ amounts, cost: costs[figure] ?? 0 }))),
    ]),
  );
}

/** What this much work costs by the model. */
export function predicted(model: Model, amounts: Amounts): Costs {
  return Object.fromEntries(Object.entries(model).map(([figure, parts]) => [figure, costOf(parts, amounts)]));
}

/** A measured run beside what the model says of it, by figure: the share by which the model is above it. */
export function errorsOf(model: Model, row: MeasuredRow): Costs {
  const measured = inUnits(row);
  const expected = predicted(model, amountsOf(row));
  return Object.fromEntries(Object.keys(model).map((figure) => [figure, expected[figure]! / measured[figure]! - 1]));
}

/** With the processor time of the control plane, which is the sum over its nodes, as `allNodesMs`. */
export function withAllNodes(row: MeasuredRow): MeasuredRow {
  const allNodesMs = NODES.reduce((sum, node) => sum + (row.cost[node] ?? 0), 0);
  return { ...row, cost: { ...row.cost, allNodesMs } };
}
