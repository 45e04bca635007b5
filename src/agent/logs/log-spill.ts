/**
 * Log lines on the disk: what an agent cannot send for now and does not want in its memory. A segment is a run of lines of
 * one step in a file of its own, written once and read once, or removed when it is the oldest and there is no room.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LogLine, PushLogsRequest } from "../../../proto/generated/gateway/v1/gateway.ts";

export interface Segment {
  readonly file: string;
  /** On the disk. */
  readonly bytes: number;
  /** The first line and the last one. */
  readonly first: bigint;
  readonly last: bigint;
}

export interface LogSpill {
  /** Writes lines that follow one another. Throws when the disk takes no more; then nothing of them is left there. */
  write(lines: readonly LogLine[]): Segment;
  /** Throws when the file is not what was written; it is still to be removed. */
  read(segment: Segment): LogLine[];
  remove(segment: Segment): void;
}

/** Segments in `folder`, which whoever made it removes with all that is in it. Readable by this user alone. */
export function openLogSpill(folder: string): LogSpill {
  return {
    write(lines) {
      const content = PushLogsRequest.encode(PushLogsRequest.create({ lines: [...lines] })).finish();
      const file = join(folder, `log-${randomUUID()}`);
      try {
        writeFileSync(file, content, { mode: 0o600, flag: "wx" });
      } catch (error) {
        rmSync(file, { force: true });
        throw error;
      }
      return { file, bytes: content.length, first: lines[0]!.line, last: lastLineOf(lines.at(-1)!) };
    },
    read({ file, bytes, first }) {
      const content = readFileSync(file);
      const { lines } = PushLogsRequest.decode(content);
      if (content.length !== bytes || lines[0]?.line !== first) throw new Error(`${file} is damaged`);
      return lines;
    },
    remove: ({ file }) => rmSync(file, { force: true }),
  };
}

/** The last line that an entry stands for: a gap record stands for several. */
export function lastLineOf({ line, lost }: Pick<LogLine, "line" | "lost">): bigint {
  return lost > 0n ? line + lost - 1n : line;
}
