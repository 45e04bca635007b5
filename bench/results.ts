/** The results of all rounds: the median, the minimum and the maximum of each figure. */
import type { Workload } from "./arguments.ts";
import { median } from "./measure/percentiles.ts";
import type { Figure } from "./system.ts";

/** A measured system. */
export interface Subject {
  readonly system: string;
  /** The store in which the system keeps its state. */
  readonly store: string;
}

export interface Result extends Subject {
  readonly workload: Workload;
  readonly metric: string;
  readonly unit: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

interface Sample extends Subject {
  readonly workload: Workload;
  readonly metric: string;
  readonly unit: string;
  readonly values: number[];
}

export class Samples {
  readonly #samples = new Map<string, Sample>();

  /** Adds the figures of one round. */
  add(workload: Workload, { system, store }: Subject, figures: readonly Figure[]): void {
    for (const { metric, unit, value } of figures) {
      const key = JSON.stringify([workload, system, store, metric]);
      const sample = this.#samples.get(key);
      if (sample === undefined) this.#samples.set(key, { workload, system, store, metric, unit, values: [value] });
      else sample.values.push(value);
    }
  }

  /** The results by workload, and within a workload in the order of the figures; rounded to four digits. */
  results(): readonly Result[] {
    return [...this.#samples.values()]
      .map(({ values, ...what }) => ({
        ...what,
        median: rounded(median(values)),
        min: rounded(Math.min(...values)),
        max: rounded(Math.max(...values)),
      }))
      .toSorted((a, b) => a.workload.localeCompare(b.workload));
  }
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
