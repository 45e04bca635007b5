/** The store of log chunks in SQLite. */
import { DEFAULT_PROJECT, DEFAULT_TENANT, type ProjectId, type StepRunId } from "../../domain/ids.ts";
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
import type { Database, Row } from "./database.ts";

/** The first bytes of every gzip stream. Source: RFC 1952, section 2.3.1. */
const GZIP_START = [0x1f, 0x8b] as const;
/** Chunks that are read together to be joined: small ones, but for a few. */
const JOINED_AT_ONCE = 64;

/** A row of `log_chunks` on the way to a joined chunk. */
interface ChunkPart extends JoinPart {
  readonly row: Row;
  readonly projectId: ProjectId;
}

/** True for a row whose body is a place. */
const IS_COLD = "(substr(body, 1, 1) = '{')";

export class SqliteLogStore implements LogStore {
  readonly #db: Database;
  readonly #cold: ColdChunks;

  constructor(db: Database, cold = new ColdChunks()) {
    this.#db = db;
    this.#cold = cold;
  }

  async append(chunk: LogChunk): Promise<number> {
    const { stepRunId, lines, projectId = DEFAULT_PROJECT, compression = "none", joining } = chunk;
    const body = compression === "none" ? JSON.stringify(lines) : await packLines(lines, compression);
    const first = lines[0]!.line;
    const last = lastLineOf(lines.at(-1)!);
    const { entries, bytes } = sizeOfLines(lines);
    return this.#db.bulk(() => {
      const through = this.#throughNow(stepRunId);
      // A chunk above a gap must not be stored; a chunk without new lines need not be.
      if (first > through + 1 || last <= through) return through;
      if (!this.#extendGapNow(stepRunId, through, lines)) {
        this.#putChunkNow(stepRunId, projectId, headerOf(lines, compression), body);
        this.#db.runNow(
          `INSERT INTO log_sizes VALUES (?1, ?2, ?3)
           ON CONFLICT (step_run_id) DO UPDATE SET entries = entries + ?2, bytes = bytes + ?3`,
          stepRunId,
          entries,
          bytes,
        );
        if (joining !== undefined) this.#noteJoiningNow({ stepRunId, ...joining });
      }
      this.#db.runNow(
        "INSERT INTO log_heads VALUES (?, ?) ON CONFLICT (step_run_id) DO UPDATE SET through = excluded.through",
        stepRunId,
        last,
      );
      return last;
    });
  }

  async size(stepRunId: StepRunId): Promise<LogSize> {
    const row = await this.#db.get("SELECT entries, bytes FROM log_sizes WHERE step_run_id = ?", stepRunId);
    return { entries: (row?.["entries"] ?? 0) as number, bytes: (row?.["bytes"] ?? 0) as number };
  }

  async storedThrough(stepRunId: StepRunId): Promise<number> {
    const row = await this.#db.get("SELECT through FROM log_heads WHERE step_run_id = ?", stepRunId);
    return (row?.["through"] ?? 0) as number;
  }

  async read(
    stepRunId: StepRunId,
    fromLine: number,
    limit: number,
    chars = Number.POSITIVE_INFINITY,
  ): Promise<readonly LogLine[]> {
    const found: LogLine[] = [];
    let next = fromLine;
    let left = chars;
    // Each stored chunk begins at most one line after the chunks that end before it, so reading the chunks by their
    // ends skips no line.
    for (;;) {
      const row = await this.#db.get(
        `SELECT first_line, last_line, body FROM log_chunks WHERE step_run_id = ? AND last_line >= ?
         ORDER BY last_line, first_line LIMIT 1`,
        stepRunId,
        next,
      );
      if (row === undefined) return found;
      for (const line of await this.#linesOf(stepRunId, row)) {
        if (lastLineOf(line) < next) continue;
        found.push(line);
        next = lastLineOf(line) + 1;
        left -= line.content.length;
        if (found.length === limit) return found;
      }
      if (left <= 0) return found;
    }
  }

  async headers(stepRunId: StepRunId, fromLine: number, limit: number): Promise<readonly ChunkHeader[]> {
    const rows = await this.#db.all(
      `SELECT * FROM log_headers WHERE step_run_id = ? AND last_line >= ? ORDER BY last_line, first_line LIMIT ?`,
      stepRunId,
      fromLine,
      limit,
    );
    return rows.map((row) => ({
      first: row["first_line"] as number,
      last: row["last_line"] as number,
      lines: row["lines"] as number,
      firstStderr: row["first_stderr"] as number | null,
      firstError: row["first_error"] as number | null,
      compression: row["compression"] as Compression,
    }));
  }

  async dueJoinings(now: number, limit: number): Promise<readonly Joining[]> {
    const rows = await this.#db.all("SELECT * FROM log_joinings WHERE due_at <= ? ORDER BY due_at LIMIT ?", now, limit);
    return rows.map((row) => ({
      stepRunId: row["step_run_id"] as StepRunId,
      fromLine: row["from_line"] as number,
      dueAt: row["due_at"] as number,
    }));
  }

  async joinNext(stepRunId: StepRunId, fromLine: number): Promise<number | undefined> {
    const found = await nextJoin(this.#partsFrom(stepRunId, fromLine));
    if (found === undefined) return undefined;
    if ("whole" in found) {
      await this.#db.freeing(() => this.#deleteWithinNow(stepRunId, found.whole));
      return fromLine;
    }
    const header = headerOf(found.lines, "brotli");
    const body = await packLines(found.lines, "brotli");
    await this.#db.freeing(() => {
      // A log whose chunks are gone was removed meanwhile.
      const isThere = this.#deleteWithinNow(stepRunId, header, false) > 0;
      if (isThere) this.#putChunkNow(stepRunId, found.of.projectId, header, body);
    });
    return header.last + 1;
  }

  /** Deletes the chunks that hold lines of this one alone, and answers how many. This one stays when it `isStored`. */
  #deleteWithinNow(
    stepRunId: StepRunId,
    { first, last }: Pick<ChunkHeader, "first" | "last">,
    isStored = true,
  ): number {
    const within = `step_run_id = ? AND last_line BETWEEN ?2 AND ?3 AND first_line >= ?2 ${isStored ? "AND (last_line, first_line) <> (?3, ?2)" : ""}`;
    this.#db.runNow(`DELETE FROM log_headers WHERE ${within}`, stepRunId, first, last);
    return this.#db.runNow(`DELETE FROM log_chunks WHERE ${within}`, stepRunId, first, last);
  }

  async endJoining({ stepRunId, dueAt }: Joining): Promise<void> {
    await this.#db.run("DELETE FROM log_joinings WHERE step_run_id = ? AND due_at = ?", stepRunId, dueAt);
  }

  async putOff({ stepRunId, dueAt }: Joining, next: Pick<Joining, "fromLine" | "dueAt">): Promise<void> {
    await this.#db.run(
      "UPDATE log_joinings SET from_line = ?, due_at = ? WHERE step_run_id = ? AND due_at = ?",
      next.fromLine,
      next.dueAt,
      stepRunId,
      dueAt,
    );
  }

  async warmChunks(stepRunId: StepRunId, fromLine: number, bytes: number): Promise<readonly WarmChunk[]> {
    const found: WarmChunk[] = [];
    let left = bytes;
    for await (const { row, count, first, last } of this.#partsFrom(stepRunId, fromLine)) {
      const body = row["body"] as string | Uint8Array;
      if (count === null || body.length < COLD_CHUNK_BYTES || placeIn(body) !== undefined) continue;
      const isText = typeof body === "string";
      // Bytes were once kept as a text.
      const stored = isText ? Buffer.from(body, body.startsWith("[") ? "utf8" : "base64") : body;
      found.push({ first, last, compression: row["compression"] as Compression, body: stored });
      left -= stored.length;
      if (left <= 0) break;
    }
    return found;
  }

  cool(stepRunId: StepRunId, chunks: readonly CooledChunk[]): Promise<number> {
    return this.#db.freeing(() => {
      let cooled = 0;
      for (const { first, last, place } of chunks) {
        cooled += this.#db.runNow(
          `UPDATE log_chunks SET body = ? WHERE step_run_id = ? AND last_line = ? AND first_line = ? AND ${IS_COLD} = 0`,
          JSON.stringify(place),
          stepRunId,
          last,
          first,
        );
      }
      return cooled;
    });
  }

  async coldBlobs(stepRunIds: readonly StepRunId[]): Promise<readonly string[]> {
    const rows = await this.#db.all(
      `SELECT DISTINCT json_extract(body, '$.blobId') AS blob_id FROM log_chunks
       WHERE step_run_id IN (SELECT value FROM json_each(?)) AND ${IS_COLD}`,
      JSON.stringify(stepRunIds),
    );
    return rows.map((row) => row["blob_id"] as string);
  }

  async coldChunks(stepRunId: StepRunId): Promise<readonly CooledChunk[]> {
    const rows = await this.#db.all(
      `SELECT first_line, last_line, body FROM log_chunks WHERE step_run_id = ? AND ${IS_COLD} ORDER BY last_line, first_line`,
      stepRunId,
    );
    return rows.map((row) => ({
      first: row["first_line"] as number,
      last: row["last_line"] as number,
      place: placeIn(row["body"])!,
    }));
  }

  async warm(stepRunId: StepRunId, chunks: readonly CooledChunk[]): Promise<readonly CooledChunk[]> {
    const bodies = await this.#cold.bodiesOf(chunks);
    await this.#db.bulk(() => {
      for (const [at, { first, last, place }] of chunks.entries()) {
        const body = bodies[at]!;
        if (body === null) continue;
        this.#db.runNow(
          "UPDATE log_chunks SET body = ? WHERE step_run_id = ? AND last_line = ? AND first_line = ? AND body = ?",
          place.compression === "none" ? Buffer.from(body).toString() : body,
          stepRunId,
          last,
          first,
          JSON.stringify(place),
        );
      }
    });
    return chunks.filter((_, at) => bodies[at] === null);
  }

  async *#partsFrom(stepRunId: StepRunId, fromLine: number): AsyncGenerator<ChunkPart, void, void> {
    for (let at: readonly [number, number] = [fromLine, 0]; ;) {
      const rows = await this.#db.all(
        `SELECT first_line, last_line, body, lines, project_id, compression FROM log_chunks
         LEFT JOIN log_headers USING (step_run_id, last_line, first_line)
         WHERE step_run_id = ? AND (last_line, first_line) >= (?, ?) ORDER BY last_line, first_line LIMIT ${JOINED_AT_ONCE}`,
        stepRunId,
        ...at,
      );
      for (const row of rows) {
        yield {
          first: row["first_line"] as number,
          last: row["last_line"] as number,
          count: row["lines"] as number | null,
          // A cold chunk is not joined.
          bytes: placeIn(row["body"]) === undefined ? (row["body"] as string | Uint8Array).length : Infinity,
          row,
          lines: () => this.#linesOf(stepRunId, row),
          projectId: row["project_id"] as ProjectId,
        };
      }
      if (rows.length < JOINED_AT_ONCE) return;
      at = [rows.at(-1)!["last_line"] as number, (rows.at(-1)!["first_line"] as number) + 1];
    }
  }

  /** The lines of a row of `log_chunks`: a list as JSON, bytes, compressed as the header says, or a place as JSON. */
  async #linesOf(stepRunId: StepRunId, row: Row): Promise<readonly LogLine[]> {
    const body = row["body"] as string | Uint8Array;
    const place = placeIn(body);
    if (place !== undefined) {
      return this.#cold.linesOf(place, { first: row["first_line"] as number, last: row["last_line"] as number });
    }
    if (typeof body === "string" && body.startsWith("[")) return JSON.parse(body) as LogLine[];
    // Bytes were once kept as a text.
    const packed = typeof body === "string" ? Buffer.from(body, "base64") : body;
    if (GZIP_START.every((byte, at) => packed[at] === byte)) return unpackLines(packed, "gzip");
    const header = await this.#db.get(
      "SELECT compression FROM log_headers WHERE step_run_id = ? AND last_line = ? AND first_line = ?",
      stepRunId,
      row["last_line"]!,
      row["first_line"]!,
    );
    // A joined chunk may have taken its place since it was read. They are compressed alike, if at all.
    return unpackLines(packed, (header?.["compression"] ?? "brotli") as Exclude<Compression, "none">);
  }

  #putChunkNow(stepRunId: StepRunId, projectId: ProjectId, header: ChunkHeader, body: string | Uint8Array): void {
    this.#db.runNow(
      `INSERT INTO log_headers (step_run_id, last_line, first_line, tenant_id, project_id, lines, first_stderr, first_error,
         compression) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      stepRunId,
      header.last,
      header.first,
      DEFAULT_TENANT,
      projectId,
      header.lines,
      header.firstStderr,
      header.firstError,
      header.compression,
    );
    this.#db.runNow(
      "INSERT INTO log_chunks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      stepRunId,
      header.first,
      header.last,
      body,
    );
  }

  #noteJoiningNow({ stepRunId, fromLine, dueAt }: Joining): void {
    this.#db.runNow(
      "INSERT INTO log_joinings VALUES (?, ?, ?) ON CONFLICT (step_run_id) DO UPDATE SET due_at = excluded.due_at",
      stepRunId,
      fromLine,
      dueAt,
    );
  }

  /** Joins a chunk that is one gap record with the gap record before it. False when there is none. */
  #extendGapNow(stepRunId: StepRunId, through: number, lines: readonly LogLine[]): boolean {
    if (lines.length > 1 || lines[0]!.lost === 0) return false;
    const row = this.#db.getNow(
      "SELECT first_line, body FROM log_chunks WHERE step_run_id = ? AND last_line = ? ORDER BY first_line DESC LIMIT 1",
      stepRunId,
      through,
    );
    // A gap record alone is not worth compressing.
    const body = row?.["body"] as string | Uint8Array | undefined;
    const isPlain = typeof body === "string" && body.startsWith("[");
    const gap = isPlain ? joinedGap(JSON.parse(body) as LogLine[], lines) : undefined;
    if (gap === undefined) return false;
    this.#db.runNow(
      "UPDATE log_headers SET last_line = ? WHERE step_run_id = ? AND last_line = ? AND first_line = ?",
      lastLineOf(gap),
      stepRunId,
      through,
      row!["first_line"]!,
    );
    this.#db.runNow(
      "UPDATE log_chunks SET last_line = ?, body = ? WHERE step_run_id = ? AND last_line = ? AND first_line = ?",
      lastLineOf(gap),
      JSON.stringify([gap]),
      stepRunId,
      through,
      row!["first_line"]!,
    );
    return true;
  }

  #throughNow(stepRunId: StepRunId): number {
    const row = this.#db.getNow("SELECT through FROM log_heads WHERE step_run_id = ?", stepRunId);
    return (row?.["through"] ?? 0) as number;
  }
}

/** The place of a cold chunk; undefined for the body of a warm one. */
function placeIn(body: unknown): ColdPlace | undefined {
  return typeof body === "string" && body.startsWith("{") ? (JSON.parse(body) as ColdPlace) : undefined;
}
