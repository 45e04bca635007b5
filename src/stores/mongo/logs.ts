/** The store of log chunks in MongoDB. */
import { Binary, type Collection } from "mongodb";
import { DEFAULT_PROJECT, DEFAULT_TENANT, type ProjectId, type StepRunId, type TenantId } from "../../domain/ids.ts";
import { ColdChunks } from "../format/cold-chunks.ts";
import { type JoinPart, nextJoin } from "../format/join-chunks.ts";
import { packLines, unpackLines } from "../format/log-lines.ts";
import {
  type ChunkHeader,
  COLD_CHUNK_BYTES,
  type ColdPlace,
  type Compression,
  type CooledChunk,
  headerOf,
  joinedGap,
  type Joining,
  lastLineOf,
  type LogChunk,
  type LogLine,
  type LogSize,
  type LogStore,
  sizeOfLines,
  type WarmChunk,
} from "../ports/logs.ts";
import { DURABLE } from "./cluster/concerns.ts";
import { type Connection, insertIfAbsent, isDuplicateKey } from "./connection.ts";

interface Chunk {
  readonly _id: string;
  readonly stepRunId: StepRunId;
  readonly first: number;
  readonly last: number;
  /** Empty beside `packed` and `cold`. */
  readonly lines: readonly LogLine[];
  /** The lines, compressed as the header says; absent for `none`. */
  readonly packed?: Binary;
  /** Where the bytes are; absent while they are here. */
  readonly cold?: ColdPlace;
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
  /** The chunks are removed, or are being removed. */
  readonly gone?: true;
}

interface JoiningDocument extends Omit<Joining, "stepRunId"> {
  readonly _id: StepRunId;
}

/** A chunk on the way to a joined one. */
interface ChunkPart extends JoinPart {
  readonly chunk: Chunk;
}

/** How many logs one query names. */
const LOGS_AT_ONCE = 500;

/** Chunks that one round trip brings to be joined: small ones, but for a few. */
const JOINED_AT_ONCE = 64;

/**
 * The first round trip of a read brings one chunk, which may be large and enough. Each further round trip brings this
 * many times as many as the one before, because chunks may be small.
 */
const CHUNK_GROWTH = 4;

export class MongoLogStore implements LogStore {
  readonly #chunks: Collection<Chunk>;
  readonly #heads: Collection<Head>;
  readonly #joinings: Collection<JoiningDocument>;
  readonly #cold: ColdChunks;

  constructor(connection: Connection, cold = new ColdChunks()) {
    this.#cold = cold;
    this.#chunks = connection.collection("log_chunks");
    this.#heads = connection.collection("log_heads");
    this.#joinings = connection.collection("log_joinings");
  }

  async append(chunk: LogChunk): Promise<number> {
    const { stepRunId, lines, projectId = DEFAULT_PROJECT, compression = "none", joining } = chunk;
    const first = lines[0]!.line;
    const last = lastLineOf(lines.at(-1)!);
    const through = await this.storedThrough(stepRunId);
    // A chunk above a gap must not be stored; a chunk without new lines need not be.
    if (first > through + 1 || last <= through) return through;
    const extended = await this.#gapBefore(stepRunId, through, lines);
    const stored = extended === undefined ? lines : [joinedGap(extended.lines, lines)!];
    // The chunk is stored before the head, so that the head never counts lines that are missing.
    if (joining !== undefined) await this.#noteJoining({ stepRunId, ...joining });
    await insertIfAbsent(this.#chunks, await chunkOf(stepRunId, stored, projectId, compression));
    await this.#moveHead(stepRunId, last, extended === undefined ? sizeOfLines(lines) : { entries: 0, bytes: 0 });
    if (extended !== undefined) await this.#chunks.deleteOne({ _id: extended._id, stepRunId });
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
    let next = Math.max(1, fromLine);
    let used = 0;
    for (let count = 1; ;) {
      const chunks = await this.#chunks
        .find({ stepRunId, last: { $gte: next } })
        .sort({ last: 1, first: 1 })
        .limit(count)
        .toArray();
      for (const chunk of chunks) {
        // Small chunks are being deleted, whose joined one ends behind them; or the log is being removed.
        const whole = chunk.first <= next ? chunk : await this.#chunkWith(stepRunId, next);
        if (whole === undefined) return found;
        for (const line of await this.#linesOf(whole)) {
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

  async dueJoinings(now: number, limit: number): Promise<readonly Joining[]> {
    const due = await this.#joinings
      .find({ dueAt: { $lte: now } })
      .sort({ dueAt: 1 })
      .limit(limit)
      .toArray();
    return due.map(({ _id, fromLine, dueAt }) => ({ stepRunId: _id, fromLine, dueAt }));
  }

  async joinNext(stepRunId: StepRunId, fromLine: number): Promise<number | undefined> {
    // What a crash has left of the last join of a log that was removed.
    if (await this.#isGone(stepRunId)) {
      await this.#chunks.deleteMany({ stepRunId });
      return undefined;
    }
    const found = await nextJoin(this.#partsFrom(stepRunId, fromLine));
    if (found === undefined) return undefined;
    if ("whole" in found) {
      await this.#deleteWithin(found.whole.chunk);
      return fromLine;
    }
    const chunk = await chunkOf(stepRunId, found.lines, found.of.chunk.header!.projectId, "brotli");
    const joined = { ...chunk, _id: joinedIdOf(chunk) };
    await insertIfAbsent(this.#chunks, joined);
    if (await this.#isGone(stepRunId)) {
      await this.#chunks.deleteOne({ _id: joined._id, stepRunId });
      return undefined;
    }
    await this.#deleteWithin(joined);
    return joined.last + 1;
  }

  /**
   * Deletes the chunks that hold lines of this one alone. The last first: at any moment those that are left are the beginning
   * of this one, and sort before it.
   */
  async #deleteWithin({ _id: stays, stepRunId, first, last }: Chunk): Promise<void> {
    const within = await this.#chunks
      .find(
        { stepRunId, last: { $gte: first, $lte: last }, first: { $gte: first }, _id: { $ne: stays } },
        { projection: { _id: 1 } },
      )
      .sort({ last: -1, first: -1 })
      .toArray();
    if (within.length === 0) return;
    await this.#chunks.bulkWrite(within.map(({ _id }) => ({ deleteOne: { filter: { _id, stepRunId } } })));
  }

  async endJoining({ stepRunId, dueAt }: Joining): Promise<void> {
    await this.#joinings.deleteOne({ _id: stepRunId, dueAt });
  }

  async putOff({ stepRunId, dueAt }: Joining, next: Pick<Joining, "fromLine" | "dueAt">): Promise<void> {
    await this.#joinings.updateOne({ _id: stepRunId, dueAt }, { $set: { fromLine: next.fromLine, dueAt: next.dueAt } });
  }

  async warmChunks(stepRunId: StepRunId, fromLine: number, bytes: number): Promise<readonly WarmChunk[]> {
    const found: WarmChunk[] = [];
    let left = bytes;
    for await (const { chunk } of this.#partsFrom(stepRunId, fromLine)) {
      const { first, last, lines, packed, header } = chunk;
      if (header === undefined || chunk.cold !== undefined) continue;
      const body = packed?.buffer.subarray(0, packed.position) ?? Buffer.from(JSON.stringify(lines));
      if (body.length < COLD_CHUNK_BYTES) continue;
      found.push({ first, last, compression: header.compression, body });
      left -= body.length;
      if (left <= 0) break;
    }
    return found;
  }

  async cool(stepRunId: StepRunId, chunks: readonly CooledChunk[]): Promise<number> {
    const operations = chunks.map(({ first, last, place }) => ({
      updateOne: {
        filter: { stepRunId, first, last, cold: { $exists: false } },
        update: { $set: { cold: place, lines: [] }, $unset: { packed: "" as const } },
      },
    }));
    return (await this.#chunks.bulkWrite(operations)).matchedCount;
  }

  async coldBlobs(stepRunIds: readonly StepRunId[]): Promise<readonly string[]> {
    const found = new Set<string>();
    for (let at = 0; at < stepRunIds.length; at += LOGS_AT_ONCE) {
      const $in = stepRunIds.slice(at, at + LOGS_AT_ONCE);
      const ofLogs = { stepRunId: { $in }, cold: { $exists: true } };
      for (const blobId of await this.#chunks.distinct("cold.blobId", ofLogs)) found.add(blobId);
    }
    return [...found];
  }

  async coldChunks(stepRunId: StepRunId): Promise<readonly CooledChunk[]> {
    const found = await this.#chunks
      .find({ stepRunId, cold: { $exists: true } }, { projection: { first: 1, last: 1, cold: 1 } })
      .sort({ last: 1, first: 1 })
      .toArray();
    return found.map(({ first, last, cold }) => ({ first, last, place: cold! }));
  }

  async warm(stepRunId: StepRunId, chunks: readonly CooledChunk[]): Promise<readonly CooledChunk[]> {
    const bodies = await this.#cold.bodiesOf(chunks);
    const operations = chunks.flatMap(({ first, last, place }, at) => {
      const body = bodies[at]!;
      if (body === null) return [];
      const { blobId, offset, compression } = place;
      const stored =
        compression === "none"
          ? { lines: JSON.parse(Buffer.from(body).toString()) as readonly LogLine[] }
          : { packed: new Binary(body) };
      const filter = { stepRunId, first, last, "cold.blobId": blobId, "cold.offset": offset };
      return [{ updateOne: { filter, update: { $set: stored, $unset: { cold: "" as const } } } }];
    });
    if (operations.length > 0) await this.#chunks.bulkWrite(operations);
    return chunks.filter((_, at) => bodies[at] === null);
  }

  async *#partsFrom(stepRunId: StepRunId, fromLine: number): AsyncGenerator<ChunkPart, void, void> {
    const chunks = this.#chunks
      .find({ stepRunId, last: { $gte: fromLine } })
      .sort({ last: 1, first: 1 })
      .batchSize(JOINED_AT_ONCE);
    for await (const chunk of chunks) {
      const { first, last, header } = chunk;
      const bytes = bytesOf(chunk);
      yield { first, last, count: header?.lines ?? null, bytes, lines: () => this.#linesOf(chunk), chunk };
    }
  }

  /** The removal of a log marks its head, or deletes it, before it deletes the chunks. */
  async #isGone(stepRunId: StepRunId): Promise<boolean> {
    const head = await this.#heads.findOne({ _id: stepRunId });
    return head === null || head.gone === true;
  }

  async #linesOf(chunk: Chunk): Promise<readonly LogLine[]> {
    const { lines, packed, cold, header } = chunk;
    if (cold !== undefined) return this.#cold.linesOf(cold, chunk);
    if (packed === undefined) return lines;
    return unpackLines(packed.buffer.subarray(0, packed.position), header!.compression as Exclude<Compression, "none">);
  }

  async #chunkWith(stepRunId: StepRunId, line: number): Promise<Chunk | undefined> {
    const chunk = await this.#chunks.findOne(
      { stepRunId, last: { $gte: line }, first: { $lte: line } },
      { sort: { last: 1, first: 1 } },
    );
    return chunk ?? undefined;
  }

  async #noteJoining({ stepRunId, fromLine, dueAt }: Joining): Promise<void> {
    const update = { $set: { dueAt }, $setOnInsert: { fromLine } };
    await this.#joinings.updateOne({ _id: stepRunId }, update, { upsert: true }).catch((error: unknown) => {
      // Two gateways have noted it at the same time.
      if (!isDuplicateKey(error)) throw error;
    });
  }
}

/** The document of a chunk. Its id names its lines, so that a repeat is a duplicate. */
async function chunkOf(
  stepRunId: StepRunId,
  lines: readonly LogLine[],
  projectId: ProjectId,
  compression: Compression,
): Promise<Chunk> {
  const { first, last, ...header } = headerOf(lines, compression);
  return {
    _id: `${stepRunId}:${first}:${last}`,
    stepRunId,
    first,
    last,
    ...(compression === "none" ? { lines } : { lines: [], packed: new Binary(await packLines(lines, compression)) }),
    header: { tenantId: DEFAULT_TENANT, projectId, ...header },
  };
}

/**
 * The id of a joined chunk, which sorts behind those of the chunks that it replaces: a dump reads them in the order of their ids,
 * or of their insertion, while some are replaced.
 */
function joinedIdOf({ stepRunId, first, last }: Chunk): string {
  return `${stepRunId}:joined:${String(last).padStart(10, "0")}:${first}`;
}

/** What its lines take in the store. A cold chunk is not joined. */
function bytesOf({ lines, packed, cold }: Chunk): number {
  if (cold !== undefined) return Infinity;
  return packed?.position ?? lines.reduce((sum, { content }) => sum + content.length, 0);
}
