/**
 * Where the program's log goes: a file, or stderr. A line that cannot be written, because the disk is full or no
 * program reads it, is dropped and counted, since a log must never end or hold up the process that writes it. One line tells the
 * count as soon as lines can be written again.
 */
import { mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How often the log is tried again while lines are dropped. */
const RETRY_MS = 1_000;
/** How long a line waits for the reader of a pipe that is full. */
const BUSY_MS = 200;
const BUSY_STEP_MS = 5;

const blocked = new Int32Array(new SharedArrayBuffer(4));

export interface LogLinesOptions {
  /** Appends to this file, which is made when the first line is written; a number is an open descriptor. */
  readonly target: string | number;
  /** The line that says how many lines were dropped, and why. */
  readonly notice: (dropped: number, why: string) => string;
  /** Writes to a descriptor, as `writeSync`; tests replace it. */
  readonly write?: (descriptor: number, bytes: Uint8Array) => number;
}

export class LogLines {
  readonly #options: LogLinesOptions;
  readonly #put: (descriptor: number, bytes: Uint8Array) => number;
  #descriptor: number | undefined;
  #dropped = 0;
  #why = "";
  /** True when the end of the last line could not be written. */
  #isTorn = false;
  #isTrying = false;

  constructor(options: LogLinesOptions) {
    this.#options = options;
    this.#put = options.write ?? writeSync;
  }

  /** Writes a line, which ends with a line feed. Never throws. */
  write(line: string): void {
    if (this.#dropped > 0 && !this.tell()) return this.#drop(undefined);
    try {
      this.#append(line);
    } catch (error) {
      this.#drop(error as NodeJS.ErrnoException);
    }
  }

  /** Writes the count of the dropped lines; false while that is not possible. */
  tell(): boolean {
    if (this.#dropped === 0) return true;
    try {
      this.#append(this.#options.notice(this.#dropped, this.#why));
      this.#dropped = 0;
      return true;
    } catch {
      return false;
    }
  }

  #append(text: string): void {
    const bytes = Buffer.from(this.#isTorn ? `\n${text}` : text);
    const descriptor = (this.#descriptor ??= open(this.#options.target));
    const busyUntil = performance.now() + BUSY_MS;
    for (let done = 0; done < bytes.length;) {
      try {
        done += this.#put(descriptor, bytes.subarray(done));
      } catch (error) {
        const isBusy = (error as NodeJS.ErrnoException).code === "EAGAIN";
        // After the first dropped line no line waits, so that a reader that has stopped costs the process nothing.
        if (isBusy && this.#dropped === 0 && performance.now() < busyUntil) {
          Atomics.wait(blocked, 0, 0, BUSY_STEP_MS);
          continue;
        }
        if (done > 0) this.#isTorn = true;
        throw error;
      }
    }
    this.#isTorn = false;
  }

  #drop(error: NodeJS.ErrnoException | undefined): void {
    if (error !== undefined) this.#why = error.code ?? error.message;
    this.#dropped++;
    if (!this.#isTrying) void this.#tellLater();
  }

  async #tellLater(): Promise<void> {
    this.#isTrying = true;
    do await sleep(RETRY_MS, undefined, { ref: false });
    while (!this.tell());
    this.#isTrying = false;
  }
}

function open(target: string | number): number {
  if (typeof target === "number") return target;
  mkdirSync(dirname(target), { recursive: true });
  return openSync(target, "a");
}
