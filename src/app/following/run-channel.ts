/** One run: first the run with its jobs and steps, then each of its events. */
import { z } from "zod";
import type { RunEvent } from "../../domain/events.ts";
import { asId, type RunId } from "../../domain/ids.ts";
import { reachRun } from "../reaching.ts";
import { liveEvent } from "../events/cloud-event.ts";
import { afterNumber, ENDED, idParam, liveChannel, type LiveMessage, SUBSCRIBED } from "./live-channel.ts";
import { requireKnownNumber } from "./object-updates.ts";

export const RUN_CHANNEL = liveChannel({
  name: "run",
  about: "Follows one run: a snapshot, then each transition of the run, its jobs, steps, approvals and waits.",
  params: z.strictObject({
    runId: idParam,
    /** Number of the last event that the client has; without it, the snapshot comes first. */
    after: afterNumber.optional(),
  }),
  async *follow({ context, runEvents, liveSnapshots }, caller, { params, abort }) {
    const runId = asId<RunId>(params.runId);
    const { found: head } = await reachRun(context, caller, "readEvents", runId);
    if (params.after !== undefined) requireKnownNumber(head, params.after);
    if (head.settled && params.after === head.eventNumber) {
      yield ENDED;
      return;
    }
    yield SUBSCRIBED;
    let from = params.after;
    if (from === undefined) {
      const taken = new AbortController();
      const over = AbortSignal.any([abort, taken.signal]);
      try {
        const { eventNumber, run, jobs } = await liveSnapshots.take(caller, runId, over);
        yield { type: "snapshot", json: run, after: null };
        for (const json of jobs) yield { type: "jobs", json, after: null };
        yield { type: "snapshotDone", json: JSON.stringify({ eventNumber }), after: String(eventNumber) };
        from = eventNumber;
      } finally {
        taken.abort();
      }
    }
    for await (const events of runEvents.follow({ runId, after: from, abort })) {
      for (const event of events) yield eventMessage(event, context.eventNamespace);
    }
    if (!abort.aborted) yield ENDED;
  },
});

/** Made once for all who follow the run here. */
const made = new WeakMap<RunEvent, LiveMessage>();

function eventMessage(event: RunEvent, eventNamespace: string): LiveMessage {
  let message = made.get(event);
  if (message === undefined) {
    const { number, object } = event;
    const json = JSON.stringify({ eventNumber: number, object, ...liveEvent(event, eventNamespace) });
    made.set(event, (message = { type: "event", json, after: String(number) }));
  }
  return message;
}
