/** Log chunks in MongoDB. */
import type { Collection } from "mongodb";
import type { StepRunId } from "../../domain/ids.ts";
import { lastLineOf, type LogChunk, type LogLine, type LogStore } from "../logs.ts";
import { type Connection, guard, insertIfAbsent, type Keyed } from "./connection.ts";

export class MongoLogStore implements LogStore {
  readonly #chunks: Collection<Keyed>;
  readonly #heads: Collection<Keyed>;

  constructor(connection: Connection) {
    this.#chunks = connection.collection("log_chunks");
    this.#heads = connection.collection("log_heads");
  }

  /** Makes the indexes; idempotent. */
  async prepare(): Promise<void> {
    await guard(() => this.#chunks.createIndexes([{ key: { stepRunId: 1, first: 1, last: 1 } }]));
  }

  async append({ stepRunId, lines }: LogChunk): Promise<number> {
    const first = lines[0]!.line;
    const last = lastLineOf(lines.at(-1)!);
    const through = await this.storedThrough(stepRunId);
    if (first > through + 1 || last <= through) return through;
    // The chunk before the head: a head never speaks of lines that are not there.
    await insertIfAbsent(this.#chunks, { _id: `${stepRunId}:${first}:${last}`, stepRunId, first, last, lines });
    await guard(() => this.#heads.updateOne({ _id: stepRunId }, { $max: { through: last } }, { upsert: true }));
    return this.storedThrough(stepRunId);
  }

  async storedThrough(stepRunId: StepRunId): Promise<number> {
    const head = await guard(() => this.#heads.findOne({ _id: stepRunId }));
    return (head?.["through"] ?? 0) as number;
  }

  async read(stepRunId: StepRunId, fromLine: number, limit: number): Promise<readonly LogLine[]> {
    const found: LogLine[] = [];
    let next = fromLine;
    while (found.length < limit) {
      const chunk = await guard(() =>
        this.#chunks
          .find({ stepRunId, first: { $lte: next }, last: { $gte: next } })
          .sort({ first: -1, last: -1 })
          .limit(1)
          .next(),
      );
      if (chunk === null) break;
      for (const line of chunk["lines"] as LogLine[]) {
        if (lastLineOf(line) < next || found.length === limit) continue;
        found.push(line);
        next = lastLineOf(line) + 1;
      }
    }
    return found;
  }
}
