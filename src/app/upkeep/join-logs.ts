/**
 * Joins the small chunks of logs that nothing has been added to for a while, as those of steps that have ended. A step that
 * writes a line now and then leaves a chunk for each; joined, they take a fraction of the room. A crash leaves the log
 * noted, and joining it again goes on with what is left.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { StepRunId } from "../../domain/ids.ts";
import { loopShare } from "../loop-share.ts";
import type { UpkeepContext } from "./context.ts";

const LOGS_AT_ONCE = 100;

type JoinContext = Pick<UpkeepContext, "clock" | "log" | "stores">;

/** At most so many hundred logs. Yields after each piece of work. */
export async function* joinLogs(context: JoinContext, times: number): AsyncGenerator<void, void, void> {
  const { logs } = context.stores;
  for (let time = 0; time < times; time++) {
    const due = await logs.dueJoinings(context.clock.now(), LOGS_AT_ONCE);
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
      await logs.endJoining(joining);
    }
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
