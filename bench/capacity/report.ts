/** What `npm run capacity` prints. Pure. */
import { columns } from "./columns.ts";
import type { GivenLoad } from "./command-line.ts";
import {
  type Costs,
  errorsOf,
  isTime,
  modelOf,
  predicted,
  type StoreName,
  type StoreRecord,
  withAllNodes,
} from "./model.ts";
import { BUSY, type Capacity, capacityFor, inMs, type Limit, type Load, unitOf } from "./plan.ts";
import { amountsOf, MEANING, WORK } from "./shapes.ts";

/** Without a unit in the load, the machines are as fast as the one that the store was measured on. */
export function reportOf(records: readonly StoreRecord[], given: GivenLoad): string {
  const [scaled, embedded] = [recordOf(records, "mongodb"), recordOf(records, "sqlite")];
  const capacityOf = (record: StoreRecord): Capacity =>
    capacityFor(loadOn(record, given), modelOf(record.rows), record);
  return [
    askedLines(given, capacityOf(scaled)),
    scaledLines(given, capacityOf(scaled)),
    embeddedLines(given, capacityOf(embedded)),
    checkLines([scaled, embedded]),
  ]
    .map((lines) => lines.join("\n"))
    .join("\n\n");
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

function askedLines(load: GivenLoad, { runsPerSecond, linesPerSecond }: Capacity): readonly string[] {
  const lines = load.steps * load.lines;
  const parts = [
    counted(load.jobs, "job"),
    counted(load.steps, "step"),
    ...(lines === 0 ? [] : [counted(lines, "log line")]),
    ...(load.artifacts === 0 ? [] : [counted(load.artifacts, "artifact")]),
  ];
  const peak = [
    counted(runsPerSecond, "run"),
    counted(runsPerSecond * load.steps, "step"),
    ...(linesPerSecond === 0 ? [] : [counted(linesPerSecond, "log line")]),
  ];
  return [
    "Asked for",
    `  ${counted(load.runsPerDay, "run")} a day, each of ${listed(parts)}`,
    `  ${whole(load.agents)} connected agents${load.viewers === 0 ? "" : `, and ${whole(load.viewers)} people who follow a log`}`,
    `  at the peak, ${load.peak} times the mean of the day: ${listed(peak)} a second`,
  ];
}

function scaledLines(load: GivenLoad, capacity: Capacity): readonly string[] {
  const { parts, shards, redisProcessors, redisServers, redisBytes, commandsPerSecond, replicaSets } = capacity;
  const ofOne = `${BUSY} processors`;
  const nodes = parts.map(({ name, needed, processors }) => [name, whole(needed), busy(processors), ofOne]);
  const perDay = capacity.runBytes / Math.max(1, load.keepRunsDays);
  const costs: Costs = { ...capacity.run, storeBytes: (capacity.run["storeBytes"] ?? 0) - capacity.logBytesOfRun };
  return [
    "With MongoDB and Redis",
    ...indented(
      columns([
        ["", "needed", "used at the peak", "planned for one"],
        ...nodes,
        ["Redis servers", whole(redisServers), busy(redisProcessors), ofOne],
        [
          "MongoDB replica sets",
          whole(replicaSets),
          `${whole(commandsPerSecond)} commands/s`,
          `${whole(load.mongoCommands)} commands/s`,
        ],
      ]),
    ),
    "  several Redis servers are a Redis Cluster, several replica sets a sharded MongoDB: both are assumed to share evenly",
    `  add one of each kind of node, so that one may fail; MAILBOX_SHARDS: ${shards}`,
    `  memory of Redis: ${size(redisBytes)}, for the agents and ${counted(load.waiting, "waiting job")}`,
    `  documents in MongoDB: ${keptText(load, capacity)}, ${size(perDay)} of runs a day`,
    "    (MongoDB compresses them; its indexes come on top)",
    `  one run takes ${listed(figures(costs, ["edgeMs", "gatewayMs", "workerMs", "redisMs"]))};`,
    `    ${listed([
      `${short(costs["storeCalls"] ?? 0)} commands of MongoDB`,
      `${size(costs["storeBytes"] ?? 0)} of documents`,
      ...(capacity.logBytesOfRun === 0 ? [] : [`${size(capacity.logBytesOfRun)} of logs`]),
    ])}`,
    ...limitLines(load, capacity.limits),
  ];
}

function embeddedLines(load: GivenLoad, capacity: Capacity): readonly string[] {
  const { run, limits } = capacity;
  return [
    "With SQLite, in one node",
    `  file: ${keptText(load, capacity)}`,
    `  one run takes ${listed(figures(run, ["nodeMs", "redisMs"]))}`,
    ...limitLines(load, limits),
  ];
}

/** What is stored when the oldest runs and logs begin to be removed. */
function keptText(load: GivenLoad, { runBytes, logBytes }: Capacity): string {
  const runs = `${size(runBytes)} for the runs of ${counted(load.keepRunsDays, "day")}`;
  if (logBytes === 0) return runs;
  return `${runs}, ${size(logBytes)} for the logs of ${counted(Math.min(load.keepLogsDays, load.keepRunsDays), "day")}`;
}

function limitLines(load: GivenLoad, limits: readonly Limit[]): readonly string[] {
  return [
    "  limits, the one that comes first on top:",
    ...indented(indented(columns(limits.map((limit) => [limit.name, reachedAt(load, limit)])))),
  ];
}

function reachedAt(load: GivenLoad, { runsPerDay, agents }: Limit): string {
  const beside = load.agents === 0 ? "" : ` beside ${counted(load.agents, "agent")}`;
  if (runsPerDay > 0) {
    const isEnough = runsPerDay >= load.runsPerDay;
    return `used up by ${about(runsPerDay)} runs a day${beside}: ${isEnough ? "enough" : "fewer than asked for"}`;
  }
  if (agents === null || agents === 0) return `used up without a run by ${whole(load.viewers)} people who follow a log`;
  const alone = `used up by ${counted(load.agents, "agent")} without a single run`;
  return `${alone}; it is used up from ${about(agents)} agents on`;
}

/** How far the model is from the runs that it was not fitted to. */
function checkLines(records: readonly StoreRecord[]): readonly string[] {
  return [
    "How much the model is above or below measured runs that it was not fitted to",
    ...records.flatMap((record) => {
      const rows = record.rows.map(withAllNodes);
      const model = modelOf(rows);
      const checked = Object.entries(checkedOn(record.store));
      const table = rows
        .filter(({ use }) => use === "check")
        .map((row) => {
          const errors = errorsOf(model, row);
          return [row.name, ...checked.map(([figure]) => percent(errors[figure] ?? 0))];
        });
      const { cores, cpu } = record.machine;
      const unit = `takes ${short(unitOf(record))} ms for the loop of bench/capacity/unit.ts`;
      return [
        `  with ${STORE_NAMES[record.store]}, on a machine with ${counted(cores, "core")} of ${cpu} that ${unit}`,
        ...sessionsOf(record).map((session) => `  measured with ${session}`),
        ...indented(indented(columns([["", ...checked.map(([, name]) => name)], ...table]))),
      ];
    }),
  ];
}

/** The runs that the model was not fitted to: what they cost, beside what the model says. Times are those of the machine. */
export function checkTable(records: readonly StoreRecord[]): string {
  const rows = records.flatMap((record) => {
    const measured = record.rows.map(withAllNodes);
    const model = modelOf(measured);
    const figures = Object.entries({ ...checkedOn(record.store), redisMs: "processor of Redis" });
    return measured
      .filter(({ use }) => use === "check")
      .flatMap((row) => {
        const expected = inMs(predicted(model, amountsOf(row)), row.unitMs);
        return figures.map(([figure, name]) => {
          const unit = isTime(figure) ? ", ms" : "";
          return [row.name, STORE_NAMES[record.store], `${name}${unit}`, row.cost[figure]!, expected[figure]!] as const;
        });
      });
  });
  return [
    "| a run of | on | | measured | by the model |",
    "| --- | --- | --- | ---: | ---: |",
    ...rows.map(([run, on, what, cost, by]) => `| ${[run, on, what, digits(cost, 3), digits(by, 3)].join(" | ")} |`),
  ].join("\n");
}

const STORE_NAMES: Readonly<Record<StoreName, string>> = { mongodb: "MongoDB", sqlite: "SQLite" };

function sessionsOf({ rows, rates }: StoreRecord): readonly string[] {
  const sessions = new Map([...rows, rates].map(({ session }) => [JSON.stringify(session), session]));
  return [...sessions.values()].map(
    ({ commit, date, loadAverage }) =>
      `commit ${commit.replace(/\+$/, " and uncommitted changes")} on ${date} at a load average of ${loadAverage}`,
  );
}

/**
 * The figures that the model is checked in, with their names. Redis has next to nothing to do for one node with SQLite: what a run
 * costs it there is less than the noise of the measurement.
 */
export function checkedOn(store: StoreName): Readonly<Record<string, string>> {
  const onBoth = { allNodesMs: "processors of nodes", storeCalls: "calls of the store", storeBytes: "bytes" };
  return store === "sqlite" ? onBoth : { ...onBoth, redisMs: "processor of Redis" };
}

/** The processor time of each part of the installation that takes some. */
function figures(run: Readonly<Record<string, number>>, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const part = PARTS[name] ?? name;
    const ms = run[name] ?? 0;
    return ms < LEAST_MS ? [] : [`${short(ms)} ms of ${part}`];
  });
}

const PARTS: Readonly<Record<string, string>> = {
  edgeMs: "the edge's processor",
  gatewayMs: "the gateway's",
  workerMs: "the worker's",
  nodeMs: "the node's processor",
  redisMs: "Redis'",
};
/** Less is what the noise of the measurement hides. */
const LEAST_MS = 0.05;

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);
const busy = (processors: number): string => `${processors < 0.01 ? "less than 0.01" : short(processors)} processors`;
const percent = (share: number): string => `${share < 0 ? "" : "+"}${(share * 100).toFixed(0)} %`;
const whole = (count: number): string => Math.round(count).toLocaleString("en");
const short = (count: number): string => (count >= 100 ? whole(count) : String(Number(count.toPrecision(2))));
/** Two digits: the model is no nearer. */
const about = (count: number): string => whole(Number(count.toPrecision(2)));
const counted = (count: number, what: string): string =>
  `${count < 10 ? short(count) : whole(count)} ${what}${count === 1 ? "" : "s"}`;

/** `a, b and c`. */
function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

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
      Object.fromEntries(names.map((figure) => [figure, model[figure]![work] * (isTime(figure) ? unitMs : 1)])),
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

/** So many digits; 0 for what noise may have made negative. */
function digits(value: number, count = 2): string {
  const rounded = Math.max(0, Number(value.toPrecision(count)));
  return rounded >= 1_000 ? whole(rounded) : rounded < 0.0005 ? "0" : String(rounded);
}
