/** What `npm run capacity` prints. Pure. */
import type { GivenLoad } from "./command-line.ts";
import { errorsOf, modelOf, type StoreName, type StoreRecord, withAllNodes } from "./model.ts";
import { type Capacity, capacityFor, type Load, unitOf } from "./plan.ts";
import { MEANING, WORK } from "./shapes.ts";

/** Without a unit in the load, the machines are as fast as the one that the store was measured on. */
export function reportOf(records: readonly StoreRecord[], given: GivenLoad): string {
  const [scaled, embedded] = [recordOf(records, "mongodb"), recordOf(records, "sqlite")];
  const capacityOf = (record: StoreRecord): Capacity =>
    capacityFor(loadOn(record, given), modelOf(record.rows), record);
  return [
    ...loadLines(given, capacityOf(scaled)),
    "",
    ...scaledLines(given, capacityOf(scaled)),
    "",
    ...embeddedLines(given, capacityOf(embedded)),
    "",
    ...[scaled, embedded].flatMap(checkLines),
  ].join("\n");
}

/** The measurement of a store. Throws when it is missing. */
export function recordOf(records: readonly StoreRecord[], name: string): StoreRecord {
  const record = records.find(({ store }) => store === name);
  if (record === undefined)
    throw new Error(`no measurement of ${name}: run npm run bench:capacity -- --store ${name} --record`);
  return record;
}

function loadOn(record: StoreRecord, given: GivenLoad): Load {
  return { ...given, unitMs: given.unitMs ?? unitOf(record) };
}

function loadLines(
  load: GivenLoad,
  { runsPerSecond, linesPerSecond, run, logBytesOfRun }: Capacity,
): readonly string[] {
  const bytes = (run["storeBytes"] ?? 0) - logBytesOfRun;
  return [
    `${whole(load.runsPerDay)} runs a day, each of ${whole(load.jobs)} jobs, ${whole(load.steps)} steps, ` +
      `${whole(load.steps * load.lines)} log lines and ${load.artifacts} artifacts; ${whole(load.agents)} agents; peak ${load.peak} times the mean`,
    `at the peak: ${short(runsPerSecond)} runs/s, ${short(runsPerSecond * load.steps)} steps/s, ${short(linesPerSecond)} log lines/s`,
    `a run: ${figures(run, ["edgeMs", "gatewayMs", "workerMs", "redisMs"])}; ` +
      `${short(run["storeCalls"] ?? 0)} commands of MongoDB; ${size(bytes)} of documents and ${size(logBytesOfRun)} of log`,
  ];
}

function scaledLines(load: GivenLoad, capacity: Capacity): readonly string[] {
  const { parts, shards, redisProcessors, redisBytes, commandsPerSecond, runBytes, logBytes, limits } = capacity;
  const perDay = load.runsPerDay === 0 ? 0 : runBytes / Math.max(1, load.keepRunsDays);
  return [
    "on MongoDB and Redis, with nodes that are busy for at most 60 %:",
    ...parts.map(({ name, needed, processors }) => `  ${name}: ${needed} (${short(processors)} processors busy)`),
    `  shards: ${shards}`,
    `  Redis: ${short(redisProcessors)} processors busy, ${size(redisBytes)} of memory for ${whole(load.waiting)} waiting jobs and the agents`,
    `  MongoDB: ${whole(commandsPerSecond)} commands/s; documents of ${size(runBytes)} for the runs of ${load.keepRunsDays} days ` +
      `(${size(perDay)} a day) and ${size(logBytes)} for the logs of ${Math.min(load.keepLogsDays, load.keepRunsDays)} days, before its compression and without indexes`,
    ...limitLines(limits),
  ];
}

function embeddedLines(load: GivenLoad, { run, limits, runBytes, logBytes }: Capacity): readonly string[] {
  return [
    `one node with SQLite (${figures(run, ["nodeMs", "redisMs"])} a run):`,
    `  file of ${size(runBytes + logBytes)} for the runs of ${load.keepRunsDays} days and the logs of ${Math.min(load.keepLogsDays, load.keepRunsDays)} days`,
    ...limitLines(limits),
  ];
}

function limitLines(limits: readonly { readonly name: string; readonly runsPerDay: number }[]): readonly string[] {
  return limits.map(
    ({ name, runsPerDay }, at) =>
      `  ${at === 0 ? "the limit that comes first" : "then"}: ${name}, at ${whole(runsPerDay)} runs a day`,
  );
}

/** How far the model is from the runs that it was not fitted to. */
function checkLines(record: StoreRecord): readonly string[] {
  const rows = record.rows.map(withAllNodes);
  const model = modelOf(rows);
  const { store, machine } = record;
  const sessions = new Map([...rows, record.rates].map(({ session }) => [JSON.stringify(session), session]));
  const measuredOn = [...sessions.values()].map(
    ({ commit, date, loadAverage }) => `${commit} on ${date} at a load of ${loadAverage}`,
  );
  return [
    `${store}: measured with ${measuredOn.join(", and ")}; ${machine.cores} cores of ${machine.cpu}. The model beside runs that it was not fitted to:`,
    ...rows
      .filter(({ use }) => use === "check")
      .map((row) => {
        const errors = errorsOf(model, row);
        const shown = Object.entries(checkedOn(store)).map(
          ([figure, name]) => `${name} ${percent(errors[figure] ?? 0)}`,
        );
        return `  ${row.name}: ${shown.join(", ")}`;
      }),
  ];
}

/**
 * The figures that the model is checked in, with their names. Redis has next to nothing to do for one node with SQLite: what a run
 * costs it there is less than the noise of the measurement.
 */
export function checkedOn(store: StoreName): Readonly<Record<string, string>> {
  const onBoth = { allNodesMs: "CPU of the control plane", storeCalls: "calls of the store", storeBytes: "bytes" };
  return store === "sqlite" ? onBoth : { ...onBoth, redisMs: "CPU of Redis" };
}

function figures(run: Readonly<Record<string, number>>, names: readonly string[]): string {
  return names
    .map((name) => `${short(run[name] ?? 0)} ms of ${name === "nodeMs" ? "the node" : name.replace("Ms", "")}`)
    .join(", ");
}

const percent = (share: number): string => `${share < 0 ? "" : "+"}${(share * 100).toFixed(0)} %`;
const whole = (count: number): string => Math.round(count).toLocaleString("en");
const short = (count: number): string => (count >= 100 ? whole(count) : count.toPrecision(2));

function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${short(bytes / 1_000 ** at)} ${units[at]}`;
}

const FIGURE_NAMES: Readonly<Record<string, string>> = {
  edgeMs: "edge, ms",
  gatewayMs: "gateway, ms",
  workerMs: "worker, ms",
  nodeMs: "node, ms",
  redisMs: "Redis, ms",
  agentMs: "agent, ms",
  storeCalls: "store, calls",
  redisCalls: "Redis, calls",
  storeBytes: "stored, bytes",
};

/** The table of docs/capacity.md: what each kind of work costs by the model, in ms of the machine that was measured. */
export function costTable(record: StoreRecord): string {
  const model = modelOf(record.rows);
  const unitMs = unitOf(record);
  const names = Object.keys(FIGURE_NAMES).filter((figure) => model[figure] !== undefined);
  const cell = (value: number | undefined): string => (value === undefined ? "" : digits(value));
  const row = (what: string, costs: Readonly<Record<string, number>>): string =>
    `| ${[what, ...names.map((figure) => cell(costs[figure]))].join(" | ")} |`;
  const parts = WORK.map((work) =>
    row(
      MEANING[work],
      Object.fromEntries(names.map((figure) => [figure, model[figure]![work] * (figure.endsWith("Ms") ? unitMs : 1)])),
    ),
  );
  return [
    `| | ${names.map((figure) => FIGURE_NAMES[figure]).join(" | ")} |`,
    `| --- |${names.map(() => " ---: |").join("")}`,
    ...parts,
    row("a run that retention removes", record.rates.removedRun),
    row("a line that one viewer is shown", record.rates.viewedLine),
    row("a connected agent without work, a second", record.rates.agentSecond),
    row("the installation without work, a second", record.rates.idleSecond),
  ].join("\n");
}

/** Two digits; 0 for what noise may have made negative. */
function digits(value: number): string {
  const rounded = Math.max(0, Number(value.toPrecision(2)));
  return rounded >= 1_000 ? whole(rounded) : rounded < 0.0005 ? "0" : String(rounded);
}
