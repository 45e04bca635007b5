/**
 * Named pipes for the output of steps. A step must get real pipes: what Node itself gives a child are sockets, and a
 * script that writes to `/dev/stderr` cannot open those.
 */
import { execFile, execFileSync } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { MillraceError } from "../domain/errors.ts";

const BATCH = 128;
/** Below so many, more are made while there is time. */
const LOW = 32;

/** One pipe: what the child gets as a descriptor, and what the agent reads. */
export interface OutputPipe {
  /** Closes with {@link closeWriteEnd} once the child has its copy; the reader ends when every copy is closed. */
  readonly writeEnd: number;
  readonly reader: Socket;
}

export class FifoPool {
  readonly #folder: string;
  readonly #free: string[] = [];
  #made = 0;
  #refilling = false;

  /** Makes the first pipes in `folder`; `unavailable` when this system cannot. */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      this.#refillNow();
    } catch (error) {
      throw new MillraceError("unavailable", `cannot make named pipes in ${folder}: mkfifo is needed there`, {
        cause: error,
      });
    }
  }

  /** Opens a pipe that has no name any more: nobody but its holders can reach it. */
  open(): OutputPipe {
    if (this.#free.length === 0) this.#refillNow();
    const path = this.#free.pop()!;
    if (this.#free.length < LOW) this.#refillSoon();
    // The reader comes first: to open the write end of a pipe that nobody reads would block this process.
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writeEnd = openSync(path, constants.O_WRONLY);
    unlinkSync(path);
    return { writeEnd, reader: new Socket({ fd: readEnd, readable: true, writable: false }) };
  }

  #refillNow(): void {
    const paths = this.#newPaths();
    execFileSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" });
    this.#free.push(...paths);
  }

  #refillSoon(): void {
    if (this.#refilling) return;
    this.#refilling = true;
    const paths = this.#newPaths();
    execFile("mkfifo", ["-m", "600", ...paths], (error) => {
      this.#refilling = false;
      if (error === null) this.#free.push(...paths);
    });
  }

  #newPaths(): string[] {
    return Array.from({ length: BATCH }, () => join(this.#folder, `pipe-${this.#made++}`));
  }
}

/** Gives up the agent's own copy of the write end, without which the reader would never end. */
export function closeWriteEnd(pipe: OutputPipe): void {
  closeSync(pipe.writeEnd);
}
