/**
 * Calls of an agent to a gateway, each by itself: the request travels, the gateway works on it, and the answer travels
 * back. Either way may be lost, and a gateway that dies answers nothing.
 */
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";

const MESSAGE_MS = 5;
/** A broken connection is noticed after this long at most, milliseconds. */
const NOTICED_MS = 2_000;

export interface Called {
  readonly process: Process;
}

/** Makes one call. `perform` runs at the gateway; its signal is aborted when the caller is gone. */
export function callGateway<T>(
  world: World,
  caller: Process,
  gateway: Called,
  what: string,
  perform: (hungUp: AbortSignal) => Promise<T>,
): Promise<T> {
  const { draws, scheduler, streamFaults, trace } = world;
  const travelMs = (): number =>
    draws.fraction() * (draws.chance(streamFaults.slow) ? streamFaults.slowMs : MESSAGE_MS);
  const noticedMs = (): number => draws.fraction() * NOTICED_MS;
  return new Promise<T>((resolve, reject) => {
    const gone = new AbortController();
    const arrivesAt = scheduler.now + travelMs();
    let isOver = false;
    const fail = (text: string): void => {
      if (isOver) return;
      isOver = true;
      // A connection tells its end right after what was sent on it.
      gateway.process.after(Math.max(0, arrivesAt - scheduler.now) + MESSAGE_MS, () => gone.abort());
      caller.after(noticedMs(), () => reject(new Error(`${what}: ${text}`)));
    };
    const answer = (settle: () => void): void => {
      if (isOver) return;
      if (draws.chance(streamFaults.answerLost)) return fail("the answer was lost");
      isOver = true;
      caller.after(travelMs(), settle);
    };
    caller.onDeath.push(() => fail("the caller died"));
    if (!gateway.process.isAlive) return fail("the gateway is not there");
    gateway.process.onDeath.push(() => fail("the gateway died"));
    if (draws.chance(streamFaults.callLost)) return fail("the call was lost");
    scheduler.after(arrivesAt - scheduler.now, () => {
      gateway.process.enter(() => {
        trace.note(() => `${gateway.process.name} is asked for ${what}`);
        perform(gone.signal).then(
          (result) => answer(() => resolve(result)),
          (error: unknown) => answer(() => reject(error as Error)),
        );
      });
    });
  });
}
