/** Reads the output of a process, masks secrets, and adds its lines to the log of the step. */
import type { Readable } from "node:stream";
import { LogStream } from "../../../proto/generated/gateway/v1/gateway.ts";
import type { AnnotationCapture } from "./annotation-capture.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { LogShipper } from "./log-shipper.ts";
import type { SecretFinder } from "./secret-finder.ts";
import { SecretMask } from "./secret-mask.ts";
import type { StepLog } from "./step-log.ts";

/** How long the pipes are read after the last process of the step has ended. */
const DRAIN_MS = 1_000;

/**
 * Beyond the limit of the log, the agent spends at most this share of its time on the output of the step. A step that
 * writes faster than the agent then reads (tens of megabytes a second) waits.
 */
const SHARE_BEYOND_LIMIT = 0.1;
/** The agent pauses after this much time, because its timers count in milliseconds. */
const SPELL_MS = 1;
/**
 * After this much time, the agent turns to everything else before it reads on. Without that, Node reads up to 2 MB of a step
 * that writes fast before heartbeats and other steps have their turn: seconds, on a busy machine more than a lease lasts.
 */
const TURN_MS = 5;

/** The log for the output of a step, and the secrets that must be masked in it. */
export interface OutputTarget {
  readonly shipper: LogShipper;
  readonly log: StepLog;
  readonly secrets: SecretFinder;
  /** Collects the annotations of the step. Lines beyond the limit of the log are not looked at. */
  readonly annotations: AnnotationCapture;
}

/**
 * Reads both streams until they end. The process waits only while it floods a log that is beyond its limit. Numbers lines
 * in the order of their arrival.
 */
export class OutputCapture {
  readonly #streams: readonly Readable[];
  readonly #target: OutputTarget;
  readonly #ended: Promise<unknown>;
  #isDraining = false;

  constructor(stdout: Readable, stderr: Readable, target: OutputTarget) {
    this.#target = target;
    this.#streams = [stdout, stderr];
    this.#ended = Promise.all([
      this.#read(stdout, LogStream.LOG_STREAM_STDOUT),
      this.#read(stderr, LogStream.LOG_STREAM_STDERR),
    ]);
  }

  /**
   * Reads the rest of both streams, for a second at most, since a process that no longer belongs to the step may hold a
   * stream open. Returns the number of the last line.
   */
  async drain(): Promise<bigint> {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.resume();
    const timer = setTimeout(() => this.#streams.forEach((stream) => stream.destroy()), DRAIN_MS);
    await this.#ended;
    clearTimeout(timer);
    this.#target.shipper.endTail(this.#target.log);
    return this.#target.log.lastLine;
  }

  #read(stream: Readable, name: LogStream): Promise<void> {
    const { shipper, log, secrets, annotations } = this.#target;
    let timeMs = 0;
    let spentMs = 0;
    const add = (line: string): void => {
      annotations.take(line, (level) => {
        shipper.add(log, name, line, timeMs, level);
        return log.lastLine;
      });
    };
    const lines = new LineSplitter(add, {
      takesBlocks: () => log.isBeyondLimit,
      add: (block) => shipper.addBlock(log, name, block, timeMs),
    });
    const mask = new SecretMask(secrets, (bytes) => lines.write(bytes));
    stream.on("data", (chunk: Buffer) => {
      timeMs = Date.now();
      const begunAt = performance.now();
      mask.write(chunk);
      spentMs += performance.now() - begunAt;
      const isFlood = log.isBeyondLimit && !this.#isDraining;
      if (spentMs < (isFlood ? SPELL_MS : TURN_MS)) return;
      stream.pause();
      if (isFlood) setTimeout(() => stream.resume(), spentMs / SHARE_BEYOND_LIMIT - spentMs);
      else setImmediate(() => stream.resume());
      spentMs = 0;
    });
    stream.on("error", () => {}); // "close" follows.
    return new Promise((resolve) => {
      let isOver = false;
      const end = () => {
        if (isOver) return;
        isOver = true;
        mask.end();
        lines.end();
        resolve();
      };
      // A stream that was read to its end closes later. One that is destroyed has no end.
      stream.once("end", end);
      stream.once("close", end);
    });
  }
}
