import { expect } from "chai";
import { seeded } from "../chaos/world/random.ts";
import { RaceWorld } from "./race-world.ts";
import { playRaces } from "./races.ts";
import { faultOfEvents, faultOfLines, faultOfStatuses } from "./round.ts";

const ROUNDS = 50;

describe("viewers that subscribe around a start, an end, the restart of an edge or a change of owner", function () {
  this.timeout(180_000);
  let world: RaceWorld;
  before(async () => {
    world = await RaceWorld.start();
  });
  after(() => world?.stop());

  it(`see exactly what is stored, in ${ROUNDS} rounds`, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    try {
      await playRaces(world, ROUNDS, seeded(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  });
});

describe("the judge of the races", () => {
  const lines = [{ line_number: 1 }, { line_number: 2 }, { line_number: 3 }];
  const events = ["pending", "running", "success"].map((status, at) => {
    return { number: at + 1, object: "pipeline", status, stepRunId: null };
  });
  const stored = { lines, events, statuses: ["pending", "queued", "running", "success"] };
  const message = (type: string, data: unknown) => ({ type, data, after: undefined });

  it("finds a line that is missing, doubled, changed, or behind the end", () => {
    const chunk = message("log_chunk", lines.slice(0, 2));
    const last = message("log", lines[2]);
    expect(faultOfLines([[chunk], [last]], stored)).to.equal(null);
    expect(faultOfLines([[chunk]], stored)).to.include("line 3");
    expect(faultOfLines([[chunk], [chunk], [last]], stored)).to.include("line 3");
    expect(faultOfLines([[chunk, last, last]], stored)).to.include("behind the end");
    expect(faultOfLines([[chunk, message("log", { line_number: 4 })]], stored)).to.include("line 3");
  });

  it("finds a status that is missing, repeated, or older than the one before", () => {
    const snapshot = (status: number) => message("status_snapshot", { status });
    const status = (word: string) => message("status", { status: word });
    expect(faultOfStatuses([[snapshot(2), status("running")], [snapshot(4)]], stored)).to.equal(null);
    expect(faultOfStatuses([[snapshot(2), status("success")]], stored)).to.include("instead of running");
    expect(faultOfStatuses([[snapshot(3), status("running")]], stored)).to.include("instead of success");
    expect(faultOfStatuses([[snapshot(3)], [snapshot(2)]], stored)).to.include("went back");
    expect(faultOfStatuses([[snapshot(3)]], stored)).to.include("never saw the end");
  });

  it("finds an event that is missing, repeated, or another one", () => {
    const snapshot = message("snapshotDone", { eventNumber: 1 });
    const event = (eventNumber: number, status: string) =>
      message("event", { eventNumber, object: "pipeline", status, stepRunId: null });
    expect(faultOfEvents([[snapshot, event(2, "running")], [event(3, "success")]], stored)).to.equal(null);
    expect(faultOfEvents([[snapshot, event(3, "success")]], stored)).to.include("behind 1");
    expect(faultOfEvents([[snapshot, event(2, "running"), event(2, "running")]], stored)).to.include("behind 2");
    expect(faultOfEvents([[snapshot, event(2, "success")]], stored)).to.include("another event");
    expect(faultOfEvents([[snapshot, event(2, "running")]], stored)).to.include("2 of 3");
  });
});
