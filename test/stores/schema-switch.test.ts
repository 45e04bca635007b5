import { expect } from "chai";
import { MillraceError } from "../../src/domain/errors.ts";
import { agreedSince, SchemaSwitch } from "../../src/stores/format/schema-switch.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { until } from "../support/until.ts";

describe("the schema switch", () => {
  let setting: number;
  /** The newest schema that each living node reads; undefined while Redis cannot be reached. */
  let living: readonly number[] | undefined;
  let looks: number;
  let onRaise: () => void;
  let joined: SchemaSwitch[];

  beforeEach(() => {
    setting = 0;
    living = [];
    looks = 0;
    onRaise = () => {};
    joined = [];
  });
  afterEach(() => Promise.all(joined.map((node) => node.stop())));

  async function join(schema: number): Promise<SchemaSwitch> {
    const self = await SchemaSwitch.join({
      schema,
      readers: async () => {
        looks++;
        if (living === undefined) throw new Error("no Redis");
        return living;
      },
      shards: {
        async raiseSetting(_name, least) {
          if (least > setting) {
            setting = least;
            onRaise();
          }
          return setting;
        },
      },
      log: silentLog,
      timing: { lookMs: 2, agreedMs: 20 },
    });
    joined.push(self);
    return self;
  }

  const looksMore = async (count: number): Promise<void> => {
    const from = looks;
    await until("more looks", () => looks >= from + count);
  };

  it("writes the old schema until all nodes read the new one, then always the new one", async () => {
    living = [2, 1];
    const node = await join(2);
    expect(node.writes()).to.equal(1);
    await looksMore(20);
    expect([node.writes(), setting]).to.deep.equal([1, 1]);
    living = [2, 2];
    await until("the switch", () => node.writes() === 2);
    expect(setting).to.equal(2);
    living = [2, 1];
    const after = looks;
    expect(node.writes()).to.equal(2);
    expect(looks, "there is nothing left to look for").to.equal(after);
  });

  it("does not switch while the living nodes are not known", async () => {
    living = [2, 1];
    const node = await join(2);
    living = undefined;
    await looksMore(20);
    expect(node.writes()).to.equal(1);
    living = [2];
    await until("the switch", () => node.writes() === 2);
  });

  it("does not switch when an old node announces itself just before the setting is raised", async () => {
    living = [2];
    onRaise = () => (living = [2, 1]);
    setting = 1;
    const node = await join(2);
    await until("old nodes can no longer start", () => setting === 2);
    await looksMore(20);
    expect(node.writes(), "an old node lives").to.equal(1);
    expect((await join(2)).writes(), "also for one that starts now").to.equal(1);
    living = [2];
    await until("the switch", () => node.writes() === 2);
  });

  it("writes the new schema from the start in an empty store", async () => {
    living = [2];
    expect((await join(2)).writes()).to.equal(2);
    expect(setting).to.equal(2);
  });

  it("writes the old schema to an empty store when an old node starts at the same time", async () => {
    living = [2];
    onRaise = () => (living = [2, 1]);
    const node = await join(2);
    expect(node.writes()).to.equal(1);
    living = [2];
    await until("the switch", () => node.writes() === 2);
  });

  it("writes the new schema from the start when all nodes have switched", async () => {
    setting = 2;
    living = [2, 2];
    expect((await join(2)).writes()).to.equal(2);
  });

  it("refuses a node that cannot read what may be stored", async () => {
    setting = 2;
    const error = await join(1).catch((caught: unknown) => caught);
    expect(error)
      .to.be.instanceOf(MillraceError)
      .with.property(
        "message",
        "this deployment has been upgraded: it is stored with schema 2, and this version of millrace reads up to 1: start the version that the other nodes run, or a newer one",
      );
    expect(error).to.include({ reason: "conflict" });
  });

  it("refuses a node two schemas ahead of a living node, until that node has ended", async () => {
    living = [1, 3];
    const error = await join(3).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(MillraceError).with.property("message").that.includes("versions in between first");
    expect(setting, "what the old ones start with").to.equal(1);
    living = [3];
    expect((await join(3)).writes()).to.equal(2);
    expect(setting).to.equal(2);
  });

  it("never asks for a schema below the first", async () => {
    living = [1];
    const node = await join(1);
    expect([node.writes(), setting]).to.deep.equal([1, 1]);
  });

  it("counts agreement from its beginning, and starts again after any doubt", () => {
    expect(agreedSince(2, null, [2, 3], 10)).to.equal(10);
    expect(agreedSince(2, 10, [2, 2], 20)).to.equal(10);
    expect(agreedSince(2, 10, [2, 1], 20)).to.equal(null);
    expect(agreedSince(2, 10, "unknown", 20)).to.equal(null);
    expect(agreedSince(2, 10, [], 20), "a Redis that was emptied").to.equal(null);
  });
});
