/** The store of log chunks in SQLite. */
import { DEFAULT_PROJECT, DEFAULT_TENANT, type ProjectId, type StepRunId } from "../../domain/ids.ts";
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
import type { Database, Row } from "./database.ts";

/** The first bytes of every gzip stream, in base64. Source: RFC 1952, section 2.3.1. */
const GZIP_START = "H4sI";

export class SqliteLogStore implements LogStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async append({ stepRunId, lines, projectId = DEFAULT_PROJECT, compression = "none" }: LogChunk): Promise<number> {
    const body =
      compression === "none" ? JSON.stringify(lines) : (await packLines(lines, compression)).toString("base64");
    const first = lines[0]!.line;
    const last = lastLineOf(lines.at(-1)!);
    const { entries, bytes } = sizeOfLines(lines);
    return this.#db.bulk(() => {
      const through = this.#throughNow(stepRunId);
      // A chunk above a gap must not be stored; a chunk without new lines need not be.
      if (first > through + 1 || last <= through) return through;
      if (!this.#extendGapNow(stepRunId, through, lines)) {
        this.#putHeaderNow(stepRunId, projectId, headerOf(lines, compression));
        this.#db.runNow(
          "INSERT INTO log_chunks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
          stepRunId,
          first,
          last,
          body,
        );
        this.#db.runNow(
          `INSERT INTO log_sizes VALUES (?1, ?2, ?3)
           ON CONFLICT (step_run_id) DO UPDATE SET entries = entries + ?2, bytes = bytes + ?3`,
          stepRunId,
          entries,
          bytes,
        );
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

  /** The lines of a row of `log_chunks`: a list as JSON, or what the header names, in base64. */
  async #linesOf(stepRunId: StepRunId, row: Row): Promise<readonly LogLine[]> {
    const body = row["body"] as string;
    if (body.startsWith("[")) return JSON.parse(body) as LogLine[];
    if (body.startsWith(GZIP_START)) return unpackLines(Buffer.from(body, "base64"), "gzip");
    const header = await this.#db.get(
      "SELECT compression FROM log_headers WHERE step_run_id = ? AND last_line = ? AND first_line = ?",
      stepRunId,
      row["last_line"]!,
      row["first_line"]!,
    );
    return unpackLines(Buffer.from(body, "base64"), header!["compression"] as Exclude<Compression, "none">);
  }

  #putHeaderNow(stepRunId: StepRunId, projectId: ProjectId, header: ChunkHeader): void {
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
    const body = row?.["body"] as string | undefined;
    const gap = body?.startsWith("[") ? joinedGap(JSON.parse(body) as LogLine[], lines) : undefined;
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
