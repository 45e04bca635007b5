/** The store of log chunks in MongoDB. */
import { Binary, type Collection } from "mongodb";
import { DEFAULT_PROJECT, DEFAULT_TENANT, type ProjectId, type StepRunId, type TenantId } from "../../domain/ids.ts";
import { packLines, unpackLines } from "../format/log-lines.ts";
import {
  type ChunkHeader,
  type Compression,
  headerOf,
  joinedGap,
  lastLineOf,
  type LogChunk,
  type LogLine,
  type LogSize,
  type LogStore,
  sizeOfLines,
} from "../ports/logs.ts";
import { type Connection, DURABLE, insertIfAbsent, isDuplicateKey } from "./connection.ts";

interface Chunk {
  readonly _id: string;
  readonly stepRunId: StepRunId;
  readonly first: number;
  readonly last: number;
  /** Empty beside `packed`. */
  readonly lines: readonly LogLine[];
  /** The lines, compressed as the header says; absent for `none`. */
  readonly packed?: Binary;
  /** Absent in chunks that a version before schema 6 stored. */
  readonly header?: StoredHeader;
}

interface StoredHeader extends Omit<ChunkHeader, "first" | "last"> {
  readonly tenantId: TenantId;
  readonly projectId: ProjectId;
}

interface Head {
  readonly _id: StepRunId;
  readonly through: number;
  /** Absent while only version 0.1 has stored chunks. */
  readonly entries?: number;
  readonly bytes?: number;
}

/**
 * The first round trip of a read brings one chunk, which may be large and enough. Each further round trip brings this
 * many times as many as the one before, because chunks may be small.
 */
const CHUNK_GROWTH = 4;

export class MongoLogStore implements LogStore {
  readonly #chunks: Collection<Chunk>;
  readonly #heads: Collection<Head>;

  constructor(connection: Connection) {
    this.#chunks = connection.collection("log_chunks");
    this.#heads = connection.collection("log_heads");
  }

  async append({ stepRunId, lines, projectId = DEFAULT_PROJECT, compression = "none" }: LogChunk): Promise<number> {
    const first = lines[0]!.line;
    const last = lastLineOf(lines.at(-1)!);
    const through = await this.storedThrough(stepRunId);
    // A chunk above a gap must not be stored; a chunk without new lines need not be.
    if (first > through + 1 || last <= through) return through;
    const extended = await this.#gapBefore(stepRunId, through, lines);
    const from = extended?.first ?? first;
    const stored = extended === undefined ? lines : [joinedGap(extended.lines, lines)!];
    // The chunk is stored before the head, so that the head never counts lines that are missing.
    const id = `${stepRunId}:${from}:${last}`;
    const { first: _first, last: _last, ...header } = headerOf(stored, compression);
    await insertIfAbsent(this.#chunks, {
      _id: id,
      stepRunId,
      first: from,
      last,
      ...(compression === "none"
        ? { lines: stored }
        : { lines: [], packed: new Binary(await packLines(stored, compression)) }),
      header: { tenantId: DEFAULT_TENANT, projectId, ...header },
    });
    await this.#moveHead(stepRunId, last, extended === undefined ? sizeOfLines(lines) : { entries: 0, bytes: 0 });
    if (extended !== undefined) await this.#chunks.deleteOne({ _id: extended._id });
    return this.storedThrough(stepRunId);
  }

  async size(stepRunId: StepRunId): Promise<LogSize> {
    const head = await this.#heads.findOne({ _id: stepRunId });
    return { entries: head?.entries ?? 0, bytes: head?.bytes ?? 0 };
  }

  /** The newest chunk, if it and the new lines are one gap record each. */
  async #gapBefore(stepRunId: StepRunId, through: number, lines: readonly LogLine[]): Promise<Chunk | undefined> {
    if (lines.length > 1 || lines[0]!.lost === 0) return undefined;
    const [chunk] = await this.#chunks.find({ stepRunId, last: through }).sort({ first: -1 }).limit(1).toArray();
    // A gap record alone is not worth compressing.
    const isOne = chunk?.lines.length === 1 && joinedGap(chunk.lines, lines) !== undefined;
    return isOne ? chunk : undefined;
  }

  /** Several gateways may store one chunk at the same time; it counts once, with the update that moves the head. */
  async #moveHead(stepRunId: StepRunId, last: number, { entries, bytes }: LogSize): Promise<void> {
    const update = { $set: { through: last }, $inc: { entries, bytes } };
    // The head of a new log is inserted by the first update. A head that is there and further on is a duplicate key.
    await this.#heads
      .updateOne({ _id: stepRunId, through: { $lt: last } }, update, { upsert: true })
      .catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
      });
  }

  async storedThrough(stepRunId: StepRunId): Promise<number> {
    // The agent forgets the lines up to here: what only the primary has may be rolled back.
    return (await this.#heads.findOne({ _id: stepRunId }, DURABLE))?.through ?? 0;
  }

  async read(
    stepRunId: StepRunId,
    fromLine: number,
    limit: number,
    chars = Number.POSITIVE_INFINITY,
  ): Promise<readonly LogLine[]> {
    // Each stored chunk begins at most one line after the chunks that end before it, so reading the chunks by their
    // ends skips no line.
    const found: LogLine[] = [];
    let next = fromLine;
    let used = 0;
    for (let count = 1; ;) {
      const chunks = await this.#chunks
        .find({ stepRunId, last: { $gte: next } })
        .sort({ last: 1, first: 1 })
        .limit(count)
        .toArray();
      for (const chunk of chunks) {
        for (const line of await linesOf(chunk)) {
          if (lastLineOf(line) < next) continue;
          found.push(line);
          next = lastLineOf(line) + 1;
          used += line.content.length;
          if (found.length === limit) return found;
        }
        if (used >= chars) return found;
      }
      if (chunks.length < count) return found;
      // No more chunks than the rest of the characters may take, by the size of those that came.
      const fitting = Math.ceil(((chars - used) * count) / Math.max(1, used));
      count = Math.max(1, Math.min(count * CHUNK_GROWTH, fitting));
    }
  }

  async headers(stepRunId: StepRunId, fromLine: number, limit: number): Promise<readonly ChunkHeader[]> {
    const chunks = this.#chunks
      .find({ stepRunId, last: { $gte: fromLine }, header: { $exists: true } }, { projection: { lines: 0, packed: 0 } })
      .sort({ last: 1, first: 1 })
      .limit(limit);
    return chunks
      .map(({ first, last, header }): ChunkHeader => {
        const { lines, firstStderr, firstError, compression } = header!;
        return { first, last, lines, firstStderr, firstError, compression };
      })
      .toArray();
  }
}

async function linesOf({ lines, packed, header }: Chunk): Promise<readonly LogLine[]> {
  if (packed === undefined) return lines;
  return unpackLines(packed.buffer.subarray(0, packed.position), header!.compression as Exclude<Compression, "none">);
}
