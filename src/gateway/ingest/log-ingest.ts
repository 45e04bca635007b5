/** Stores log lines of agents, and then publishes them to live viewers. */
import type { AgentId, StepRunId } from "../../domain/ids.ts";
import { logChannel } from "../../feed/feed.ts";
import { lastLineOf, type LogLine } from "../../stores/ports/logs.ts";
import type { IngestContext } from "./context.ts";
import { isGrantOf, type StepState } from "../../../actors/step/state.ts";

/** Bounds of one batch. */
const MAX_LINES = 1_000;
const MAX_BYTES = 1 << 20;
const MAX_LEVEL_LENGTH = 32;
/** The wire format of viewers has 32-bit line numbers. */
const MAX_LINE_NUMBER = 0x7fff_ffff;
/** Steps whose grant one stream remembers. */
const REMEMBERED_STEPS = 1_000;

export interface LogBatch {
  readonly stepRunId: StepRunId;
  readonly token: number;
  /** As the agent sent them: not validated yet. */
  readonly lines: readonly LogLine[];
}

export type LogVerdict =
  /** All lines up to `storedThrough` are stored. */
  | { readonly verdict: "stored"; readonly storedThrough: number }
  /** The step is not granted to the agent under this token. */
  | { readonly verdict: "refused" }
  /** The batch is empty or too large, a number is out of range, or a line does not follow the line before. */
  | { readonly verdict: "invalid" };

/** One agent's stream of batches. Calls of {@link push} must not overlap. */
export class LogIngest {
  readonly #context: IngestContext;
  readonly #agentId: AgentId;
  /** By step and token: the number up to which the store had all lines after the last batch. */
  readonly #storedThrough = new Map<string, number>();

  constructor(context: IngestContext, agentId: AgentId) {
    this.#context = context;
    this.#agentId = agentId;
  }

  /** Stores a batch. Rejects when the store cannot be reached; then the batch must not be acknowledged. */
  async push(batch: LogBatch): Promise<LogVerdict> {
    const { stepRunId, token, lines } = batch;
    if (!isWellFormed(lines)) return { verdict: "invalid" };
    const key = `${stepRunId}/${token}`;
    const before = this.#storedThrough.get(key) ?? (await this.#begin(stepRunId, token));
    if (before === undefined) return { verdict: "refused" };
    const { logs } = this.#context.stores;
    const storedThrough = await logs.append({ stepRunId, agentId: this.#agentId, lines });
    this.#remember(key, storedThrough);
    this.#publish(stepRunId, lines, before, storedThrough);
    return { verdict: "stored", storedThrough };
  }

  /**
   * Looks up the grant, once for each step run, which is granted only once. A final step still takes lines, which may
   * arrive after its end.
   */
  async #begin(stepRunId: StepRunId, token: number): Promise<number | undefined> {
    const { aggregates, logs } = this.#context.stores;
    const location = await aggregates.findStep(stepRunId);
    if (location === undefined || !isGrantOf(location.actor.state as StepState, this.#agentId, token)) return undefined;
    return logs.storedThrough(stepRunId);
  }

  #remember(key: string, storedThrough: number): void {
    this.#storedThrough.delete(key);
    this.#storedThrough.set(key, storedThrough);
    if (this.#storedThrough.size > REMEMBERED_STEPS) {
      this.#storedThrough.delete(this.#storedThrough.keys().next().value!);
    }
  }

  /** Publishes the lines that this batch has added. A viewer that misses them reads the store. */
  #publish(stepRunId: StepRunId, lines: readonly LogLine[], before: number, storedThrough: number): void {
    const fresh = lines.filter((line) => line.line <= storedThrough && lastLineOf(line) > before);
    if (fresh.length === 0) return;
    this.#context.feed.publish(logChannel(stepRunId), fresh).catch((error: unknown) => {
      this.#context.log.debug({ stepRunId, error: String(error) }, "log lines could not be published");
    });
  }
}

function isWellFormed(lines: readonly LogLine[]): boolean {
  if (lines.length === 0 || lines.length > MAX_LINES) return false;
  let expected = lines[0]!.line;
  let bytes = 0;
  for (const entry of lines) {
    if (entry.line !== expected || entry.line < 1 || entry.lost < 0) return false;
    if (!(entry.timeMs >= 0 && entry.timeMs <= Number.MAX_SAFE_INTEGER)) return false;
    if (entry.level.length > MAX_LEVEL_LENGTH) return false;
    expected = lastLineOf(entry) + 1;
    bytes += Buffer.byteLength(entry.content) + Buffer.byteLength(entry.level);
  }
  return expected - 1 <= MAX_LINE_NUMBER && bytes <= MAX_BYTES;
}
