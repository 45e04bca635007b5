/** How long reading a page takes, and for how long it holds the event loop. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { median } from "../measure/percentiles.ts";

const ROUNDS = 30;
const PAUSE_MS = 5;

export interface Timing {
  readonly medianMs: number;
  readonly worstMs: number;
  /** The longest turn of the event loop, milliseconds. */
  readonly heldMs: number;
  /** Processor time of one read, in the median: milliseconds of all threads of this process. */
  readonly cpuMs: number;
}

/** Reads each page thirty times, in turns: what the machine does meanwhile, it does to all of them. */
export async function timingsOf(reads: readonly (() => Promise<unknown>)[]): Promise<readonly Timing[]> {
  const all = reads.map((read) => ({ read, times: [] as number[], cpu: [] as number[], held: 0 }));
  for (const { read } of all) await read();
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of all) {
      const from = mark();
      one.held = Math.max(one.held, await longestTurn(one.read));
      const now = mark();
      one.times.push(now.at - from.at);
      one.cpu.push(now.cpuMs - from.cpuMs);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  return all.map(({ times, cpu, held }) => ({
    medianMs: median(times),
    worstMs: Math.max(...times),
    heldMs: held,
    cpuMs: median(cpu),
  }));
}

/**
 * The longest turn of the event loop, milliseconds. What other programs take of a turn does not count, nor what other threads of
 * this process do meanwhile: a turn is as long as its processor time or its duration, whichever is less.
 */
async function longestTurn(read: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isDone = false;
  let from = mark();
  const work = read().finally(() => (isDone = true));
  while (!isDone) {
    await nextTurn();
    const now = mark();
    longest = Math.max(longest, Math.min(now.at - from.at, now.cpuMs - from.cpuMs));
    from = now;
  }
  await work;
  return longest;
}

function mark(): { readonly at: number; readonly cpuMs: number } {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), cpuMs: (user + system) / 1_000 };
}
