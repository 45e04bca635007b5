/** The store of log chunks in MongoDB. */
import type { Collection } from "mongodb";
import type { StepRunId } from "../../domain/ids.ts";
import { lastLineOf, type LogChunk, type LogLine, type LogStore } from "../ports/logs.ts";
import { type Connection, DURABLE, insertIfAbsent } from "./connection.ts";

interface Chunk {
  readonly _id: string;
  readonly stepRunId: StepRunId;
  readonly first: number;
  readonly last: number;
  readonly lines: readonly LogLine[];
}

/**
 * The first round trip of a read brings one chunk, which may be large and enough. Each further round trip brings this
 * many times as many as the one before, because chunks may be small.
 */
const CHUNK_GROWTH = 4;

export class MongoLogStore implements LogStore {
  readonly #chunks: Collection<Chunk>;
  readonly #heads: Collection<{ _id: StepRunId; through: number }>;

  constructor(connection: Connection) {
    this.#chunks = connection.collection("log_chunks");
    this.#heads = connection.collection("log_heads");
  }

  async append({ stepRunId, lines }: LogChunk): Promise<number> {
    const first = lines[0]!.line;
    const last = lastLineOf(lines.at(-1)!);
    const through = await this.storedThrough(stepRunId);
    // A chunk above a gap must not be stored; a chunk without new lines need not be.
    if (first > through + 1 || last <= through) return through;
    // The chunk is stored before the head, so that the head never counts lines that are missing.
    await insertIfAbsent(this.#chunks, { _id: `${stepRunId}:${first}:${last}`, stepRunId, first, last, lines });
    await this.#heads.updateOne({ _id: stepRunId }, { $max: { through: last } }, { upsert: true });
    return this.storedThrough(stepRunId);
  }

  async storedThrough(stepRunId: StepRunId): Promise<number> {
    // The agent forgets the lines up to here: what only the primary has may be rolled back.
    return (await this.#heads.findOne({ _id: stepRunId }, DURABLE))?.through ?? 0;
  }

  async read(stepRunId: StepRunId, fromLine: number, limit: number): Promise<readonly LogLine[]> {
    // Each stored chunk begins at most one line after the chunks that end before it, so reading the chunks by their
    // ends skips no line.
    const found: LogLine[] = [];
    let next = fromLine;
    for (let count = 1; ; count *= CHUNK_GROWTH) {
      const chunks = await this.#chunks
        .find({ stepRunId, last: { $gte: next } })
        .sort({ last: 1, first: 1 })
        .limit(count)
        .toArray();
      for (const line of chunks.flatMap(({ lines }) => lines)) {
        if (lastLineOf(line) < next) continue;
        found.push(line);
        next = lastLineOf(line) + 1;
        if (found.length === limit) return found;
      }
      if (chunks.length < count) return found;
    }
  }
}
