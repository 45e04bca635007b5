import { expect } from "chai";
import { nextOccurrence, nextOccurrences } from "../../src/schedules/occurrences.ts";
import { walk, wallsOf } from "./minute-walk.ts";

/** Everything takes some minutes: `npm run test:schedules`. */
const isWhole = process.env["SCHEDULES"] === "all";

/** Clocks change by an hour, by half an hour, by a day, at midnight, at a minute past it, or twice around a month. */
const ZONES = [
  "Pacific/Apia",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Africa/Cairo",
  "America/New_York",
  "America/Santiago",
  "America/Sao_Paulo",
  "Asia/Beirut",
  "Asia/Tehran",
  "Europe/Berlin",
  "Europe/London",
];
const SCHEDULES = [
  "30 2 * * *",
  "*/15 2 * * *",
  "30 * * * *",
  "*/20 * * * *",
  "30 1 * * *",
  "*/20 1-3 * * *",
  "0 0 * * *",
  "15 */2 * * *",
  "0 9 * * 1-5",
  "0 0 1 * *",
  "0 0 30 12 *",
  "0 0 29 2 *",
  "10 0 13 * 5",
];

const at = (text: string): number => Date.parse(`${text}Z`);
const shown = (times: readonly number[]): readonly string[] =>
  times.map((time) => new Date(time).toISOString().slice(5, 16));

describe("the times of a schedule", () => {
  it(`are those of a walk through every minute${isWhole ? " of ten years in twelve zones" : ""}`, () => {
    const [from, until] = isWhole
      ? [at("2009-01-01T00:00"), at("2019-01-01T00:00")]
      : [at("2011-03-01T00:00"), at("2012-01-05T00:00")];
    for (const zone of isWhole ? ZONES : ZONES.slice(0, 4)) {
      const walls = wallsOf(zone, from, until);
      for (const schedule of isWhole ? SCHEDULES : SCHEDULES.slice(0, 6)) {
        const found: number[] = [];
        const calendar = { schedule, timezone: zone };
        for (
          let next = nextOccurrence(calendar, from);
          next !== null && next < until;
          next = nextOccurrence(calendar, next)
        ) {
          found.push(next);
        }
        const expected = walk(schedule, walls, from);
        const wrong = expected.findIndex((time, index) => found[index] !== time);
        const difference = wrong === -1 ? "" : `${shown([expected[wrong]!])[0]}, not ${shown([found[wrong] ?? 0])[0]}`;
        expect(difference, `${schedule} in ${zone}`).to.equal("");
        expect(found.length, `${schedule} in ${zone}`).to.equal(expected.length);
      }
    }
  }).timeout(isWhole ? 1_200_000 : 60_000);

  it("come once, at its end, for times that a change of the clocks leaves out", () => {
    const newYork = (schedule: string) =>
      shown(nextOccurrences({ schedule, timezone: "America/New_York" }, at("2026-03-08T05:45"), 3));
    expect(newYork("30 2 * * *")).to.deep.equal(["03-08T07:00", "03-09T06:30", "03-10T06:30"]);
    expect(newYork("*/15 2 * * *")).to.deep.equal(["03-08T07:00", "03-09T06:00", "03-09T06:15"]);
    expect(newYork("0 * * * *")).to.deep.equal(["03-08T06:00", "03-08T07:00", "03-08T08:00"]);
  });

  it("come once for a fixed hour that comes twice, and both times for every hour", () => {
    const newYork = (schedule: string) =>
      shown(nextOccurrences({ schedule, timezone: "America/New_York" }, at("2026-11-01T05:00"), 3));
    expect(newYork("30 1 * * *")).to.deep.equal(["11-01T05:30", "11-02T06:30", "11-03T06:30"]);
    expect(newYork("30 1-2 * * *")).to.deep.equal(["11-01T05:30", "11-01T07:30", "11-02T06:30"]);
    expect(newYork("30 * * * *")).to.deep.equal(["11-01T05:30", "11-01T06:30", "11-01T07:30"]);
    expect(newYork("30 */1 * * *")).to.deep.equal(["11-01T05:30", "11-01T06:30", "11-01T07:30"]);
  });

  it("do not depend on where the search begins", () => {
    const calendar = { schedule: "*/20 0-3 * * *", timezone: "America/St_Johns" };
    const all = nextOccurrences(calendar, at("2011-11-05T00:00"), 60);
    for (let from = at("2011-11-05T00:00"); from < all.at(-1)!; from += 7 * 60_000) {
      expect(nextOccurrence(calendar, from)).to.equal(all.find((time) => time > from));
    }
  });

  it("are found for a day that comes every four years, and end with the calendar", () => {
    expect(
      shown(nextOccurrences({ schedule: "0 12 29 2 *", timezone: "UTC" }, at("2026-01-01T00:00"), 2)),
    ).to.deep.equal(["02-29T12:00", "02-29T12:00"]);
  });
});
