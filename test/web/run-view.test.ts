/**
 * The view of a run, against what the server says: the scenarios are played on a real store, and the view that follows
 * a snapshot by events must be the snapshot at the end.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import fc from "fast-check";
import { liveEvent } from "../../src/app/events/cloud-event.ts";
import { readLiveEvent, readTransition, type RunEvent } from "../../web/src/run/run-event.ts";
import { applyEvent, type Job, type Run, type RunView, viewBefore, viewOf } from "../../web/src/run/run-view.ts";
import { play } from "../scenarios/play.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { openTestSqlite } from "../support/stores.ts";

const FOLDER = new URL("../scenarios/", import.meta.url);
const ALL = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => name.replace(".yaml", ""));
const SCENARIOS = process.env["SCENARIOS"] === "whole" ? ALL : ALL.filter((_, at) => at % 4 === 0);

interface Recording {
  readonly scenario: string;
  readonly events: readonly RunEvent[];
  /** In the order in which they were read; the last one is the end. */
  readonly snapshots: readonly Run[];
}

async function record(name: string): Promise<readonly Recording[]> {
  const text = readFileSync(new URL(`${name}.yaml`, FOLDER), "utf8");
  const scenario = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")) as Scenario;
  const { stores, close } = await openTestSqlite();
  try {
    const snapshots = new Map<string, Run[]>();
    const watch = (runs: readonly unknown[]): void => {
      for (const run of JSON.parse(JSON.stringify(runs)) as Run[]) {
        const list = snapshots.get(run.runId) ?? [];
        if (list.at(-1)?.eventNumber !== run.eventNumber) list.push(run);
        snapshots.set(run.runId, list);
      }
    };
    const stored = await play(stores, text, scenario, watch);
    return [...snapshots].map(([runId, list]) => ({
      scenario: name,
      snapshots: list,
      events: stored
        .filter((event) => event.runId === runId)
        .map((event) => {
          const told = { eventNumber: event.number, object: event.object, ...liveEvent(event, "svc") };
          return readLiveEvent(JSON.parse(JSON.stringify(told)))!;
        }),
    }));
  } finally {
    await close();
  }
}

/** What events tell of a run. Moments of steps are those of the agent in a snapshot, and of the event in a view. */
function told({ head, jobs, number }: RunView) {
  const job = ({
    jobId,
    name,
    status,
    statusCode,
    attempt,
    retryOf,
    retriedBy,
    reason,
    agentId,
    endTime,
    steps,
  }: Job) => ({
    jobId,
    name,
    status,
    statusCode,
    attempt,
    retryOf,
    retriedBy,
    reason,
    agentId,
    endTime,
    steps: steps.map((step) => ({
      stepRunId: step.stepRunId,
      name: step.name,
      status: step.status,
      statusCode: step.statusCode,
      attempt: step.attempt,
      retryOf: step.retryOf,
      retriedBy: step.retriedBy,
      reason: step.reason,
    })),
  });
  const { status, statusCode, startTime, endTime } = head;
  return {
    number,
    status,
    statusCode,
    startTime,
    endTime,
    jobs: jobs.map(({ newest, earlier }) => ({ newest: job(newest), earlier: earlier.map(job) })),
    approvals: head.approvals.map(({ approvalId, status: word }) => `${approvalId} ${word}`),
  };
}

/** Follows the run as the page does: when the view asks for it, a newer snapshot takes its place. */
function follow(
  { events, snapshots }: Recording,
  from: RunView,
  order: readonly RunEvent[],
): { view: RunView; reloads: number } {
  let view = from;
  let reloads = 0;
  for (const event of order) {
    view = applyEvent(view, event);
    if (!view.reload) continue;
    reloads++;
    view = viewOf(snapshots.find(({ eventNumber }) => eventNumber >= event.number) ?? snapshots.at(-1)!);
  }
  // The server sends each event in the end.
  for (const event of events) view = applyEvent(view, event);
  return { view, reloads };
}

describe("the view of a run", function () {
  this.timeout(60_000);
  let recordings: readonly Recording[] = [];

  before(async () => {
    for (const name of SCENARIOS) recordings = [...recordings, ...(await record(name))];
    recordings = recordings.filter(({ events }) => events.length > 0);
  });

  it("is the last snapshot once it has all events that follow any snapshot", () => {
    const unlike: string[] = [];
    for (const recording of recordings) {
      const end = told(viewOf(recording.snapshots.at(-1)!));
      for (const snapshot of recording.snapshots) {
        const { view } = follow(recording, viewOf(snapshot), recording.events);
        // An approval that was requested later is known by its job until the page reads a snapshot.
        const seen = { ...told(view), approvals: end.approvals };
        try {
          expect(seen).to.deep.equal(end);
        } catch (error) {
          unlike.push(`${recording.scenario} from ${snapshot.eventNumber}: ${(error as Error).message}`);
        }
      }
    }
    expect(unlike.slice(0, 5)).to.deep.equal([]);
    expect(recordings.length).to.be.above(30);
  });

  it("asks for a snapshot only when jobs appear that were not in the plan", () => {
    const asking = recordings
      .filter((recording) => follow(recording, viewOf(recording.snapshots[0]!), recording.events).reloads > 0)
      .map(({ scenario }) => scenario);
    const grows = recordings
      .filter(({ snapshots }) => {
        const first = snapshots[0]!.jobs.map(({ name }) => name);
        return snapshots.at(-1)!.jobs.some(({ name }) => !first.includes(name));
      })
      .map(({ scenario }) => scenario);
    expect(asking.filter((name) => !grows.includes(name))).to.deep.equal([]);
  });

  it("is the same with doubled events, and with pieces that are missing and told later", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.array(fc.nat({ max: 60 }), { maxLength: 40 }), (which, start, noise) => {
        const recording = recordings[which % recordings.length]!;
        const { snapshots, events } = recording;
        const snapshot = snapshots[start % snapshots.length]!;
        const order = events.flatMap((event, at) => {
          const word = noise[at % Math.max(1, noise.length)] ?? 0;
          if (word % 7 === 1) return [];
          return word % 5 === 1 ? [event, events[word % events.length]!, event] : [event];
        });
        const { view } = follow(recording, viewOf(snapshot), order);
        const end = told(viewOf(snapshots.at(-1)!));
        expect({ ...told(view), approvals: end.approvals }).to.deep.equal(end);
      }),
      { numRuns: 200 },
    );
  });

  it("can be played again from the beginning to the end", () => {
    for (const recording of recordings) {
      const end = viewOf(recording.snapshots.at(-1)!);
      const grew = recording.snapshots[0]!.jobs.length !== recording.snapshots.at(-1)!.jobs.length;
      let view = viewBefore(end);
      for (const event of recording.events) {
        view = applyEvent(view, event);
        if (view.reload) break;
      }
      if (view.reload && grew) continue;
      expect(view.reload, recording.scenario).to.equal(false);
      expect(view.head.status, recording.scenario).to.equal(end.head.status);
      const statuses = (one: RunView) => one.jobs.map(({ newest }) => `${newest.name} ${newest.status}`);
      expect(statuses(view), recording.scenario).to.deep.equal(statuses(end));
    }
  });

  it("stays as it is after a gap, and says that a snapshot is needed", () => {
    const recording = recordings.find(({ events }) => events.length > 4)!;
    const view = viewBefore(viewOf(recording.snapshots.at(-1)!));
    const after = applyEvent(view, recording.events[2]!);
    expect(after.reload).to.equal(true);
    expect({ ...after, reload: false }).to.deep.equal(view);
    expect(applyEvent(after, recording.events[0]!)).to.equal(after);
  });

  it("ignores an event that it has", () => {
    const recording = recordings.find(({ events }) => events.length > 4)!;
    const view = viewOf(recording.snapshots.at(-1)!);
    for (const event of recording.events) expect(applyEvent(view, event)).to.equal(view);
  });

  it("reads the timeline as it reads live events", () => {
    const live = recordings[0]!.events.find(({ object }) => object === "step")!;
    const item = {
      number: live.number,
      time: live.time,
      object: live.object,
      lifecycle: live.lifecycle,
      status: live.status,
      jobId: live.jobId,
      stepRunId: live.stepRunId,
      name: "a/b",
      cause: live.cause,
      by: live.by,
      attempt: live.attempt,
      retryOf: live.retryOf,
      reason: live.reason,
      exitCode: live.exitCode,
      agentId: live.agentId,
    };
    expect(readTransition(item as Parameters<typeof readTransition>[0])).to.deep.equal({
      ...live,
      name: "a/b",
      stepIndex: null,
    });
  });

  it("reads nothing from a message that is no event", () => {
    for (const data of [null, {}, { eventNumber: 1 }, "text", { eventNumber: "1", raw: { data: {} } }])
      expect(readLiveEvent(data)).to.equal(null);
  });
});
