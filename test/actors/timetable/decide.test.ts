import { expect } from "chai";
import { TIMETABLE_AGGREGATE } from "../../../actors/timetable/aggregate.ts";
import { decideTimetable } from "../../../actors/timetable/decide.ts";
import type { TimetableMessage } from "../../../actors/timetable/messages.ts";
import { LOOK_AGAIN_MS, type TimetableState } from "../../../actors/timetable/state.ts";
import type { TriggersCommand } from "../../../src/domain/commands.ts";
import type { OwedEffect } from "../../../src/domain/effects.ts";
import {
  asId,
  type CommandId,
  DEFAULT_PROJECT,
  type PipelineId,
  scheduleIdOf,
  timetableIdOf,
} from "../../../src/domain/ids.ts";
import type { ScheduleSpec } from "../../../src/domain/schedules.ts";

const PIPELINE = asId<PipelineId>("pl_1");
const NAMES = new Map(["a", "b", "c"].map((name) => [scheduleIdOf(PIPELINE, name) as string, name]));

class SimulatedTimetable {
  state = TIMETABLE_AGGREGATE.initial!(timetableIdOf(PIPELINE), 0).actors[0]!.state as TimetableState;
  now = 1_000;
  /** What the last message has caused: `read`, `define a`, `withdraw b`. */
  effects: readonly string[] = [];

  change(): this {
    return this.#tell({ kind: "triggersChanged", pipelineId: PIPELINE });
  }

  read(schedules: Readonly<Record<string, string>>, generation = this.state.generation): this {
    const specs = Object.entries(schedules).map(([name, schedule]) => ({ name, schedule }) as ScheduleSpec);
    return this.#tell({ kind: "triggersRead", generation, projectId: DEFAULT_PROJECT, schedules: specs });
  }

  look(ms: number): this {
    this.now += ms;
    return this.#decide({ kind: "timer" });
  }

  get isFinal(): boolean {
    return TIMETABLE_AGGREGATE.isFinal(this.state as never);
  }

  #tell(command: TriggersCommand): this {
    return this.#decide({ ...command, commandId: asId<CommandId>("cmd_1") });
  }

  #decide(message: TimetableMessage): this {
    const { next, effects } = decideTimetable(this.state, message, this.now);
    this.state = next;
    this.effects = effects.flatMap((effect: OwedEffect) => {
      if (effect.type === "readTriggers") return ["read"];
      return effect.type === "command" ? [`${effect.body.kind} ${NAMES.get(effect.to)}`] : [];
    });
    return this;
  }
}

describe("a timetable", () => {
  it("reads the definition when it changes, and defines its schedules", () => {
    const timetable = new SimulatedTimetable();
    expect(timetable.change().effects).to.deep.equal(["read"]);
    expect(timetable.read({ a: "1", b: "2" }).effects).to.deep.equal(["define a", "define b"]);
  });

  it("tells only what has changed", () => {
    const timetable = new SimulatedTimetable().change().read({ a: "1", b: "2", c: "3" }).change();
    expect(timetable.read({ a: "1", b: "9" }).effects).to.deep.equal(["define b", "withdraw c"]);
  });

  it("ignores the answer to an earlier reading, and a second answer", () => {
    const timetable = new SimulatedTimetable().change();
    const { generation } = timetable.state;
    timetable.change();
    expect(timetable.read({ a: "1" }, generation).effects).to.deep.equal([]);
    expect(timetable.read({ b: "1" }).read({ b: "1" }).effects).to.deep.equal([]);
    expect(timetable.state.schedules.map(({ name }) => name)).to.deep.equal(["b"]);
  });

  it("looks once more after a change, and then no more", () => {
    const timetable = new SimulatedTimetable().change().read({});
    expect(timetable.isFinal).to.equal(false);
    expect(timetable.look(LOOK_AGAIN_MS - 1).effects).to.deep.equal([]);
    expect(timetable.look(1).effects).to.deep.equal(["read"]);
    expect(timetable.read({ a: "1" }).effects).to.deep.equal(["define a"]);
    expect(timetable.look(LOOK_AGAIN_MS).effects).to.deep.equal([]);
  });

  it("is final when there is nothing left to tell", () => {
    const timetable = new SimulatedTimetable().change().read({ a: "1" }).change().read({});
    expect(timetable.effects).to.deep.equal(["withdraw a"]);
    expect(timetable.look(LOOK_AGAIN_MS).read({}).isFinal).to.equal(true);
  });

  it("numbers its readings so that they never fall behind those of an earlier life", () => {
    const before = new SimulatedTimetable().change().change().state.generation;
    const after = new SimulatedTimetable();
    after.now = 2_000;
    expect(after.change().state.generation).to.be.above(before);
  });
});
