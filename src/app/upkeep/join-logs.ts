/**
 * Joins the small chunks of logs that nothing has been added to for a while, as those of steps that have ended. A step that
 * writes a line now and then leaves a chunk for each; joined, they take a fraction of the room. Where there is an object
 * storage, logs that are due are moved into it then. A crash leaves the log noted, and the next pass goes on with what is
 * left.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { StepRunId } from "../../domain/ids.ts";
import type { Joining } from "../../stores/ports/logs.ts";
import { loopShare } from "../loop-share.ts";
import type { UpkeepContext } from "./context.ts";
import { coolingTimeOf, coolLog } from "./cool-logs.ts";

const LOGS_AT_ONCE = 100;
/** Logs that are moved at the same time: most of the time is spent waiting for the object storage. */
const MOVED_AT_ONCE = 8;
/** A log that could not be moved is tried again after this time. */
const TRY_AGAIN_MS = 300_000;

type JoinContext = Pick<UpkeepContext, "clock" | "coldLogs" | "log"> & {
  readonly stores: Pick<UpkeepContext["stores"], "aggregates" | "blobs" | "logs">;
};

/** At most so many hundred logs. Yields after each piece of work. */
export async function* joinLogs(context: JoinContext, times: number): AsyncGenerator<void, void, void> {
  const { logs } = context.stores;
  for (let time = 0; time < times; time++) {
    const due = await logs.dueJoinings(context.clock.now(), LOGS_AT_ONCE);
    const moved: Joining[] = [];
    for (const joining of due) {
      try {
        yield* joinLog(context, joining.stepRunId, joining.fromLine);
      } catch (error) {
        if (error instanceof MillraceError) throw error;
        // Its chunks stay as they are. Logs behind it must not wait for it.
        context.log.warn(
          { stepRunId: joining.stepRunId, error: String(error) },
          "the chunks of a log cannot be joined",
        );
      }
      if (await isToMove(context, joining)) moved.push(joining);
    }
    yield* moveLogs(context, moved);
    if (due.length < LOGS_AT_ONCE) return;
  }
}

async function* joinLog(
  { stores }: JoinContext,
  stepRunId: StepRunId,
  fromLine: number,
): AsyncGenerator<void, void, void> {
  for (let from: number | undefined = fromLine; from !== undefined;) {
    await loopShare.enter();
    from = await stores.logs.joinNext(stepRunId, from);
    yield;
  }
}

/** True for a log that is to be moved now. Any other one is noted for later, or no longer noted. */
async function isToMove(context: JoinContext, joining: Joining): Promise<boolean> {
  const { logs } = context.stores;
  const dueAt = await coolingTimeOf(context, joining.stepRunId);
  if (dueAt === null) await logs.endJoining(joining);
  else if (dueAt <= context.clock.now()) return true;
  // What is there is joined.
  else await logs.putOff(joining, { dueAt, fromLine: (await logs.storedThrough(joining.stepRunId)) + 1 });
  return false;
}

/** While the object storage is away, logs stay where they are. */
async function* moveLogs(context: JoinContext, moved: readonly Joining[]): AsyncGenerator<void, void, void> {
  const { logs } = context.stores;
  const failures = new Map<string, number>();
  for (let at = 0; at < moved.length; at += MOVED_AT_ONCE) {
    await Promise.all(
      moved.slice(at, at + MOVED_AT_ONCE).map(async (joining) => {
        try {
          await coolLog(context, joining.stepRunId);
          await logs.endJoining(joining);
        } catch (error) {
          failures.set(String(error), (failures.get(String(error)) ?? 0) + 1);
          await logs.putOff(joining, { ...joining, dueAt: context.clock.now() + TRY_AGAIN_MS });
        }
      }),
    );
    yield;
  }
  for (const [error, count] of failures) {
    context.log.warn({ error, logs: count }, "logs could not be moved into the object storage; they stay in the store");
  }
}
