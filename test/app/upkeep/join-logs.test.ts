import { expect } from "chai";
import { joinLogs } from "../../../src/app/upkeep/join-logs.ts";
import { MillraceError } from "../../../src/domain/errors.ts";
import { newId, type StepRunId } from "../../../src/domain/ids.ts";
import type { LogStore } from "../../../src/stores/ports/logs.ts";
import { lines } from "../../contracts/samples.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { openTestSqlite } from "../../support/stores.ts";

describe("the upkeep of logs", () => {
  let store: Awaited<ReturnType<typeof openTestSqlite>>;
  beforeEach(async () => void (store = await openTestSqlite()));
  afterEach(() => store.close());

  const logOf = async (dueAt: number): Promise<StepRunId> => {
    const stepRunId = newId("step");
    for (let line = 1; line <= 3; line++) {
      const joining = line === 3 ? { joining: { fromLine: 2, dueAt } } : {};
      await store.stores.logs.append({ stepRunId, agentId: "a", lines: lines(line, line), ...joining });
    }
    return stepRunId;
  };
  const join = async (now: number, change: Partial<LogStore> = {}): Promise<void> => {
    const { logs } = store.stores;
    const { dueJoinings, endJoining, joinNext } = logs;
    const real = { dueJoinings, endJoining, joinNext };
    const bound = Object.fromEntries(Object.entries(real).map(([name, call]) => [name, call.bind(logs as never)]));
    const stores = { ...store.stores, logs: { ...bound, ...change } as unknown as LogStore };
    for await (const _ of joinLogs({ stores, clock: { now: () => now } as never, log: silentLog }, 2));
  };
  const chunksOf = async (stepRunId: StepRunId) =>
    (await store.stores.logs.headers(stepRunId, 1, 10)).map(({ first, last }) => [first, last]);
  const APART = [
    [1, 1],
    [2, 2],
    [3, 3],
  ];
  const JOINED = [
    [1, 1],
    [2, 3],
  ];

  it("joins the chunks of a log once it has been silent for long enough, and then leaves it alone", async () => {
    const stepRunId = await logOf(50);
    await join(49);
    expect(await chunksOf(stepRunId)).to.deep.equal(APART);
    await join(50);
    expect(await chunksOf(stepRunId)).to.deep.equal(JOINED);
    expect(await store.stores.logs.dueJoinings(1_000, 10)).to.deep.equal([]);
  });

  it("goes on with other logs when one cannot be read, and later with all when the store cannot be reached", async () => {
    const [broken, whole] = [await logOf(1), await logOf(2)];
    const { logs } = store.stores;
    const failing = (error: Error): Partial<LogStore> => ({
      joinNext: (stepRunId, fromLine) =>
        stepRunId === broken ? Promise.reject(error) : logs.joinNext(stepRunId, fromLine),
    });
    const unavailable = new MillraceError("unavailable", "the store is gone");
    const caught = await join(10, failing(unavailable)).catch((error: unknown) => error);
    expect(caught).to.equal(unavailable);
    expect(await logs.dueJoinings(10, 10)).to.have.length(2);
    await join(10, failing(new Error("incorrect header check")));
    expect(await chunksOf(broken)).to.deep.equal(APART);
    expect(await chunksOf(whole)).to.deep.equal(JOINED);
    expect(await logs.dueJoinings(10, 10)).to.deep.equal([]);
  });
});
