/**
 * Log lines of step runs, stored as chunks keyed by their first line. Numbers are given once, at the agent, from 1.
 * Chunks may overlap (an agent that reconnects sends again from its last acknowledged line); readers drop repeats.
 */
import type { StepRunId } from "../../domain/ids.ts";

export type LogStream = "stdout" | "stderr";

/** One line, or the record of a gap: `lost` lines from `line` on that will never come. */
export interface LogLine {
  readonly line: number;
  /** Unix milliseconds at the agent; shown as whole seconds, never used for order. */
  readonly timeMs: number;
  readonly stream: LogStream;
  readonly level: string;
  readonly content: string;
  /** 0 for a line; for a gap record the number of lines that are lost, the first of them `line`. */
  readonly lost: number;
}

export interface LogChunk {
  readonly stepRunId: StepRunId;
  readonly agentId: string;
  /** Ascending and without holes: each entry starts where the one before ended. Never empty. */
  readonly lines: readonly LogLine[];
}

export interface LogStore {
  /**
   * Stores a chunk and answers the highest line up to which everything is stored. A chunk that starts above that
   * line plus one is not stored (the answer tells the agent from where to send again).
   */
  append(chunk: LogChunk): Promise<number>;
  /** The highest line up to which everything is stored; 0 when there is none. */
  storedThrough(stepRunId: StepRunId): Promise<number>;
  /** Lines from `fromLine` (inclusive) on, ascending, each once, at most `limit` entries. */
  read(stepRunId: StepRunId, fromLine: number, limit: number): Promise<readonly LogLine[]>;
}

/** Last line number that an entry stands for. */
export function lastLineOf(entry: LogLine): number {
  return entry.lost > 0 ? entry.line + entry.lost - 1 : entry.line;
}
