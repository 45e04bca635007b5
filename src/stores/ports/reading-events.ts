/** Adds the content of pushed events, which is stored apart, to the events of a run. */
import type { RunEvent } from "../../domain/events.ts";
import type { StepRunId } from "../../domain/ids.ts";
import type { AgentEvent, AgentEventStore } from "./agent-events.ts";
import { contentLength, PAGE_BYTES } from "./events.ts";

/** Events whose content is read at once: at most 4 MB. */
const READ_AT_ONCE = 64;

/** A page of a run's log, with the content of its pushed events. It ends early when there is much content. */
export async function withContent(
  { ofStep }: Pick<AgentEventStore, "ofStep">,
  page: readonly RunEvent[],
): Promise<readonly RunEvent[]> {
  if (!page.some(isPushed)) return page;
  const filled: RunEvent[] = [];
  let length = 0;
  for (let at = 0; at < page.length; at += READ_AT_ONCE) {
    const part = page.slice(at, at + READ_AT_ONCE);
    const contents = await contentsOf(ofStep, part.filter(isPushed));
    for (const event of part) {
      const content = isPushed(event) ? contents.get(keyOf(event.stepRunId!, sequenceOf(event))) : undefined;
      filled.push(content === undefined ? event : { ...event, pushed: pushedOf(content) });
      length += contentLength(filled.slice(-1));
      if (length >= PAGE_BYTES) return filled;
    }
  }
  return filled;
}

/** The log has the pushed events of a step in the order of their sequences, so those of one step follow each other. */
async function contentsOf(
  ofStep: AgentEventStore["ofStep"],
  events: readonly RunEvent[],
): Promise<ReadonlyMap<string, AgentEvent>> {
  const spans = new Map<StepRunId, { from: number; through: number }>();
  for (const event of events) {
    const sequence = sequenceOf(event);
    const span = spans.get(event.stepRunId!);
    if (span === undefined) spans.set(event.stepRunId!, { from: sequence, through: sequence });
    else span.through = sequence;
  }
  const read = await Promise.all([...spans].map(([stepRunId, { from, through }]) => ofStep(stepRunId, from, through)));
  return new Map(read.flat().map((event) => [keyOf(event.stepRunId!, event.sequence!), event]));
}

export function isPushed({ lifecycle }: Pick<RunEvent, "lifecycle">): boolean {
  return lifecycle === "pushed";
}

function sequenceOf({ data }: RunEvent): number {
  return data["sequence"] as number;
}

function keyOf(stepRunId: StepRunId, sequence: number): string {
  return `${stepRunId}/${sequence}`;
}

function pushedOf({ type, eventId, subject, time, data }: AgentEvent): RunEvent["pushed"] & {} {
  return { type, eventId, subject, time, data };
}
