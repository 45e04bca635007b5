/** Which chunks of logs are stored compressed, and which go to the object storage. */
import type { LogLine, LogStore } from "../ports/logs.ts";
import { COLD_LOGS_SCHEMA, PACKED_LOGS_SCHEMA } from "./stored-format.ts";

/** A chunk whose lines take less as JSON stays as it is. Compressed, it would save little more than a row takes. */
const PACKED_FROM_BYTES = 2_048;
/** JSON of a line besides its content. */
const BYTES_OF_LINE = 90;
/** A store of logs that compresses what is worth it, as soon as all living nodes read it. */
export function packedLogs(store: LogStore, writes: () => number): LogStore {
  return {
    append(chunk) {
      const isPacked = chunk.compression === undefined && writes() >= PACKED_LOGS_SCHEMA && isWorthPacking(chunk.lines);
      return store.append(isPacked ? { ...chunk, compression: "gzip" } : chunk);
    },
    size: (stepRunId) => store.size(stepRunId),
    storedThrough: (stepRunId) => store.storedThrough(stepRunId),
    read: (...call) => store.read(...call),
    headers: (...call) => store.headers(...call),
    dueJoinings: async (...call) => (writes() >= PACKED_LOGS_SCHEMA ? store.dueJoinings(...call) : []),
    joinNext: (...call) => store.joinNext(...call),
    endJoining: (joining) => store.endJoining(joining),
    putOff: (...call) => store.putOff(...call),
    // A node of an earlier version cannot read a cold chunk.
    warmChunks: async (...call) => (writes() >= COLD_LOGS_SCHEMA ? store.warmChunks(...call) : []),
    cool: (...call) => store.cool(...call),
    coldBlobs: (stepRunIds) => store.coldBlobs(stepRunIds),
    coldChunks: (stepRunId) => store.coldChunks(stepRunId),
    warm: (...call) => store.warm(...call),
  };
}

function isWorthPacking(lines: readonly LogLine[]): boolean {
  let bytes = 0;
  for (const { content } of lines) {
    bytes += content.length + BYTES_OF_LINE;
    if (bytes >= PACKED_FROM_BYTES) return true;
  }
  return false;
}
