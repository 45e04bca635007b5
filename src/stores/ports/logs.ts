/**
 * The port of logs: lines of step runs, stored as chunks that are keyed by their first line. The agent numbers the
 * lines once, from 1. Chunks may overlap, because an agent that reconnects sends again from its last acknowledged line;
 * `read` drops the repeats.
 */
import type { StepRunId } from "../../domain/ids.ts";

export type LogStream = "stdout" | "stderr";

/** One line, or a gap record: `lost` lines, the first of them `line`, that the agent lost for good. */
export interface LogLine {
  readonly line: number;
  /** Unix milliseconds, by the clock of the agent. Shown as whole seconds; never used for order. */
  readonly timeMs: number;
  readonly stream: LogStream;
  readonly level: string;
  readonly content: string;
  /** 0 for a line; for a gap record the number of lost lines. */
  readonly lost: number;
}

export interface LogChunk {
  readonly stepRunId: StepRunId;
  readonly agentId: string;
  /** Ascending and without gaps: each entry starts at the line after the end of the one before. Never empty. */
  readonly lines: readonly LogLine[];
}

export interface LogStore {
  /**
   * Stores a chunk and answers the highest line up to which all lines are stored. A chunk that starts above the line
   * after that one is not stored; the answer says from which line the agent sends again. A repeat changes nothing.
   */
  append(chunk: LogChunk): Promise<number>;
  /** The highest line up to which all lines are stored; 0 when there is none. */
  storedThrough(stepRunId: StepRunId): Promise<number>;
  /** Lines from `fromLine` (inclusive), ascending, each once, at most `limit` entries. */
  read(stepRunId: StepRunId, fromLine: number, limit: number): Promise<readonly LogLine[]>;
}

/** The number of the last line that an entry covers. */
export function lastLineOf(entry: LogLine): number {
  return entry.lost > 0 ? entry.line + entry.lost - 1 : entry.line;
}
