/** Registers families of the table with the registry that writes `/metrics`. What a family shows is read at each scrape. */
import type { Metric, Registry } from "prom-client";
import { FAMILIES, type FamilyName, type LabelsOf, type NamesOf } from "./families.ts";
import type { Histogram } from "./histogram.ts";

/** One series of a family. */
export type Series<Name extends FamilyName> = readonly [
  labels: LabelsOf<Name>,
  value: Name extends NamesOf<"histogram"> ? Histogram : number,
];

type Reading<Name extends FamilyName> = Iterable<Series<Name>>;

interface Line {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** `read` must not throw or reject: one family that cannot be read would fail the scrape. */
export function register<Name extends FamilyName>(
  registry: Registry,
  name: Name,
  read: () => Reading<Name> | Promise<Reading<Name>>,
): void {
  const { help, type } = FAMILIES[name];
  // The registry asks each metric for no more than this. Its own classes look up the labels of every single observation.
  const metric = {
    name,
    help,
    type,
    aggregator: "sum",
    async get() {
      const values: Line[] = [];
      for (const [labels, value] of await read()) values.push(...linesOf(name, labels, value));
      return { name, help, type, values, aggregator: "sum" };
    },
  };
  registry.registerMetric(metric as unknown as Metric);
}

/** Registers a family without labels. */
export function registerOne<Name extends FamilyName>(
  registry: Registry,
  name: Name,
  read: () => Series<Name>[1],
): void {
  register(registry, name, () => [[{} as LabelsOf<Name>, read()]]);
}

function linesOf(name: string, labels: Readonly<Record<string, string>>, value: number | Histogram): readonly Line[] {
  if (typeof value === "number") return [{ labels, value }];
  const { bounds, upTo, count, sum } = value;
  return [
    ...upTo.map((total, at) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le: bounds[at]! },
      value: total,
    })),
    { metricName: `${name}_bucket`, labels: { ...labels, le: "+Inf" }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
