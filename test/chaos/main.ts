/**
 * `npm run chaos`: kills parts of real installations and checks that nothing was lost. Exit status 0: every promise was
 * kept; 1: a promise was broken; 2: the command line is wrong.
 */
import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Attack } from "../attack/attack.ts";
import { stopTestMongo } from "../support/mongo.ts";
import { attacksNamed } from "./load/attackers.ts";
import { readReport, type Report, reportOf, type ScenarioReport, tableOf, writeReport } from "./report.ts";
import { playScenario } from "./run-scenario.ts";
import { type Scenario, SCENARIOS, SHORT, SHORT_EMBEDDED } from "./scenarios.ts";
import { ProcessorBound } from "./world/processor-bound.ts";

const USAGE = `npm run chaos -- [options]

  --scenario all|NAME,...  which scenarios; default all
  --runs N                 least number of runs that a scenario starts; default 120
  --seed N                 repeats an earlier order of faults; default: a random seed, which is shown
  --json FILE              writes the results to FILE after every scenario
  --from NAME              starts with this scenario; with --json and the same --seed, earlier results in FILE are kept
  --cores N                holds each process to this share of a core, such as 0.5 (Linux with control groups, as root)
  --attack all|NAME,...    attackers play these attacks of npm run attack against the edges meanwhile
  --background FILE        continues in the background and writes all output to FILE

Scenarios:
${SCENARIOS.map(({ name, about }) => `  ${name.padEnd(24)} ${about}`).join("\n")}
`;

interface Settings {
  readonly scenarios: readonly Scenario[];
  readonly seed: number;
  readonly runs: number;
  readonly json: string | null;
  readonly from: string | null;
  readonly cores: number | null;
  readonly attacks: readonly Attack[];
}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  let settings: Settings;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        scenario: { type: "string", default: "all" },
        runs: { type: "string", default: "120" },
        seed: { type: "string" },
        json: { type: "string" },
        from: { type: "string" },
        cores: { type: "string" },
        attack: { type: "string" },
        background: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      return 0;
    }
    settings = await readSettings(values);
    if (values.background !== undefined) return goToBackground(argv, settings.seed, values.background);
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  return playAll(settings);
}

async function playAll({ scenarios, seed, runs, json, from, cores, attacks }: Settings): Promise<number> {
  const bound = cores === null ? null : await ProcessorBound.start(cores);
  const begin = from === null ? 0 : scenarios.findIndex(({ name }) => name === from);
  const before = new Set(scenarios.slice(0, begin).map(({ name }) => name));
  const kept = json === null ? [] : (await readReport(json, seed)).filter(({ name }) => before.has(name));
  const report: Report & { scenarios: ScenarioReport[] } = { seed, scenarios: [...kept] };
  const logFolder = join(tmpdir(), `millrace-chaos-${seed}`);
  for (const scenario of scenarios.slice(begin)) {
    say(`${scenario.name}: ${scenario.about} (seed ${seed})`);
    const outcome = await playScenario(scenario, { seed, runs, logFolder, say, attacks });
    report.scenarios.push(reportOf(outcome));
    for (const text of outcome.violations) say(`  VIOLATION ${text}`);
    if (outcome.violations.length > 0) say(`  the logs of all processes are in ${join(logFolder, scenario.name)}`);
    if (json !== null) await writeReport(json, report);
  }
  if (bound !== null) say(await bound.end());
  await stopTestMongo();
  process.stdout.write(`\n${tableOf(report)}\n`);
  const broken = report.scenarios.filter(({ violations }) => violations.length > 0);
  process.stdout.write(
    broken.length === 0
      ? "\nevery promise was kept\n"
      : `\npromises were broken in ${broken.map(({ name }) => name).join(", ")}\n`,
  );
  return broken.length === 0 ? 0 : 1;
}

/** Starts the same command detached from this terminal, with the seed that is shown. */
function goToBackground(argv: readonly string[], seed: number, file: string): number {
  const at = argv.findIndex((word) => word === "--background" || word.startsWith("--background="));
  const rest = argv.toSpliced(at, argv[at] === "--background" ? 2 : 1);
  const seeded = rest.some((word) => word.startsWith("--seed")) ? rest : [...rest, "--seed", String(seed)];
  const log = openSync(file, "a");
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), ...seeded], {
    detached: true,
    stdio: ["ignore", log, log],
  });
  child.unref();
  process.stdout.write(`process ${child.pid} continues with seed ${seed}; its log is ${resolve(file)}\n`);
  return 0;
}

async function readSettings(values: {
  readonly scenario: string;
  readonly runs: string;
  readonly seed?: string;
  readonly json?: string;
  readonly from?: string;
  readonly cores?: string;
  readonly attack?: string;
}): Promise<Settings> {
  const known = [...SCENARIOS, SHORT, SHORT_EMBEDDED];
  const names = values.scenario === "all" ? SCENARIOS.map(({ name }) => name) : values.scenario.split(",");
  const scenarios = names.map((name) => {
    const found = known.find((scenario) => scenario.name === name);
    if (found === undefined) throw new Error(`there is no scenario ${name}`);
    return found;
  });
  const from = values.from ?? null;
  if (from !== null && !names.includes(from)) throw new Error(`--from ${from} is not one of the chosen scenarios`);
  const cores = values.cores === undefined ? null : Number(values.cores);
  if (cores !== null && !(cores > 0)) throw new Error("--cores must be a number above 0");
  return {
    scenarios,
    from,
    cores,
    seed: values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : wholeNumber("--seed", values.seed),
    runs: wholeNumber("--runs", values.runs),
    json: values.json ?? null,
    attacks: values.attack === undefined ? [] : attacksNamed(values.attack),
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${option} must be a whole number from 1`);
  return Number(text);
}

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 23)} ${text}\n`);
}
