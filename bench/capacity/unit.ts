/**
 * The unit of processor time: a fixed loop that hashes, in the language of the program. Processor times of two machines, or of
 * one machine under different load, are compared by what the loop takes there.
 */
import { median } from "../measure/percentiles.ts";

const BYTES = 65_536;
const ROUNDS = 150;
const WARM_UPS = 3;
const TIMES = 7;

/** What the loop takes in this process, ms of processor time: the median of seven. */
export function measureUnit(): number {
  const bytes = Uint8Array.from({ length: BYTES }, (_, at) => (at * 131) & 255);
  const times: number[] = [];
  for (let time = -WARM_UPS; time < TIMES; time++) {
    const before = process.cpuUsage();
    const hash = hashOf(bytes);
    const { user, system } = process.cpuUsage(before);
    // Used, so that the loop is not optimised away.
    if (hash !== 0 && time >= 0) times.push((user + system) / 1_000);
  }
  return Number(median(times).toFixed(2));
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let round = 0; round < ROUNDS; round++) {
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash >>> 0;
}
