/** Tests of the order of the benchmark's rounds. */
import { expect } from "chai";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Workload } from "../../bench/arguments.ts";
import { type Contestant, playRounds, type RoundsOptions } from "../../bench/rounds.ts";

const NO_MARKS = { command: () => ["true"] as const, seen: () => Promise.resolve(0) };

describe("the rounds of the benchmark", () => {
  let folder: string;
  let calls: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-rounds-"));
    calls = [];
  });

  afterEach(() => rm(folder, { recursive: true }));

  /** A contestant that records its calls in `calls`. Each workload gives one figure. */
  function contestant(system: string, workloads: readonly Workload[], more: Partial<Contestant> = {}): Contestant {
    return {
      system,
      store: "none",
      workloads,
      async start(place) {
        calls.push(`${system} starts${existsSync(place) && readdirSync(place).length === 0 ? "" : " among files"}`);
        const measure = (name: Workload) => async () => {
          calls.push(`${system} ${name}`);
          return [{ metric: "figure", unit: "ms", value: 1 }];
        };
        return {
          workloads: Object.fromEntries(workloads.map((name) => [name, measure(name)])),
          stop: async () => void calls.push(`${system} stops`),
        };
      },
      ...more,
    };
  }

  function play(contestants: readonly Contestant[], options: Partial<RoundsOptions> = {}): Promise<void> {
    return playRounds({
      contestants,
      only: new Set<Workload>(["W1", "W2"]),
      rounds: 2,
      folder,
      marks: NO_MARKS,
      onFigures: () => {},
      onRound: async (round) => void calls.push(`round ${round} ended`),
      ...options,
    });
  }

  it("start every system in an empty folder, run its chosen workloads, and stop it", async () => {
    await play([contestant("a", ["W2", "W1", "W3"]), contestant("b", ["W1"]), contestant("c", ["W7"])]);
    const round = ["a starts", "a W2", "a W1", "a stops", "b starts", "b W1", "b stops"];
    expect(calls).to.deep.equal([...round, "round 1 ended", ...round, "round 2 ended"]);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it("measure a contestant with `once` only in the first round", async () => {
    await play([contestant("a", ["W1"], { once: true })]);
    expect(calls).to.deep.equal(["a starts", "a W1", "a stops", "round 1 ended", "round 2 ended"]);
  });

  it("pass on every figure with its round and its system", async () => {
    const figures: unknown[] = [];
    await play([contestant("a", ["W1"])], {
      onFigures: (round, workload, { system }, [figure]) => figures.push([round, workload, system, figure!.value]),
    });
    expect(figures).to.deep.equal([
      [1, "W1", "a", 1],
      [2, "W1", "a", 1],
    ]);
  });

  it("end with the first workload that fails, and stop the system of that workload", async () => {
    const failing = contestant("a", ["W1"]);
    const start: Contestant["start"] = async (...args) => ({
      ...(await failing.start(...args)),
      workloads: { W1: () => Promise.reject(new Error("1 lost")) },
    });
    const error = await play([{ ...failing, start }, contestant("b", ["W1"])]).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).to.equal("W1 of a (none) failed");
    expect(error?.cause).to.be.an("error").with.property("message").that.equal("1 lost");
    expect(calls).to.deep.equal(["a starts", "a stops"]);
    expect(readdirSync(folder)).to.deep.equal([]);
  });
});
