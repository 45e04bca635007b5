/**
 * The port of logs: lines of step runs, stored as chunks that are keyed by their first line. The agent numbers the
 * lines once, from 1. Chunks may overlap, because an agent that reconnects sends again from its last acknowledged line;
 * `read` drops the repeats.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { ProjectId, StepRunId } from "../../domain/ids.ts";

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

/** How the lines of a stored chunk are compressed. */
export type Compression = "none" | "gzip" | "brotli";

export interface LogChunk {
  readonly stepRunId: StepRunId;
  readonly agentId: string;
  /** The project of the run; absent for the default project. */
  readonly projectId?: ProjectId;
  /** How the lines are stored; absent for `none`. */
  readonly compression?: Compression;
  /** From then on the small chunks of the log, this one included, are to be joined; absent for no word about that. */
  readonly joining?: Pick<Joining, "fromLine" | "dueAt">;
  /** Ascending and without gaps: each entry starts at the line after the end of the one before. Never empty. */
  readonly lines: readonly LogLine[];
}

/** What is known of a stored chunk without its lines. Numbers of lines are null where the chunk has none of that kind. */
export interface ChunkHeader {
  /** Numbers of the first and the last line. */
  readonly first: number;
  readonly last: number;
  /** Lines and gap records. */
  readonly lines: number;
  /** The first line that the step wrote to its standard error. */
  readonly firstStderr: number | null;
  /** The first line with the level `error`. */
  readonly firstError: number | null;
  readonly compression: Compression;
}

/** Where the bytes of a cold chunk are: in an object of the object storage, among those of other chunks of its log. */
export interface ColdPlace {
  readonly blobId: string;
  readonly offset: number;
  readonly bytes: number;
  readonly compression: Compression;
}

/** A chunk whose bytes are in the store. */
export interface WarmChunk extends Pick<ChunkHeader, "first" | "last" | "compression"> {
  /** The lines as JSON, compressed. */
  readonly body: Uint8Array;
}

/** A chunk whose bytes are stored in an object. */
export interface CooledChunk extends Pick<ChunkHeader, "first" | "last"> {
  readonly place: ColdPlace;
}

/** Cold lines cannot be read now. The store itself may be well. */
export class ColdLogError extends MillraceError {}

export function noObjectStorage(): ColdLogError {
  return new ColdLogError(
    "unavailable",
    "lines of the log are in an object storage, and MILLRACE_OBJECT_STORAGE names none: set it as it was, and restart the node",
  );
}

/** What the stored chunks of a log hold together. Lines of chunks that overlap count more than once. */
export interface LogSize {
  /** Lines and gap records. */
  readonly entries: number;
  /** UTF-8 bytes of the lines, without their ends. */
  readonly bytes: number;
}

/** A log whose small chunks are to be joined into few large ones. */
export interface Joining {
  readonly stepRunId: StepRunId;
  /** The first line of the first small chunk. */
  readonly fromLine: number;
  /** Unix milliseconds. Later than the last line was stored, in the end: a log that grows is not joined yet. */
  readonly dueAt: number;
}

export interface LogStore {
  /**
   * Stores a chunk and answers the highest line up to which all lines are stored. A chunk that starts above the line
   * after that one is not stored; the answer says from which line the agent sends again. A repeat changes nothing. A
   * chunk that is one gap record extends the gap record before it if that one is a chunk of its own, so that a log which
   * only loses lines takes no more room.
   */
  append(chunk: LogChunk): Promise<number>;
  /** The size of what is stored of a log. Chunks that version 0.1 stored do not count. */
  size(stepRunId: StepRunId): Promise<LogSize>;
  /** The highest line up to which all lines are stored; 0 when there is none. */
  storedThrough(stepRunId: StepRunId): Promise<number>;
  /**
   * Lines from `fromLine` (inclusive), ascending, each once, at most `limit` entries. With `chars`, ends early with the
   * chunk whose lines make the sum of their characters reach it.
   */
  read(stepRunId: StepRunId, fromLine: number, limit: number, chars?: number): Promise<readonly LogLine[]>;
  /**
   * Headers of the chunks that end at `fromLine` or later, by their last line. Chunks that a version before schema 6
   * stored have none.
   */
  headers(stepRunId: StepRunId, fromLine: number, limit: number): Promise<readonly ChunkHeader[]>;
  /** Logs that are to be joined by now, those that wait longest first. A later word about a log replaces its time only. */
  dueJoinings(now: number, limit: number): Promise<readonly Joining[]>;
  /**
   * Joins the next small chunks from a line on into one, and answers the line behind it; undefined when there are none.
   * A gap record that is a chunk of its own stays one. A reader finds each line once at any moment, and so does the next
   * call after a crash. One process at a time joins the chunks of a log; two harm no line, but may leave some twice.
   */
  joinNext(stepRunId: StepRunId, fromLine: number): Promise<number | undefined>;
  /** The log is joined. Does nothing when there was a later word about it. */
  endJoining(joining: Joining): Promise<void>;
  /** The log is looked at again later. Does nothing when there was a later word about it. */
  putOff(joining: Joining, next: Pick<Joining, "fromLine" | "dueAt">): Promise<void>;
  /**
   * Chunks that end at `fromLine` or later and are worth moving to an object storage, by their last line: one, or as many as
   * have `bytes` together. Chunks without a header and very small ones stay in the store.
   */
  warmChunks(stepRunId: StepRunId, fromLine: number, bytes: number): Promise<readonly WarmChunk[]>;
  /**
   * Keeps the places of these chunks instead of their bytes, and answers how many it found: they are gone when the log was
   * removed, and stay as they are when they are cold already. From then on `read` reads the objects, and rejects with a
   * {@link ColdLogError} while it cannot. Lines of an object that is gone are one gap record. A crash leaves some chunks
   * warm, which are found again.
   */
  cool(stepRunId: StepRunId, chunks: readonly CooledChunk[]): Promise<number>;
  /** The objects that hold lines of these logs. */
  coldBlobs(stepRunIds: readonly StepRunId[]): Promise<readonly string[]>;
  /** The cold chunks of a log, by their last line. */
  coldChunks(stepRunId: StepRunId): Promise<readonly CooledChunk[]>;
  /**
   * Takes the bytes of these chunks back from their objects, which stay: a reader may just have found their names. Answers
   * those chunks whose bytes are not there as they were moved; these stay cold. What was removed or moved meanwhile stays as it
   * is. Rejects with a {@link ColdLogError} while the objects cannot be read. A crash leaves some chunks cold, which are found
   * again.
   */
  warm(stepRunId: StepRunId, chunks: readonly CooledChunk[]): Promise<readonly CooledChunk[]>;
}

/** A log with fewer bytes of lines stays in the store: an object takes more room than its chunks. */
export const COLD_LOG_BYTES = 65_536;
/** A stored chunk with fewer bytes is about as large as its place. */
export const COLD_CHUNK_BYTES = 512;

/** The id of an object with lines of this log. `unique`: of this object alone, because ids of steps may come again. */
export function coldBlobIdOf(stepRunId: StepRunId, unique: string): string {
  return `log_${stepRunId}_${unique}`;
}

/** The log that the object was made for. */
export function logOfColdBlob(blobId: string): StepRunId {
  return blobId.slice("log_".length, blobId.lastIndexOf("_")) as StepRunId;
}

/** A chunk with so many lines, or so many bytes of lines, is not small. */
const SMALL = { lines: 500, bytes: 16_384 } as const;

/** True for a chunk that is worth joining with those beside it. `bytes`: of its lines, compressed or not. */
export function isSmall({ lines, bytes }: { readonly lines: number; readonly bytes: number }): boolean {
  return lines < SMALL.lines && bytes < SMALL.bytes;
}

/** The header of a chunk of these lines. */
export function headerOf(lines: readonly LogLine[], compression: Compression = "none"): ChunkHeader {
  const isStderr = ({ stream, lost }: LogLine): boolean => lost === 0 && stream === "stderr";
  const isError = ({ level, lost }: LogLine): boolean => lost === 0 && level === "error";
  return {
    first: lines[0]!.line,
    last: lastLineOf(lines.at(-1)!),
    lines: lines.length,
    firstStderr: lines.find(isStderr)?.line ?? null,
    firstError: lines.find(isError)?.line ?? null,
    compression,
  };
}

/** What these lines add to the size of a log. */
export function sizeOfLines(lines: readonly LogLine[]): LogSize {
  return { entries: lines.length, bytes: lines.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) };
}

/**
 * The chunk of one gap record that stands for `last`, the newest stored chunk of a log, and `next` together. Undefined
 * when one of them is not a single gap record.
 */
export function joinedGap(last: readonly LogLine[], next: readonly LogLine[]): LogLine | undefined {
  const [before, after] = [last[0]!, next[0]!];
  if (last.length !== 1 || next.length !== 1 || before.lost === 0 || after.lost === 0) return undefined;
  return { ...before, lost: lastLineOf(after) - before.line + 1 };
}

/** The number of the last line that an entry covers. */
export function lastLineOf(entry: LogLine): number {
  return entry.lost > 0 ? entry.line + entry.lost - 1 : entry.line;
}
