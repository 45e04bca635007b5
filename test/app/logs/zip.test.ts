/** What an archive does with a file that cannot be read, and with a reader who goes away. Its format: test/http/logs.test.ts. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { type ZipFile, zipOf } from "../../../src/app/logs/zip.ts";

const PIECE = Buffer.alloc(64 * 1024, 7);

describe("an archive of logs", () => {
  it("fails with the error of a file, and of the list of files", async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(PIECE);
      throw new Error("the store is away");
    }
    async function* files(): AsyncGenerator<ZipFile> {
      yield await Promise.resolve({ path: "a.log", modifiedAt: 0, content: failing() });
    }
    async function* noFiles(): AsyncGenerator<ZipFile> {
      yield* await Promise.reject<readonly ZipFile[]>(new Error("the list is away"));
    }
    expect(await buffer(zipOf(files())).catch((error: Error) => error.message)).to.equal("the store is away");
    expect(await buffer(zipOf(noFiles())).catch((error: Error) => error.message)).to.equal("the list is away");
  });

  it("stops to read when its reader goes away", async () => {
    const stopped = new EventTarget();
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield await Promise.resolve(randomBytes(PIECE.length));
      } finally {
        stopped.dispatchEvent(new Event("stop"));
      }
    }
    async function* files(): AsyncGenerator<ZipFile> {
      yield await Promise.resolve({ path: "a.log", modifiedAt: 0, content: endless() });
    }
    const hasStopped = once(stopped, "stop");
    let bytes = 0;
    for await (const piece of zipOf(files())) {
      bytes += piece.length;
      if (bytes > 1 << 20) break;
    }
    await hasStopped;
  });
});
