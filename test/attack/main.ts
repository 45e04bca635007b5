/**
 * `npm run attack`: attacks an installation that it starts on loopback, and prints what the installation's other users
 * notice. Exit status 0: the installation survived every attack within the bounds; 1: it did not; 2: the command line
 * is wrong.
 */
import { parseArgs } from "node:util";
import type { Attack } from "./attack.ts";
import { ATTACKS as attacks } from "./attacks.ts";
import { type Outcome, play } from "./play.ts";
import { BOUNDS, headingOf, lineOf, missesOf } from "./report.ts";

const USAGE = `npm run attack -- [options]

  --only NAME,...  which attacks; default all, each against an installation of its own
  --together       all of them at once against one installation
  --seconds N      how long an attack goes on; default 20, with --together 60
  --rest N         seconds from the end of an attack to the last figure of memory; default 60

Bounds, which apply to the attacks at once: p99 of health below ${BOUNDS.healthMs} ms, p99 of the triggers of others below
${BOUNDS.triggerMs} ms, memory below ${BOUNDS.memoryMb} MB, no lease lost.

Attacks:
${attacks.map(({ name, as, title }) => `  ${name.padEnd(24)} (${as}) ${title}`).join("\n")}
`;

process.exitCode = await main();

async function main(): Promise<number> {
  let settings: ReturnType<typeof readSettings>;
  try {
    settings = readSettings();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (settings === null) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { chosen, together, seconds, rest } = settings;
  const rounds = together ? [chosen] : chosen.map((attack) => [attack]);
  const misses: string[] = [];
  process.stdout.write(headingOf());
  for await (const outcome of play({ rounds, attackMs: seconds * 1_000, restMs: rest * 1_000 })) {
    process.stdout.write(lineOf(outcome));
    misses.push(...missed(outcome, together));
  }
  const kept = together ? "all bounds are kept" : "the control plane survived";
  process.stdout.write(`\n${misses.length === 0 ? kept : misses.join("\n")}\n`);
  return misses.length === 0 ? 0 : 1;
}

/** An attack alone must leave the installation alive; all bounds hold for the attacks at once. */
function missed(outcome: Outcome, together: boolean): readonly string[] {
  if (!outcome.survived) return [`${outcome.attacks.join(", ")}: the control plane has ended`];
  return together && outcome.attacks.length > 0 ? missesOf(outcome) : [];
}

/** Null for `--help`. Throws an error that says what is wrong with the arguments. */
function readSettings(): {
  readonly chosen: readonly Attack[];
  readonly together: boolean;
  readonly seconds: number;
  readonly rest: number;
} | null {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      together: { type: "boolean", default: false },
      seconds: { type: "string" },
      rest: { type: "string", default: "60" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  return {
    chosen: values.only === undefined ? attacks : values.only.split(",").map(attackNamed),
    together: values.together,
    seconds: readSeconds("--seconds", values.seconds ?? (values.together ? "60" : "20"), 1),
    rest: readSeconds("--rest", values.rest, 0),
  };
}

function attackNamed(name: string): Attack {
  const attack = attacks.find((each) => each.name === name);
  if (attack === undefined) throw new Error(`--only: there is no attack ${JSON.stringify(name)}`);
  return attack;
}

function readSeconds(option: string, text: string, least: number): number {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : -1;
  if (seconds < least || seconds > 3_600) throw new Error(`${option} must be a whole number from ${least} to 3600`);
  return seconds;
}
