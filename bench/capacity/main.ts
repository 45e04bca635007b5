/**
 * `npm run capacity -- --runs-per-day 10M --steps 12 --agents 20000`: prints what installation a load needs and which limit comes
 * first, and how far the model is from the measured runs that it was not fitted to. `--help` lists the options, and
 * `--write-docs docs/capacity.md` renews that page from the record. Exit status 2: the command line is wrong.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { CommandLineError, HELP, readCommandLine } from "./command-line.ts";
import { readRecord } from "./record.ts";
import { renewed } from "./page.ts";
import { reportOf } from "./report.ts";
import { measureUnit } from "./unit.ts";

try {
  const given = readCommandLine(process.argv.slice(2));
  if (given === null) console.log(HELP);
  else if (given.docs !== null) writeDocs(given.docs);
  else console.log(reportOf(readRecord(), given.here ? { ...given.load, unitMs: measureUnit() } : given.load));
} catch (error) {
  if (!(error instanceof CommandLineError)) throw error;
  console.error(`${error.message}\n\n${HELP}`);
  process.exitCode = 2;
}

function writeDocs(file: string): void {
  writeFileSync(file, renewed(readFileSync(file, "utf8"), readRecord()));
  execFileSync("oxfmt", [file], { stdio: "inherit" });
}
