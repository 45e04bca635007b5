/** From the output of a process to the numbered lines of its log. */
import type { Readable } from "node:stream";
import { LogStream } from "../../../proto/generated/gateway/v1/gateway.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { LogShipper } from "./log-shipper.ts";
import type { SecretFinder } from "./secret-finder.ts";
import { SecretMask } from "./secret-mask.ts";
import type { StepLog } from "./step-log.ts";

/** How long what is still in the pipes is read once everything that could write is gone. */
const DRAIN_MS = 1_000;

/** Where the output of a step goes, and what must not show in it. */
export interface OutputTarget {
  readonly shipper: LogShipper;
  readonly log: StepLog;
  readonly secrets: SecretFinder;
}

/** Reads both streams until they end, however fast they come; numbers lines in the order in which they arrive. */
export class OutputCapture {
  readonly #streams: readonly Readable[];
  readonly #target: OutputTarget;
  readonly #ended: Promise<unknown>;

  constructor(stdout: Readable, stderr: Readable, target: OutputTarget) {
    this.#target = target;
    this.#streams = [stdout, stderr];
    this.#ended = Promise.all([
      this.#read(stdout, LogStream.LOG_STREAM_STDOUT),
      this.#read(stderr, LogStream.LOG_STREAM_STDERR),
    ]);
  }

  /**
   * Reads what is left, for a second at most: something that no longer belongs to the step may hold a stream open.
   * Answers the number of the last line.
   */
  async drain(): Promise<bigint> {
    const timer = setTimeout(() => this.#streams.forEach((stream) => stream.destroy()), DRAIN_MS);
    await this.#ended;
    clearTimeout(timer);
    return this.#target.log.lastLine;
  }

  #read(stream: Readable, name: LogStream): Promise<void> {
    const { shipper, log, secrets } = this.#target;
    let timeMs = 0;
    const lines = new LineSplitter((line) => shipper.add(log, name, line, timeMs));
    const mask = new SecretMask(secrets, (bytes) => lines.write(bytes));
    stream.on("data", (chunk: Buffer) => {
      timeMs = Date.now();
      mask.write(chunk);
    });
    stream.on("error", () => {}); // "close" follows.
    return new Promise((resolve) =>
      stream.once("close", () => {
        mask.end();
        lines.end();
        resolve();
      }),
    );
  }
}
