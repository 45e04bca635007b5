/**
 * `npm run bench`: measures millrace and other systems that do the same work. Exit status 0: everything was measured;
 * 1: a measurement failed, for instance because a step was lost or ran twice; 2: the command line is wrong.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stopTestMongo } from "../test/support/mongo.ts";
import { RUN_COSTS } from "../test/node/run-costs.ts";
import { ProcessWorld } from "../test/support/processes.ts";
import { type BenchSettings, readArguments, USAGE } from "./arguments.ts";
import { contestantsOf } from "./contestants.ts";
import { addEntry, entryOf, readHistory, refusalToRecord } from "./history.ts";
import { currentCommit, describeMachine, loadAverage } from "./machine.ts";
import { FifoMarks } from "./marks.ts";
import { type Mongo, startMongo } from "./millrace/mongo.ts";
import { installPeers } from "./peers/install.ts";
import { type Report, tableOf, withTable, writeReport } from "./report.ts";
import { Samples } from "./results.ts";
import { playRounds } from "./rounds.ts";
import type { Figure } from "./system.ts";

const ON_MONGODB = ["W1", "W2", "W3", "W13"] as const;

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  let settings: BenchSettings | null;
  try {
    settings = readArguments(argv);
    // Check the page and the history before the long work, not after it.
    if (settings?.markdown) withTable(await readFile(settings.markdown, "utf8"), "");
    if (settings?.record) {
      const measured = { commit: currentCommit(), counts: RUN_COSTS, reason: settings.reason };
      const refusal = refusalToRecord(measured, readHistory());
      if (refusal !== null) throw new Error(refusal);
    }
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (settings === null) {
    process.stdout.write(USAGE);
    return 0;
  }
  try {
    await measure(settings);
    return 0;
  } catch (error) {
    process.stderr.write(`error: ${explain(error)}\n`);
    return 1;
  } finally {
    await stopTestMongo();
  }
}

async function measure(settings: BenchSettings): Promise<void> {
  const commit = currentCommit();
  const machine = describeMachine(settings.node);
  if (settings.peers) installPeers();
  const world = await ProcessWorld.create();
  const marks = new FifoMarks(world.folder);
  const samples = new Samples();
  const reportAfter = (rounds: number): Report => ({ commit, machine, rounds, results: samples.results() });
  try {
    const folder = join(world.folder, "rounds");
    await mkdir(folder);
    await playRounds({
      ...settings,
      contestants: contestantsOf(settings, await mongoFor(settings), world.folder),
      folder,
      marks,
      onFigures(round, workload, subject, figures) {
        samples.add(workload, subject, figures);
        say(`round ${round}  ${workload} ${subject.system} (${subject.store})  ${figures.map(shown).join(", ")}`);
      },
      async onRound(round) {
        say(`round ${round} of ${settings.rounds} has ended; load average ${loadAverage()}`);
        if (settings.json !== null) await writeReport(settings.json, reportAfter(round));
      },
    });
  } finally {
    marks.close();
    await world.end();
  }
  const report = reportAfter(settings.rounds);
  const table = tableOf(report);
  process.stdout.write(`\n${table}\n`);
  const { markdown, record, reason } = settings;
  if (record) addEntry(entryOf(report, { counts: RUN_COSTS, date: new Date(), reason }));
  if (markdown !== null) await writeFile(markdown, withTable(await readFile(markdown, "utf8"), table));
}

/** Null when no chosen workload uses MongoDB, or when no server is available. */
async function mongoFor({ only }: BenchSettings): Promise<Mongo | null> {
  if (!ON_MONGODB.some((workload) => only.has(workload))) return null;
  try {
    const mongo = await startMongo();
    if (!mongo.real)
      say("no real MongoDB is available: the test server stands in for it, and W1 to W3 are only counted on it");
    return mongo;
  } catch (error) {
    say(`without MongoDB: ${(error as Error).message}`);
    return null;
  }
}

function shown({ metric, unit, value }: Figure): string {
  return `${metric} ${Number(value.toPrecision(4))} ${unit}`;
}

/** The message of the error and of all its causes. */
function explain(error: unknown): string {
  const { message, cause } = error as Error;
  return cause === undefined ? message : `${message}: ${explain(cause)}`;
}

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
