import { expect } from "chai";
import { SCHEDULE_AGGREGATE } from "../../../actors/schedule/aggregate.ts";
import { decideSchedule } from "../../../actors/schedule/decide.ts";
import type { ScheduleMessage } from "../../../actors/schedule/messages.ts";
import { KEPT_OUTCOMES, type ScheduleState, wakeAt } from "../../../actors/schedule/state.ts";
import type { ScheduleCommand } from "../../../src/domain/commands.ts";
import type { StartRunEffect } from "../../../src/domain/effects.ts";
import {
  asId,
  type CommandId,
  type PipelineId,
  type ProjectId,
  type RunId,
  scheduleIdOf,
} from "../../../src/domain/ids.ts";
import { DEFAULT_CATCH_UP_MS, type ScheduleSpec } from "../../../src/domain/schedules.ts";

const PIPELINE = asId<PipelineId>("pl_1");
const PROJECT = asId<ProjectId>("default");
const BEGIN = Date.UTC(2026, 0, 5, 12);
const MINUTE = 60_000;
const HOUR = 3_600_000;
const HOURLY: ScheduleSpec = {
  name: "hourly",
  schedule: "0 * * * *",
  timezone: "UTC",
  overlap: "allow",
  catchUp: "latest",
  catchUpMs: DEFAULT_CATCH_UP_MS,
  jitterMs: 0,
  ref: null,
  variables: [],
};
const time = (at: number): string => new Date(at).toISOString().slice(11, 16);

/** A schedule whose owner looks at it when it is told to. */
class SimulatedSchedule {
  state = SCHEDULE_AGGREGATE.initial!(scheduleIdOf(PIPELINE, "hourly"), 0).actors[0]!.state as ScheduleState;
  now = BEGIN;
  generation = 0;
  verdict = "";
  /** The starts that a worker has to perform. */
  readonly starts: StartRunEffect[] = [];
  readonly stops: string[] = [];

  constructor(spec: Partial<ScheduleSpec> = {}, begin = BEGIN) {
    this.now = begin;
    this.define(spec);
  }

  define(spec: Partial<ScheduleSpec> = {}): this {
    const generation = ++this.generation;
    return this.tell({
      kind: "define",
      pipelineId: PIPELINE,
      projectId: PROJECT,
      generation,
      spec: { ...HOURLY, ...spec },
    });
  }

  withdraw(): this {
    return this.tell({ kind: "withdraw", generation: ++this.generation });
  }

  user(kind: "pause" | "resume"): this {
    return this.tell({ kind, reason: "", operator: "ann", actor: "ann" });
  }

  /** Goes on to this time after the begin, and lets the kernel fire what is due then. */
  at(ms: number): this {
    this.now = BEGIN + ms;
    if ((wakeAt(this.state) ?? Infinity) <= this.now) this.#decide({ kind: "timer" });
    return this;
  }

  /** Performs the owed start: the run is created, or the pipeline refuses it. */
  answer(refused?: string): RunId {
    const { at, runId } = this.starts.at(-1)!;
    this.tell({ kind: "startAnswered", at, outcome: refused === undefined ? { runId } : { refused } });
    return runId;
  }

  end(runId: RunId): this {
    return this.tell({ kind: "runEnded", runId });
  }

  tell(command: ScheduleCommand | { kind: "runEnded"; runId: RunId } | UserOrder): this {
    return this.#decide({ ...command, commandId: asId<CommandId>("cmd_1") });
  }

  /** The times that have a start, and `skip REASON TIMES` for those without. */
  get story(): readonly string[] {
    const skipped = this.state.outcomes
      .filter(({ reason }) => reason !== null)
      .map(
        ({ at, until, count, reason }) => `skip ${reason} ${time(at)}${count === 1 ? "" : `-${time(until)} ${count}`}`,
      );
    return [...this.starts.map(({ at }) => time(at)), ...skipped];
  }

  #decide(message: ScheduleMessage): this {
    const { next, effects } = decideSchedule(this.state, message, this.now);
    this.state = next;
    for (const effect of effects) {
      if (effect.type === "startRun") this.starts.push(effect);
      if (effect.type === "command") this.stops.push(effect.to);
      if (effect.type === "answer") this.verdict = `${effect.verdict.outcome} ${effect.verdict.status}`;
    }
    return this;
  }
}

interface UserOrder {
  readonly kind: "pause" | "resume";
  readonly reason: string;
  readonly operator: string;
  readonly actor: string;
}

describe("a schedule", () => {
  it("starts one run for each time, however often its owner looks", () => {
    const schedule = new SimulatedSchedule().at(HOUR).at(HOUR);
    schedule.answer();
    schedule.at(HOUR + 5).at(2 * HOUR);
    schedule.answer();
    expect(schedule.story).to.deep.equal(["13:00", "14:00"]);
    expect(new Set(schedule.starts.map(({ runId }) => runId)).size).to.equal(2);
  });

  it("counts the times before its definition as decided", () => {
    expect(new SimulatedSchedule().at(1).story).to.deep.equal([]);
  });

  it("ignores an answer and an end that it has seen already", () => {
    const schedule = new SimulatedSchedule().at(HOUR);
    const runId = schedule.answer();
    const { state } = schedule;
    schedule.answer();
    expect(schedule.state).to.equal(state);
    const ended = schedule.end(runId).state;
    expect(schedule.end(runId).state).to.equal(ended);
  });

  it("notes a run that ends before its creator has answered", () => {
    const schedule = new SimulatedSchedule({ overlap: "skip" }).at(HOUR);
    schedule.end(schedule.starts[0]!.runId);
    schedule.answer();
    schedule.at(2 * HOUR);
    expect(schedule.story).to.deep.equal(["13:00", "14:00"]);
  });

  describe("after an outage or a jump of the clock over times", () => {
    const after = (spec: Partial<ScheduleSpec>, ms: number) => {
      const schedule = new SimulatedSchedule(spec).at(ms);
      for (let answered = 0; answered < schedule.starts.length; answered++) schedule.answer();
      return schedule.story;
    };

    it("makes up for none", () => {
      expect(after({ catchUp: "none" }, 3.5 * HOUR)).to.deep.equal(["skip missed 13:00-15:00 3"]);
      expect(after({ catchUp: "none" }, 3 * HOUR + 1_000)).to.deep.equal(["15:00", "skip missed 13:00-14:00 2"]);
    });

    it("makes up for the latest", () => {
      expect(after({ catchUp: "latest" }, 3.5 * HOUR)).to.deep.equal(["15:00", "skip later 13:00-14:00 2"]);
      expect(after({ catchUp: "latest" }, 3 * HOUR + 1_000)).to.deep.equal(["15:00", "skip later 13:00-14:00 2"]);
    });

    it("makes up for all, the oldest first", () => {
      expect(after({ catchUp: "all" }, 3.5 * HOUR)).to.deep.equal(["13:00", "14:00", "15:00"]);
    });

    it("makes up for no time that is older than the window", () => {
      const story = after({ catchUp: "all", catchUpMs: 2 * HOUR }, 4.5 * HOUR);
      expect(story).to.deep.equal(["15:00", "16:00", "skip window 13:00-14:00 2"]);
    });

    it("makes up for a hundred times at most, the newest ones", () => {
      const story = after({ catchUp: "all", schedule: "* * * * *" }, 150 * MINUTE);
      expect(story[0]).to.equal("12:51");
      expect(story.at(-1)).to.equal("14:30");
      expect(story).to.have.length(100);
    });

    it("does not count many times one by one", () => {
      const schedule = new SimulatedSchedule({ schedule: "* * * * *" }).at(365 * 24 * HOUR);
      expect(schedule.starts).to.have.length(1);
      expect(schedule.state.outcomes.map(({ reason, count }) => [reason, count])).to.deep.equal([
        ["window", null],
        ["later", 1_439],
      ]);
    });

    it("does once what was missed on the day of a change of the clocks", () => {
      const spring = { schedule: "*/15 2 * * *", timezone: "America/New_York", catchUp: "all" } as const;
      const schedule = new SimulatedSchedule(spring, Date.UTC(2026, 2, 8, 5));
      schedule.at(Date.UTC(2026, 2, 8, 18) - BEGIN);
      schedule.answer();
      expect(schedule.story).to.deep.equal(["07:00"]);
    });

    it("starts nothing twice when the clock goes back", () => {
      const schedule = new SimulatedSchedule().at(2 * HOUR);
      schedule.answer();
      schedule
        .at(HOUR)
        .define({ ref: "main" })
        .at(HOUR + 1)
        .at(2 * HOUR)
        .at(3 * HOUR);
      expect(schedule.story.filter((one) => !one.startsWith("skip"))).to.deep.equal(["14:00", "15:00"]);
    });
  });

  describe("whose run has not ended", () => {
    const busy = (overlap: ScheduleSpec["overlap"]) => {
      const schedule = new SimulatedSchedule({ overlap }).at(HOUR);
      const runId = schedule.answer();
      return { schedule: schedule.at(2 * HOUR), runId };
    };

    it("starts the next one beside it with `allow`", () => {
      expect(busy("allow").schedule.story).to.deep.equal(["13:00", "14:00"]);
    });

    it("skips the time with `skip`, and says which run it was", () => {
      const { schedule, runId } = busy("skip");
      expect(schedule.story).to.deep.equal(["13:00", "skip overlap 14:00"]);
      expect(schedule.state.outcomes.at(-1)!.text).to.include(runId);
      expect(schedule.end(runId).at(3 * HOUR).story).to.include("15:00");
    });

    it("waits for its end with `queue`", () => {
      const { schedule, runId } = busy("queue");
      expect(schedule.at(3 * HOUR).story).to.deep.equal(["13:00"]);
      schedule.end(runId);
      expect(schedule.story).to.deep.equal(["13:00", "14:00"]);
      schedule.end(schedule.answer());
      expect(schedule.story).to.deep.equal(["13:00", "14:00", "15:00"]);
    });

    it("stops it with `cancelRunning`", () => {
      const { schedule, runId } = busy("cancelRunning");
      expect(schedule.story).to.deep.equal(["13:00", "14:00"]);
      expect(schedule.stops).to.deep.equal([runId]);
    });

    it("lets a bounded number of times wait", () => {
      const { schedule } = busy("queue");
      for (let hour = 3; hour <= 110; hour++) schedule.at(hour * HOUR);
      expect(schedule.state.waiting).to.have.length(100);
      expect(schedule.story.at(-1)).to.match(/^skip limit /);
    });
  });

  describe("that a user pauses", () => {
    it("skips the times of the pause and goes on", () => {
      const schedule = new SimulatedSchedule().at(MINUTE).user("pause");
      expect(schedule.verdict).to.equal("accepted paused");
      expect(wakeAt(schedule.state)).to.equal(null);
      schedule
        .at(2.5 * HOUR)
        .user("resume")
        .at(3 * HOUR);
      expect(schedule.story).to.deep.equal(["15:00", "skip paused 13:00-14:00 2"]);
    });

    it("refuses a second pause, and a resume without a pause", () => {
      const schedule = new SimulatedSchedule().user("resume");
      expect(schedule.verdict).to.equal("refused running");
      expect(schedule.user("pause").user("pause").verdict).to.equal("refused paused");
    });

    it("stays paused when its trigger is edited", () => {
      const schedule = new SimulatedSchedule()
        .user("pause")
        .define({ schedule: "30 * * * *" })
        .at(3 * HOUR);
      expect(schedule.story).to.deep.equal([]);
      expect(schedule.user("resume").state.next).to.equal(BEGIN + 3.5 * HOUR);
    });
  });

  describe("whose trigger is edited", () => {
    it("keeps a time that was due in the same second, also when it is paused in that second", () => {
      const schedule = new SimulatedSchedule();
      schedule.now = BEGIN + HOUR + 200;
      schedule.define({ schedule: "30 4 * * *", ref: "next" });
      schedule.user("pause");
      expect(schedule.story).to.deep.equal(["13:00"]);
      expect(schedule.starts[0]!.ref).to.equal(null);
      schedule.answer();
      expect(schedule.state.state).to.equal("paused");
    });

    it("keeps what waits for the end of a run", () => {
      const schedule = new SimulatedSchedule({ overlap: "queue" }).at(HOUR);
      const runId = schedule.answer();
      schedule
        .at(2 * HOUR)
        .define({ overlap: "queue", schedule: "0 0 1 1 *" })
        .end(runId);
      expect(schedule.story).to.deep.equal(["13:00", "14:00"]);
    });

    it("ignores an older definition that comes late", () => {
      const schedule = new SimulatedSchedule();
      schedule.define({ schedule: "30 * * * *" });
      const { state } = schedule;
      schedule.tell({ kind: "withdraw", generation: 1 });
      expect(schedule.state).to.equal(state);
    });

    it("starts what was due before the trigger was removed, and is absent then", () => {
      const schedule = new SimulatedSchedule();
      schedule.now = BEGIN + HOUR;
      expect(schedule.withdraw().state.state).to.equal("leaving");
      schedule.answer();
      expect(schedule.state.state).to.equal("absent");
      expect(SCHEDULE_AGGREGATE.isFinal(schedule.state as never)).to.equal(true);
      expect(new SimulatedSchedule().withdraw().state.state).to.equal("absent");
    });
  });

  it("delays a run by its jitter, always the same and before the next time", () => {
    const spec = { schedule: "* * * * *", jitterMs: HOUR };
    const schedule = new SimulatedSchedule(spec).at(MINUTE);
    const due = wakeAt(schedule.state)!;
    expect(due).to.be.within(BEGIN + MINUTE, BEGIN + 2 * MINUTE - 1);
    expect(wakeAt(new SimulatedSchedule(spec).at(MINUTE).state)).to.equal(due);
    schedule.at(due - BEGIN);
    expect(schedule.starts.map(({ at }) => at)).to.deep.equal([BEGIN + MINUTE]);
  });

  it("lists why a run was refused, and the last outcomes only", () => {
    const schedule = new SimulatedSchedule();
    for (let hour = 1; hour <= KEPT_OUTCOMES + 10; hour++) schedule.at(hour * HOUR).answer(`no definition ${hour}`);
    expect(schedule.state.outcomes).to.have.length(KEPT_OUTCOMES);
    expect(schedule.state.outcomes.at(-1)).to.include({
      reason: "refused",
      text: `no definition ${KEPT_OUTCOMES + 10}`,
    });
  });
});
