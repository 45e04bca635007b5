/** The contract of logs whose lines are in an object storage. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { coolLog } from "../../src/app/upkeep/cool-logs.ts";
import { returnLogs, type ReturnedLogs } from "../../src/app/upkeep/return-logs.ts";
import { firstLinesOf } from "../../src/app/logs/first-lines.ts";
import { PIECE_BYTES } from "../../src/domain/artifacts.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import { newId, type StepRunId } from "../../src/domain/ids.ts";
import type { ColdChunks } from "../../src/stores/format/cold-chunks.ts";
import type { BlobStore } from "../../src/stores/ports/blobs.ts";
import { ColdLogError, type LogLine, logOfColdBlob } from "../../src/stores/ports/logs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { gap, lines } from "./samples.ts";
import { endWatches, type WatchWrites } from "./watched-writes.ts";

/** `cold`: what the store reads cold lines with. */
export function coldLogContract(open: () => Stores, cold: ColdChunks, watchWrites: WatchWrites): void {
  describe("a cold log", () => {
    let [away, wrong] = [false, false];
    /** The blobs of the store, in place of an object storage. */
    const blobs = (): BlobStore => {
      const { blobs: stored } = open();
      const put = async (blobId: string, bytes: Uint8Array): Promise<void> => {
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          await stored.put(blobId, at, bytes.subarray(at, at + PIECE_BYTES));
        }
        await stored.complete(blobId, bytes.length);
      };
      const read: BlobStore["read"] = (...call) =>
        away
          ? Promise.reject(new MillraceError("unavailable", "the storage is away"))
          : stored.read(...call).then((bytes) => (wrong ? new Uint8Array(bytes.length) : bytes));
      return {
        ...stored,
        delete: (blobId) => stored.delete(blobId),
        read,
        objects: { put } as unknown as NonNullable<BlobStore["objects"]>,
      };
    };
    afterEach(endWatches);
    before(() => cold.use({ read: (...call) => blobs().read(...call) }));
    beforeEach(() => void ([away, wrong] = [false, false]));

    const cool = (stepRunId: StepRunId) => coolLog({ stores: { ...open(), blobs: blobs() } }, stepRunId);
    const long = (line: LogLine): LogLine => ({
      ...line,
      content: `${line.content} ${"x".repeat(90)}`,
      ...(line.line === 77 ? { level: "error" } : line.line === 300 ? { stream: "stderr" as const } : {}),
    });
    /** A log of chunks of all kinds, which overlap. */
    const stored = async (): Promise<StepRunId> => {
      const stepRunId = newId("step");
      for (const [first, last, compression] of [
        [1, 1, undefined],
        [2, 200, "gzip"],
        [199, 400, "brotli"],
        [401, 440, undefined],
        [441, 445, undefined],
      ] as const) {
        const chunk = lines(first, last).map(long);
        await open().logs.append({ stepRunId, agentId: "a", lines: chunk, ...(compression && { compression }) });
      }
      for (const chunk of [[gap(446, 500)], lines(501, 502)]) {
        await open().logs.append({ stepRunId, agentId: "a", lines: chunk });
      }
      return stepRunId;
    };
    const looksOf = async (stepRunId: StepRunId) => {
      const { logs } = open();
      return {
        all: await logs.read(stepRunId, 1, 10_000),
        some: await logs.read(stepRunId, 198, 4),
        end: await logs.read(stepRunId, 439, 100),
        headers: await logs.headers(stepRunId, 1, 100),
        first: await firstLinesOf({ headers: (...call) => logs.headers(...call) }, stepRunId),
        size: await logs.size(stepRunId),
        through: await logs.storedThrough(stepRunId),
      };
    };
    const refusal = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

    it("is read like any other one, takes late lines, is not joined, and is moved once", async () => {
      const stepRunId = await stored();
      const before = await looksOf(stepRunId);
      expect(await open().logs.coldBlobs([stepRunId])).to.deep.equal([]);
      await cool(stepRunId);
      expect(await looksOf(stepRunId)).to.deep.equal(before);
      const objects = await open().logs.coldBlobs([newId("step"), stepRunId]);
      expect(objects.map(logOfColdBlob)).to.deep.equal([stepRunId]);
      await cool(stepRunId);
      expect(await open().logs.coldBlobs([stepRunId])).to.deep.equal(objects);
      expect(await open().logs.warmChunks(stepRunId, 1, 1)).to.deep.equal([]);
      for (let from: number | undefined = 1; from !== undefined;) from = await open().logs.joinNext(stepRunId, from);
      expect((await open().logs.read(stepRunId, 1, 10_000)).length).to.equal(before.all.length);
      await open().logs.append({ stepRunId, agentId: "a", lines: lines(502, 600).map(long) });
      expect((await open().logs.read(stepRunId, 501, 200)).map(({ line }) => line)).to.deep.equal(
        lines(501, 600).map(({ line }) => line),
      );
      await cool(stepRunId);
      expect(await open().logs.coldBlobs([stepRunId])).to.have.length(2);
    });

    it("loses, repeats and moves no line for a reader at any moment, wherever the move is cut off", async () => {
      const watched = await stored();
      const expected = await looksOf(watched);
      let statements = 0;
      const seen = async () => expect(await looksOf(watched), "while it is moved").to.deep.equal(expected) && undefined;
      const restore = watchWrites({ seen, done: () => void statements++ });
      await cool(watched).finally(restore);
      expect(statements).to.be.greaterThan(2);
      for (let cut = 1; cut <= statements; cut++) {
        const stepRunId = await stored();
        let left = cut;
        const done = (): void => {
          if (--left <= 0) throw new Error("the node died");
        };
        const mend = watchWrites({ seen: () => Promise.resolve(), done });
        await refusal(cool(stepRunId)).finally(mend);
        expect(await looksOf(stepRunId), `cut off at statement ${cut}`).to.deep.equal(expected);
        await cool(stepRunId);
        expect(await looksOf(stepRunId), `cut off at statement ${cut}, and moved`).to.deep.equal(expected);
        expect(await open().logs.warmChunks(stepRunId, 1, 1)).to.deep.equal([]);
      }
    });

    it("that is removed while it is moved leaves no object", async () => {
      const stepRunId = await stored();
      const run = { runId: newId("run"), jobIds: [], stepRunIds: [stepRunId], approvalIds: [] };
      const deleted: string[] = [];
      const removing = {
        ...blobs(),
        delete: (blobId: string) => Promise.resolve(void deleted.push(blobId)),
        objects: { put: () => open().removeRun(run) } as never,
        read: (_: string, at: number) => Promise.resolve(bytes.subarray(at, at + PIECE_BYTES)),
      };
      const chunks = await open().logs.warmChunks(stepRunId, 1, 1 << 30);
      const bytes = Buffer.concat(chunks.map(({ body }) => body));
      await coolLog({ stores: { ...open(), blobs: removing } }, stepRunId);
      expect(deleted.map(logOfColdBlob)).to.deep.equal([stepRunId]);
      expect(await open().logs.read(stepRunId, 1, 10)).to.deep.equal([]);
    });

    it("is moved only when the storage answers what it was given", async () => {
      const stepRunId = await stored();
      const before = await looksOf(stepRunId);
      const forgetful = { ...blobs(), read: () => Promise.resolve(new Uint8Array()) };
      const caught = await refusal(coolLog({ stores: { ...open(), blobs: forgetful } }, stepRunId));
      expect(caught).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
      expect(await looksOf(stepRunId)).to.deep.equal(before);
      expect(await open().logs.coldBlobs([stepRunId])).to.deep.equal([]);
    });

    it("cannot be read while the storage is away, and has one gap record for an object that is gone", async () => {
      const [stepRunId, warm] = [await stored(), await stored()];
      const before = await looksOf(stepRunId);
      await cool(stepRunId);
      away = true;
      const caught = await refusal(open().logs.read(stepRunId, 401, 10));
      expect(caught).to.be.instanceOf(ColdLogError).with.property("reason", "unavailable");
      expect(await looksOf(warm)).to.deep.equal(before);
      expect(await open().logs.headers(stepRunId, 1, 100)).to.deep.equal(before.headers);
      away = false;
      const [blobId] = await open().logs.coldBlobs([stepRunId]);
      await open().blobs.delete(blobId!);
      const lost = await open().logs.read(stepRunId, 1, 10_000);
      expect(lost.filter((line) => line.lost > 0).map(({ line, lost: count }) => [line, count])).to.deep.include([
        2, 199,
      ]);
      expect(lost.at(-1)).to.deep.equal(before.all.at(-1));
    });

    /** Moves back all logs of the store. */
    const comeBack = async (): Promise<ReturnedLogs> => {
      for (const moving = returnLogs({ stores: open() }, new AbortController().signal); ;) {
        const { done, value } = await moving.next();
        if (done === true) return value;
      }
    };

    it("comes back into the store, wherever the move is cut off, and needs no object then", async () => {
      // Logs of other tests.
      await comeBack();
      const watched = await stored();
      const expected = await looksOf(watched);
      await cool(watched);
      const objects = await open().logs.coldBlobs([watched]);
      let statements = 0;
      const seen = async () => expect(await looksOf(watched), "while it is moved").to.deep.equal(expected) && undefined;
      const restore = watchWrites({ seen, done: () => void statements++ });
      const moved = await comeBack().finally(restore);
      expect(moved.logs).to.equal(1);
      expect(moved.incomplete).not.to.include(watched);
      for (const blobId of objects) await open().blobs.delete(blobId);
      expect(await looksOf(watched), "without its objects").to.deep.equal(expected);
      expect((await comeBack()).logs, "a repeat finds nothing").to.equal(0);
      expect(statements).to.be.greaterThan(2);
      for (let cut = 1; cut <= statements; cut++) {
        const stepRunId = await stored();
        await cool(stepRunId);
        let left = cut;
        const done = (): void => {
          if (--left <= 0) throw new Error("the command died");
        };
        const mend = watchWrites({ seen: () => Promise.resolve(), done });
        await refusal(comeBack()).finally(mend);
        expect(await looksOf(stepRunId), `cut off at statement ${cut}`).to.deep.equal(expected);
        await comeBack();
        expect(await open().logs.coldBlobs([stepRunId])).to.deep.equal([]);
        expect(await looksOf(stepRunId), `cut off at statement ${cut}, and moved`).to.deep.equal(expected);
      }
      await cool(watched);
      expect(await open().logs.coldBlobs([watched]), "it can be moved again").to.have.length(1);
    });

    it("stays where it is while its objects are away, gone or not what was moved there", async () => {
      await comeBack();
      const [kept, changed] = [await stored(), await stored()];
      const before = await looksOf(kept);
      await cool(kept);
      away = true;
      expect(await refusal(comeBack()))
        .to.be.instanceOf(ColdLogError)
        .with.property("reason", "unavailable");
      away = false;
      expect(await looksOf(kept)).to.deep.equal(before);
      expect((await comeBack()).incomplete).not.to.include(kept);
      await cool(changed);
      const chunks = await open().logs.coldChunks(changed);
      wrong = true;
      expect((await comeBack()).incomplete).to.include(changed);
      expect(await open().logs.coldChunks(changed)).to.deep.equal(chunks);
      wrong = false;
      await open().blobs.delete(chunks[0]!.place.blobId);
      expect((await comeBack()).incomplete).to.include(changed);
      expect(await open().logs.coldChunks(changed)).to.deep.equal(chunks);
    });

    it("that was removed, or moved elsewhere, meanwhile does not come back", async () => {
      const [removed, elsewhere] = [await stored(), await stored()];
      for (const stepRunId of [removed, elsewhere]) {
        await cool(stepRunId);
        const chunks = await open().logs.coldChunks(stepRunId);
        if (stepRunId === removed) {
          await open().removeRun({ runId: newId("run"), jobIds: [], stepRunIds: [removed], approvalIds: [] });
          await open().logs.warm(removed, chunks);
          expect(await open().logs.read(removed, 1, 10)).to.deep.equal([]);
          continue;
        }
        await open().logs.warm(elsewhere, chunks);
        await cool(elsewhere);
        const places = await open().logs.coldChunks(elsewhere);
        await open().logs.warm(elsewhere, chunks);
        expect(await open().logs.coldChunks(elsewhere)).to.deep.equal(places);
      }
    });

    it("is looked at again later, unless there was a later word about it", async () => {
      const stepRunId = newId("step");
      const { logs } = open();
      const append = (line: number, dueAt: number) =>
        logs.append({ stepRunId, agentId: "a", lines: lines(line, line), joining: { fromLine: 1, dueAt } });
      await append(1, -900);
      const [joining] = await logs.dueJoinings(-900, 1);
      await logs.putOff(joining!, { fromLine: 2, dueAt: -800 });
      expect(await logs.dueJoinings(-801, 10)).to.deep.equal([]);
      const [later] = await logs.dueJoinings(-800, 1);
      expect(later).to.deep.equal({ stepRunId, fromLine: 2, dueAt: -800 });
      await append(2, -200);
      await logs.putOff(later!, { fromLine: 2, dueAt: -600 });
      const [newest] = await logs.dueJoinings(-200, 1);
      expect(newest).to.include({ stepRunId, dueAt: -200 });
      await logs.endJoining(newest!);
    });
  });
}
