/** The first error and the first line of standard error of a log, from the headers of its chunks. */
import type { StepRunId } from "../../domain/ids.ts";
import type { LogStore } from "../../stores/ports/logs.ts";
import { loopShare } from "../loop-share.ts";

const PAGE_HEADERS = 500;
/** What one call reads, at most; the next call goes on behind it. */
const MAX_HEADERS = 20_000;
/** Logs that a process remembers. */
const REMEMBERED = 1_000;

export interface FirstLines {
  readonly firstError: number | null;
  readonly firstStderr: number | null;
}

interface Known extends FirstLines {
  /** The headers of chunks that end before this line have been read. */
  readonly next: number;
}

/** By store, so that each node of a test has its own. */
const memories = new WeakMap<object, Map<StepRunId, Known>>();

/** Null is a line that the log has not, or not yet. A header is read once while the log is remembered. */
export async function firstLinesOf(logs: Pick<LogStore, "headers">, stepRunId: StepRunId): Promise<FirstLines> {
  const memory = memories.get(logs) ?? new Map<StepRunId, Known>();
  memories.set(logs, memory);
  let known = memory.get(stepRunId) ?? { next: 1, firstError: null, firstStderr: null };
  for (let read = 0; read < MAX_HEADERS && !isSettled(known); read += PAGE_HEADERS) {
    await loopShare.enter();
    const headers = await logs.headers(stepRunId, known.next, PAGE_HEADERS);
    for (const { last, firstError, firstStderr } of headers) {
      known = {
        next: Math.max(known.next, last + 1),
        firstError: known.firstError ?? firstError,
        firstStderr: known.firstStderr ?? firstStderr,
      };
    }
    if (headers.length < PAGE_HEADERS) break;
  }
  memory.delete(stepRunId);
  memory.set(stepRunId, known);
  if (memory.size > REMEMBERED) memory.delete(memory.keys().next().value!);
  return { firstError: known.firstError, firstStderr: known.firstStderr };
}

const isSettled = ({ firstError, firstStderr }: FirstLines): boolean => firstError !== null && firstStderr !== null;
