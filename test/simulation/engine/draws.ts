/** What chance decides in a simulation. All draws come from one seed. */
import { type Random, seeded } from "../../chaos/world/random.ts";

export interface Draws extends Random {
  /** True with this probability. */
  chance(probability: number): boolean;
  /** From 0 to below 1. */
  fraction(): number;
  /** A text of random characters, different in each call. */
  name(prefix: string): string;
}

const PARTS = 2 ** 30;
const CHARACTERS = "0123456789abcdefghjkmnpqrstvwxyz";

export function drawsOf(random: Random): Draws {
  let names = 0;
  const fraction = (): number => random.between(0, PARTS - 1) / PARTS;
  return {
    ...random,
    fraction,
    // Without a draw for what never happens: so a fault that a seed does not have costs nothing.
    chance: (probability) => probability > 0 && fraction() < probability,
    name(prefix) {
      const characters = Array.from({ length: 6 }, () => CHARACTERS[random.between(0, CHARACTERS.length - 1)]);
      return `${prefix}-${++names}${characters.join("")}`;
    },
  };
}

export function drawsOfSeed(seed: number, part: string): Draws {
  return drawsOf(seeded(seed).fork(part));
}
