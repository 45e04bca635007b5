/** A named pipe into which the processes of steps write marks, and which this process reads. */
import { execFileSync } from "node:child_process";
import { constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Marks } from "./system.ts";

const TIMEOUT_MS = 30_000;

interface Mark {
  readonly at: number;
  times: number;
}

export class FifoMarks implements Marks {
  readonly #file: string;
  readonly #socket: Socket;
  readonly #marks = new Map<string, Mark>();
  readonly #awaited = new Map<string, (mark: Mark) => void>();

  /** `folder` must exist. */
  constructor(folder: string) {
    this.#file = join(folder, "marks");
    execFileSync("mkfifo", [this.#file]);
    // Open for reading and writing, so that the pipe does not end when the last writer closes it.
    const descriptor = openSync(this.#file, constants.O_RDWR | constants.O_NONBLOCK);
    this.#socket = new Socket({ fd: descriptor, readable: true, writable: false });
    createInterface(this.#socket).on("line", (id) => this.#add(id));
  }

  command(id: string): readonly [program: string, ...args: string[]] {
    return ["sh", "-c", `echo ${id} > ${this.#file}`];
  }

  async seen(id: string): Promise<number> {
    const mark = this.#marks.get(id) ?? (await this.#next(id));
    if (mark.times > 1) throw new Error(`the step ${id} ran ${mark.times} times`);
    return mark.at;
  }

  close(): void {
    this.#socket.destroy();
  }

  #add(id: string): void {
    const known = this.#marks.get(id);
    if (known !== undefined) {
      known.times++;
      return;
    }
    const mark = { at: performance.now(), times: 1 };
    this.#marks.set(id, mark);
    this.#awaited.get(id)?.(mark);
    this.#awaited.delete(id);
  }

  #next(id: string): Promise<Mark> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the step ${id} did not start in time`)), TIMEOUT_MS);
      this.#awaited.set(id, (mark) => {
        clearTimeout(timer);
        resolve(mark);
      });
    });
  }
}
