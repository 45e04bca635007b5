/**
 * Named pipes for the output of steps. Steps need real pipes: Node itself connects a child process by sockets, and a
 * script that writes to `/dev/stderr` cannot open a socket.
 */
import { execFile, execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, mkdirSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { giveTo, type Owner } from "./step-user.ts";

/** How many pipes one call of mkfifo creates. */
const BATCH = 128;
/** When fewer pipes than this are free, more are created in the background. */
const LOW = 32;
/** How many pipes are open before a step needs them: the two of the next step. */
const READY = 2;
/** How long the opening of those waits: until then, the agent would take a processor from the process of the step that begins. */
const OPEN_AFTER_MS = 2;

/** One pipe for one stream of one step. */
export interface OutputPipe {
  /** The path that the step opens for writing. */
  readonly path: string;
  /** Ends when the processes of the step have closed their write ends and {@link closeWriteEnd} was called. */
  readonly reader: Socket;
  /**
   * Closes the agent's own write end, which keeps the reader from ending before the step has opened the pipe.
   * Idempotent.
   */
  closeWriteEnd(): void;
}

export class FifoPool {
  readonly #folder: string;
  readonly #user: Owner | undefined;
  readonly #free: string[] = [];
  /** Open pipes that no step has. */
  readonly #ready: OutputPipe[] = [];
  #made = 0;
  #refilling = false;
  #isOpening = false;

  /**
   * Creates the first pipes in `folder`. Throws `unavailable` when this system cannot create named pipes. `user`: as whom
   * steps run; absent: as the agent.
   */
  constructor(folder: string, user?: Owner) {
    this.#folder = folder;
    this.#user = user;
    try {
      this.#refillNow();
    } catch (error) {
      throw new MillraceError("unavailable", `cannot make named pipes in ${folder}: mkfifo is needed there`, {
        cause: error,
      });
    }
  }

  /** Opens a pipe that no other step uses. Closing its reader returns the pipe to the pool. */
  open(): OutputPipe {
    const pipe = this.#takeReady() ?? this.#open();
    this.#openSoon();
    return pipe;
  }

  #takeReady(): OutputPipe | undefined {
    for (;;) {
      const pipe = this.#ready.pop();
      if (pipe === undefined) return undefined;
      if (existsSync(pipe.path)) {
        pipe.reader.ref();
        return pipe;
      }
      pipe.closeWriteEnd();
      pipe.reader.destroy();
    }
  }

  /** Opens the pipes of the next step later: the step that has just taken some starts first. */
  #openSoon(): void {
    if (this.#isOpening || this.#ready.length >= READY) return;
    this.#isOpening = true;
    setTimeout(() => {
      this.#isOpening = false;
      try {
        while (this.#ready.length < READY) this.#ready.push(this.#open());
      } catch {
        // The next step tries again, and reports the error.
      }
      // They must not keep the process alive.
      for (const { reader } of this.#ready) reader.unref();
    }, OPEN_AFTER_MS).unref();
  }

  #open(): OutputPipe {
    const { path, readEnd } = this.#openFree();
    if (this.#free.length < LOW) this.#refillSoon();
    const writeEnd = openSync(path, constants.O_WRONLY);
    const reader = new Socket({ fd: readEnd, readable: true, writable: false });
    // A pipe whose end was read has no writers left and can be used again. Any other pipe is removed.
    let hasEnded = false;
    reader.once("end", () => (hasEnded = true));
    reader.once("close", () => {
      if (hasEnded) this.#free.push(path);
      else rmSync(path, { force: true });
    });
    let isHeld = true;
    const closeWriteEnd = () => {
      if (isHeld) closeSync(writeEnd);
      isHeld = false;
    };
    return { path, reader, closeWriteEnd };
  }

  /**
   * Opens the read end of a free pipe. It is opened first: opening the write end of a pipe without a reader would block
   * this process. Passes over pipes that another process has removed, such as one that cleans temporary files.
   */
  #openFree(): { readonly path: string; readonly readEnd: number } {
    for (;;) {
      const isNew = this.#free.length === 0;
      if (isNew) this.#refillNow();
      const path = this.#free.pop()!;
      try {
        return { path, readEnd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) };
      } catch (error) {
        if (isNew || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  }

  #refillNow(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const paths = this.#newPaths();
    execFileSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" });
    this.#add(paths);
  }

  #refillSoon(): void {
    if (this.#refilling) return;
    this.#refilling = true;
    const paths = this.#newPaths();
    execFile("mkfifo", ["-m", "600", ...paths], (error) => {
      this.#refilling = false;
      if (error === null) this.#add(paths);
    });
  }

  #add(paths: readonly string[]): void {
    for (const path of paths) giveTo(this.#user, path);
    this.#free.push(...paths);
  }

  #newPaths(): string[] {
    return Array.from({ length: BATCH }, () => join(this.#folder, `pipe-${this.#made++}`));
  }
}
