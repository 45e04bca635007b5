/**
 * Log lines on the disk, which the agent cannot send yet and for which it has no memory. A segment is a file with
 * successive lines of one step. It is written once, and then read once or dropped to make room.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LogLine, PushLogsRequest } from "../../../proto/generated/gateway/v1/gateway.ts";
import { LogTail, type LogTailOptions } from "./log-tail.ts";

export interface Segment {
  readonly file: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Number of the first line. */
  readonly first: bigint;
  /** Number of the last line. */
  readonly last: bigint;
}

export interface LogSpill {
  /** Writes successive lines. Throws when the disk refuses them; then no part of them stays on the disk. */
  write(lines: readonly LogLine[]): Segment;
  /** Throws when the file has changed. The caller must remove the segment in any case. */
  read(segment: Segment): LogLine[];
  remove(segment: Segment): void;
  /** Opens an empty ring for the newest lines of a log. */
  openTail(bounds: Omit<LogTailOptions, "folder">): LogTail;
}

/** Keeps segments in `folder`, readable by this user alone. The owner of the folder removes it with all its files. */
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
    openTail: (bounds) => new LogTail({ folder, ...bounds }),
  };
}

/** The number of the last line of an entry: a gap record stands for several lines. */
export function lastLineOf({ line, lost }: Pick<LogLine, "line" | "lost">): bigint {
  return lost > 0n ? line + lost - 1n : line;
}
