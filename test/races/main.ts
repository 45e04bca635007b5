/**
 * `npm run races -- --rounds 1000`: viewers race with what happens to runs. Exit status 0: each saw exactly what is stored;
 * 1: one did not; 2: the command line is wrong.
 */
import { parseArgs } from "node:util";
import { seeded } from "../chaos/world/random.ts";
import { RaceWorld } from "./race-world.ts";
import { playRaces } from "./races.ts";

const USAGE = `npm run races -- [options]

  --rounds N   how many rounds are played; default 1000
  --seed N     repeats the moments of an earlier call; default: a random seed, which is shown
`;

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  let rounds: number;
  let seed: number;
  try {
    const options = { rounds: { type: "string", default: "1000" }, seed: { type: "string" } } as const;
    const { values } = parseArgs({ args: [...argv], options });
    rounds = wholeNumber("--rounds", values.rounds);
    seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber("--seed", values.seed);
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  process.stdout.write(`seed ${seed}\n`);
  const world = await RaceWorld.start();
  try {
    await playRaces(world, rounds, seeded(seed), (played) => process.stdout.write(`${played} rounds\n`));
    return 0;
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n`);
    return 1;
  } finally {
    await world.stop();
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} must be a whole number`);
  return Number(text);
}
