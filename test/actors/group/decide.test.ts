import { expect } from "chai";
import fc from "fast-check";
import { decideGroup } from "../../../actors/group/decide.ts";
import { GROUP_AGGREGATE } from "../../../actors/group/aggregate.ts";
import { type GroupState, MAX_WAITING } from "../../../actors/group/state.ts";
import type { EnterCommand, LeaveCommand } from "../../../src/domain/commands.ts";
import { groupNameOf, memberKey, memberOf } from "../../../src/domain/groups.ts";
import { asId, type CommandId, groupIdOf, type ProjectId, type RunId } from "../../../src/domain/ids.ts";
import type { OwedEffect } from "../../../src/domain/effects.ts";
import type { PlannedGroup } from "../../../src/domain/plan.ts";

const PROJECT = asId<ProjectId>("default");
const GROUP_ID = groupIdOf(PROJECT, "deploy");
const EMPTY = GROUP_AGGREGATE.initial!(GROUP_ID, 0).actors[0]!.state as GroupState;

const member = (run: string, job: number | null = null) => ({ runId: asId<RunId>(run), job, cell: null });

class SimulatedGroup {
  state = EMPTY;
  /** The messages to members since the last `takeSent`: `placed run_1`, `superseded run_1 by run_2`. */
  sent: string[] = [];
  verdict = "";

  enter(run: string, group: Partial<PlannedGroup> = {}, more: { isReservation?: boolean; job?: number } = {}): this {
    return this.tell({
      kind: "enter",
      member: member(run, more.job ?? null),
      projectId: PROJECT,
      group: { name: "deploy", limit: 1, definedBy: "rev_1", onConflict: "queue", ...group },
      isReservation: more.isReservation ?? false,
    });
  }

  leave(run: string): this {
    return this.tell({ kind: "leave", member: member(run) });
  }

  takeSent(): readonly string[] {
    const { sent } = this;
    this.sent = [];
    return sent;
  }

  get holders(): readonly string[] {
    return this.state.seats.filter(({ held }) => held).map(({ key }) => key);
  }

  tell(message: EnterCommand | LeaveCommand): this {
    const { next, effects } = decideGroup(this.state, { ...message, commandId: asId<CommandId>("cmd_1") }, 0);
    this.state = next;
    for (const effect of effects) this.#note(effect);
    return this;
  }

  #note(effect: OwedEffect): void {
    if (effect.type === "answer") this.verdict = [effect.verdict.outcome, effect.verdict.by ?? ""].join(" ").trim();
    if (effect.type !== "command" || effect.body.kind === "enter" || !("by" in effect.body)) return;
    const { kind, by } = effect.body;
    this.sent.push(`${kind} ${memberKey(effect.body.member)}${by === null ? "" : ` by ${by}`}`);
  }
}

describe("a group", () => {
  let group: SimulatedGroup;

  beforeEach(() => {
    group = new SimulatedGroup();
  });

  it("gives places up to its limit, and a free place to the oldest member that waits", () => {
    group.enter("run_1").enter("run_3").enter("run_2");
    expect(group.takeSent()).to.deep.equal(["placed run_1"]);
    expect(group.leave("run_1").takeSent()).to.deep.equal(["placed run_2"]);
    expect(group.leave("run_2").leave("run_3").takeSent()).to.deep.equal(["placed run_3"]);
    expect(group.state).to.include({ state: "idle" });
  });

  it("gives a member that asks again the same answer, and sends the others nothing", () => {
    group.enter("run_1").enter("run_2").takeSent();
    const before = group.state;
    expect(group.enter("run_1").takeSent()).to.deep.equal(["placed run_1"]);
    expect(group.enter("run_2").takeSent()).to.deep.equal([]);
    expect(group.leave("run_9").takeSent()).to.deep.equal([]);
    expect(group.verdict).to.equal("accepted");
    expect(group.state).to.equal(before);
  });

  it("has the limit of the newest definition, in any order of entry", () => {
    group.enter("run_1").enter("run_2").enter("run_3", { definedBy: "rev_3", limit: 2 });
    expect(group.holders).to.deep.equal(["run_1", "run_2"]);
    group.enter("run_4", { definedBy: "rev_2", limit: 9 });
    expect(group.holders).to.have.length(2);
    // A lower limit ends no member: places are free again when enough members have left.
    group.enter("run_5", { definedBy: "rev_4", limit: 1 }).leave("run_1");
    expect(group.holders).to.deep.equal(["run_2"]);
  });

  it("ends older members for a newer one with cancelRunning, and places it once they have left", () => {
    group.enter("run_1").enter("run_2").takeSent();
    group.enter("run_3", { onConflict: "cancelRunning" });
    expect(group.takeSent()).to.deep.equal(["superseded run_1 by run_3", "superseded run_2 by run_3"]);
    expect(group.holders, "while it ends it has its place").to.deep.equal(["run_1"]);
    expect(group.leave("run_2").takeSent()).to.deep.equal([]);
    expect(group.leave("run_1").takeSent()).to.deep.equal(["placed run_3"]);
  });

  it("ends no newer member for an older one that enters later", () => {
    group.enter("run_2", { onConflict: "cancelRunning" }).takeSent();
    group.enter("run_1", { onConflict: "cancelRunning" });
    expect(group.takeSent()).to.deep.equal(["superseded run_1 by run_2"]);
    expect(group.holders).to.deep.equal(["run_2"]);
  });

  it("refuses a member with reject when it is full, and names the run that has the place", () => {
    group.enter("run_1", { onConflict: "reject" }).enter("run_2", { onConflict: "reject" });
    expect(group.verdict).to.equal("refused run_1");
    expect(group.takeSent()).to.deep.equal(["placed run_1", "placeRefused run_2 by run_1"]);
    group.leave("run_1").enter("run_3", { onConflict: "reject" });
    expect(group.takeSent()).to.deep.equal(["placed run_3"]);
  });

  it("answers a trigger that reserves a place, and tells the run once the run asks for it", () => {
    group.enter("run_1", { onConflict: "reject" }, { isReservation: true });
    expect(group.takeSent(), "there is no run yet").to.deep.equal([]);
    expect(group.verdict).to.equal("accepted");
    group.enter("run_2", { onConflict: "reject" }, { isReservation: true });
    expect(group.verdict).to.equal("refused run_1");
    expect(group.takeSent()).to.deep.equal([]);
    expect(group.enter("run_1", { onConflict: "reject" }).takeSent()).to.deep.equal(["placed run_1"]);
  });

  it("refuses a member when the most members wait that may", () => {
    const key = (n: number) => `run_${String(n).padStart(6, "0")}`;
    const seat = { onConflict: "queue", enteredAt: 0, supersededBy: null } as const;
    const seats = Array.from({ length: MAX_WAITING + 1 }, (_, n) => ({ ...seat, key: key(n), held: n === 0 }));
    group.state = { ...EMPTY, state: "busy", limit: 1, definedBy: "rev_1", seats };
    group.enter("run_x");
    expect(group.verdict).to.equal(`refused ${key(0)}`);
    expect(group.takeSent()).to.deep.equal([`placeRefused run_x by ${key(0)}`]);
    group.leave(key(1)).enter("run_x");
    expect(group.verdict).to.equal("accepted");
  });

  it("identifies runs, jobs and cells by keys that sort by their creation", () => {
    const members = [
      member("run_1"),
      member("run_1", 2),
      { ...member("run_1", 2), cell: 3 },
      { ...member("run_1", 2), cell: 10 },
      member("run_1", 10),
      member("run_2", 0),
    ];
    const keys = members.map(memberKey);
    expect(keys.toSorted()).to.deep.equal(keys);
    expect(keys.map(memberOf)).to.deep.equal(members);
  });

  it("accepts a text of 1 to 200 characters, or a number, as its name", () => {
    expect([" deploy ", 7, "", "  ", null, "x".repeat(201), {}].map(groupNameOf)).to.deep.equal([
      "deploy",
      "7",
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("keeps its promises in any order of messages, with repeats", () => {
    const run = fc.integer({ min: 1, max: 8 }).map((n) => `run_${n}`);
    const step = fc.record({
      do: fc.constantFrom("enter", "enter", "leave"),
      run,
      limit: fc.integer({ min: 1, max: 3 }),
      definedBy: fc.constantFrom("rev_1", "rev_2", "rev_3"),
      onConflict: fc.constantFrom<PlannedGroup["onConflict"]>("queue", "queue", "cancelRunning", "reject"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const simulated = new SimulatedGroup();
        const told = new Map<string, Set<string>>();
        for (const action of steps) {
          const held = simulated.holders.length;
          if (action.do === "enter") simulated.enter(action.run, action);
          else simulated.leave(action.run);
          if (action.do === "leave") told.delete(action.run);
          for (const line of simulated.takeSent()) {
            const [kind, key] = line.split(" ") as [string, string];
            told.set(key, (told.get(key) ?? new Set()).add(kind));
          }
          const { seats, limit, state } = simulated.state;
          expect(simulated.holders.length, "never more than the limit begin").to.be.at.most(Math.max(limit, held));
          expect(state === "idle").to.equal(seats.length === 0);
          for (const seat of seats) {
            expect(told.get(seat.key)?.has("placed") ?? false, "a member has a place when it was told so").to.equal(
              seat.held,
            );
            expect(told.get(seat.key)?.has("superseded") ?? false).to.equal(seat.supersededBy !== null);
          }
          const waiting = seats.filter((seat) => !seat.held && seat.supersededBy === null);
          if (waiting.length > 0) expect(simulated.holders.length, "no place is left free").to.be.at.least(limit);
        }
        // Every member that has a place, or was told to end, ends later.
        for (let rounds = 0; simulated.state.seats.length > 0 && rounds < 100; rounds++) {
          const leaving = simulated.state.seats.find((seat) => seat.held || seat.supersededBy !== null);
          expect(leaving, "one member can always work").to.not.equal(undefined);
          simulated.leave(leaving!.key);
        }
        expect(simulated.state.state).to.equal("idle");
      }),
      { numRuns: 500 },
    );
  });
});
