/**
 * Named pipes for the output of steps. A step must get real pipes: what Node itself gives a child are sockets, and a
 * script that writes to `/dev/stderr` cannot open those.
 */
import { execFile, execFileSync } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { MillraceError } from "../../domain/errors.ts";

const BATCH = 128;
/** Below so many, more are made while there is time. */
const LOW = 32;

/** One pipe for one stream of one step. */
export interface OutputPipe {
  /** What the step opens to write. */
  readonly path: string;
  /** Ends when every write end is closed, {@link OutputPipe.letGo} called. */
  readonly reader: Socket;
  /**
   * Gives up the agent's own write end, which keeps the reader from ending before the step has opened its own. Idempotent.
   */
  letGo(): void;
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

  /** Opens a pipe that nobody else holds. */
  open(): OutputPipe {
    if (this.#free.length === 0) this.#refillNow();
    const path = this.#free.pop()!;
    if (this.#free.length < LOW) this.#refillSoon();
    // The reader comes first: to open the write end of a pipe that nobody reads would block this process.
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writeEnd = openSync(path, constants.O_WRONLY);
    const reader = new Socket({ fd: readEnd, readable: true, writable: false });
    // Only a pipe that was seen to end is held by nobody, and as good as new.
    let hasEnded = false;
    reader.once("end", () => (hasEnded = true));
    reader.once("close", () => {
      if (hasEnded) this.#free.push(path);
      else unlinkSync(path);
    });
    let isHeld = true;
    const letGo = () => {
      if (isHeld) closeSync(writeEnd);
      isHeld = false;
    };
    return { path, reader, letGo };
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
