/** Blobs in an object storage: their contract, several processes, faults of the storage, and addresses for users. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { removeOrphans } from "../../src/app/content/object-collector.ts";
import { PIECE_BYTES } from "../../src/domain/artifacts.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import { artifactIdOf, cacheBlobIdOf, cacheIdOf, DEFAULT_PROJECT, newId } from "../../src/domain/ids.ts";
import type { ObjectPlace } from "../../src/settings/object-storage.ts";
import { claimObjects } from "../../src/node/claim-objects.ts";
import { movedBlobStore } from "../../src/stores/objects/moved-blobs.ts";
import { ObjectBlobStore } from "../../src/stores/objects/object-blobs.ts";
import { ObjectClient } from "../../src/stores/objects/object-client.ts";
import { openObjectBlobs } from "../../src/stores/objects/open.ts";
import { PART_BYTES } from "../../src/stores/objects/upload-in-hand.ts";
import type { BlobStore } from "../../src/stores/ports/blobs.ts";
import { fileBlobStore } from "../../src/stores/sqlite/blobs.ts";
import { blobStoreContract } from "../contracts/blob-store.ts";
import { startTestObjectStorage, type TestObjectStorage } from "./storage.ts";
import { openTestSqlite } from "../support/stores.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { UPLOAD_RULES } from "../support/upload-rules.ts";

const DAY_MS = 86_400_000;
const ID = "art_01ABCDEF";
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("blobs in an object storage", function () {
  this.timeout(180_000);
  let storage: TestObjectStorage;
  let place: ObjectPlace;
  const clients: ObjectClient[] = [];

  before(async () => void (storage = await startTestObjectStorage()));
  beforeEach(() => void (place = storage.place()));
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  after(() => storage?.stop());

  /** What one process knows of the storage. */
  const open = (at: ObjectPlace = place, mostInHand?: number) => {
    const client = new ObjectClient(at);
    clients.push(client);
    return { client, blobs: new ObjectBlobStore(client, mostInHand) };
  };
  const putFrom = async (blobs: BlobStore, content: Uint8Array, from: number, to = content.length): Promise<void> => {
    for (let at = from; at < to; at += PIECE_BYTES) {
      expect(await blobs.put(ID, at, content.subarray(at, Math.min(at + PIECE_BYTES, to)))).to.equal("stored");
    }
  };
  const readAll = async (blobs: ObjectBlobStore, from: number, length: number): Promise<Buffer> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of blobs.objects.stream(ID, from, length)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const namesOf = async (client: ObjectClient): Promise<readonly string[]> => {
    const names: string[] = [];
    for await (const { name } of client.list("")) names.push(name);
    for await (const { name } of client.unfinished("")) names.push(`unfinished ${name}`);
    return names;
  };
  const refusal = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => "nothing was refused",
      (error: unknown) => error,
    );

  describe("as every store of blobs", () => {
    let [one, other]: BlobStore[] = [];
    before(() => {
      place = storage.place();
      [one, other] = [new ObjectBlobStore(new ObjectClient(place)), new ObjectBlobStore(new ObjectClient(place))];
    });
    blobStoreContract(
      () => ({ blobs: one! }),
      () => ({ blobs: other! }),
    );
  });

  it("are stored in parts, and go on where a process that died had stored them", async () => {
    const content = randomBytes(2 * PART_BYTES + 5 * PIECE_BYTES + 77);
    const [dying, next] = [open(), open()];
    await putFrom(dying.blobs, content, 0, 2 * PART_BYTES + 3 * PIECE_BYTES);
    // The process dies with the newest pieces in its memory.
    expect(await next.blobs.storedBytes(ID)).to.equal(2 * PART_BYTES);
    await putFrom(next.blobs, content, 2 * PART_BYTES);
    expect(await next.blobs.complete(ID, content.length)).to.equal("complete");
    expect(sha256(await readAll(next.blobs, 0, content.length))).to.equal(sha256(content));
    const part = await readAll(next.blobs, PART_BYTES - 10, 3 * PIECE_BYTES);
    expect(part.equals(content.subarray(PART_BYTES - 10, PART_BYTES - 10 + 3 * PIECE_BYTES))).to.equal(true);
    expect(await namesOf(next.client), "nothing else is left").to.deep.equal([`blobs/${ID}`]);
    // The process was only cut off, and comes back.
    expect(await dying.blobs.put(ID, 2 * PART_BYTES + 3 * PIECE_BYTES, content.subarray(0, PIECE_BYTES))).to.equal(
      "stored",
    );
    expect(await dying.blobs.complete(ID, content.length)).to.equal("complete");
    expect(sha256(await readAll(next.blobs, 0, content.length))).to.equal(sha256(content));
  });

  it("are continued by any process, also within a part", async () => {
    const content = randomBytes(PART_BYTES + 4 * PIECE_BYTES);
    const step = 9 * PIECE_BYTES;
    for (let at = 0; at < content.length; at += step) {
      const { blobs } = open();
      expect(await blobs.storedBytes(ID)).to.equal(at);
      await putFrom(blobs, content, at, Math.min(at + step, content.length));
      await blobs.flush(ID);
    }
    const { client, blobs } = open();
    expect(await blobs.complete(ID, content.length)).to.equal("complete");
    expect(sha256(await readAll(blobs, 0, content.length))).to.equal(sha256(content));
    expect(await namesOf(client)).to.deep.equal([`blobs/${ID}`]);
  });

  it("stage the pieces of uploads that rest when too many are in hand", async () => {
    const { blobs } = open(place, 2);
    const ids = Array.from({ length: 4 }, (_, n) => `art_many${n}`);
    const piece = randomBytes(PIECE_BYTES);
    for (const id of ids) await blobs.put(id, 0, piece);
    expect(await open().blobs.storedBytes(ids[0]!), "staged for others").to.equal(PIECE_BYTES);
    expect(await open().blobs.storedBytes(ids.at(-1)!), "in hand").to.equal(0);
    for (const id of ids) expect(await blobs.put(id, PIECE_BYTES, Buffer.from(id)), id).to.equal("stored");
    for (const id of ids) {
      expect(await blobs.complete(id, PIECE_BYTES + id.length), id).to.equal("complete");
      expect(Buffer.from(await blobs.read(id, PIECE_BYTES, 100)).toString()).to.equal(id);
    }
  });

  it("leave what an installation had stored elsewhere readable, and take new ones", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-former-"));
    try {
      const former = fileBlobStore(folder);
      const content = randomBytes(2 * PIECE_BYTES);
      await putFrom(former, content, 0);
      await former.complete(ID, content.length);
      await former.put("upl_01BEGUN", 0, content.subarray(0, PIECE_BYTES));
      const { client, blobs: objects } = open();
      const blobs = movedBlobStore(objects, former);
      expect(Buffer.from(await blobs.read(ID, PIECE_BYTES, 5))).to.have.length(5);
      const chunks: Uint8Array[] = [];
      for await (const chunk of blobs.objects!.stream(ID, 10, content.length - 10)) chunks.push(chunk);
      expect(Buffer.concat(chunks).equals(content.subarray(10))).to.equal(true);
      expect(await blobs.storedBytes("upl_01BEGUN")).to.equal(PIECE_BYTES);
      expect(await blobs.put("upl_01BEGUN", PIECE_BYTES, content.subarray(PIECE_BYTES))).to.equal("stored");
      expect(await blobs.complete("upl_01BEGUN", content.length)).to.equal("complete");
      await putFrom(objects, content, 0);
      expect(await namesOf(client), "nothing is moved").to.deep.equal([]);
      await blobs.put("art_01NEW", 0, content.subarray(0, 7));
      expect(await blobs.complete("art_01NEW", 7)).to.equal("complete");
      expect(await former.read("art_01NEW", 0, 7)).to.have.length(0);
      for (const id of [ID, "art_01NEW"]) {
        await blobs.delete(id);
        expect(await blobs.read(id, 0, 7), id).to.have.length(0);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("lose nothing while the storage is away, and say that it is", async () => {
    const proxy = await TcpProxy.start(storage.port);
    try {
      const { blobs } = open({ ...place, endpoint: `http://127.0.0.1:${proxy.port}` });
      const content = randomBytes(PART_BYTES + 2 * PIECE_BYTES + 9);
      const all = PART_BYTES + 2 * PIECE_BYTES;
      await putFrom(blobs, content, 0, PART_BYTES);
      await proxy.goDown();
      for (const call of [
        () => blobs.put(ID, PART_BYTES, content.subarray(PART_BYTES, PART_BYTES + PIECE_BYTES)),
        () => blobs.complete(ID, PART_BYTES),
        () => blobs.read(ID, 0, 10),
        () => blobs.storedBytes(ID),
        () => blobs.flush(ID),
        () => blobs.delete("art_01OTHER"),
        () => blobs.objects.check(),
      ]) {
        const error = await refusal(call());
        expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
        expect((error as Error).message)
          .to.include(`s3://${place.bucket}/`)
          .and.include("cannot be reached (ECONN");
        expect((error as Error).message).not.to.include(storage.credentials.AWS_SECRET_ACCESS_KEY);
      }
      await proxy.comeUp();
      await putFrom(blobs, content, PART_BYTES, all);
      expect(await blobs.put(ID, all, content.subarray(all))).to.equal("stored");
      await proxy.goDown();
      expect(await refusal(blobs.complete(ID, content.length))).to.be.instanceOf(MillraceError);
      await proxy.comeUp();
      expect(await blobs.complete(ID, content.length)).to.equal("complete");
      const chunks: Uint8Array[] = [];
      for await (const chunk of blobs.objects.stream(ID, 0, content.length)) {
        // A connection that breaks is replaced.
        if (chunks.length === 0) {
          await proxy.goDown();
          await proxy.comeUp();
        }
        chunks.push(chunk);
      }
      expect(sha256(Buffer.concat(chunks))).to.equal(sha256(content));
    } finally {
      await proxy.close();
    }
  });

  it("are not opened in a bucket that is missing, and are while the storage is away", async () => {
    const former = fileBlobStore(join(tmpdir(), "never-written"));
    const missing = await refusal(openObjectBlobs({ place: { ...place, bucket: "no-such-bucket" }, former }));
    expect(missing).to.have.property("message").that.includes("has no such bucket: create it, or correct");
    const warnings: string[] = [];
    const log = { warn: (_: object, text: string) => void warnings.push(text) };
    const away = { ...place, endpoint: "http://127.0.0.1:1" };
    (await openObjectBlobs({ place: away, former, log })).close();
    expect(warnings).to.have.length(1);
  });

  it("have addresses from which a browser fetches them as downloads, and in ranges", async () => {
    const { blobs } = open();
    expect(await blobs.objects.linkTo(ID, "a.txt")).to.equal(undefined);
    await blobs.put(ID, 0, Buffer.from("<script>alert(1)</script>"));
    await blobs.complete(ID, 25);
    const link = (await blobs.objects.linkTo(ID, 'a"b\r\nü.html'))!;
    expect(new URL(link).searchParams.get("X-Amz-Expires")).to.equal("60");
    const whole = await fetch(link);
    expect(await whole.text()).to.equal("<script>alert(1)</script>");
    expect(whole.headers.get("content-type")).to.equal("application/octet-stream");
    expect(whole.headers.get("content-disposition")).to.equal(
      `attachment; filename="a_b___.html"; filename*=UTF-8''a%22b%0D%0A%C3%BC.html`,
    );
    const part = await fetch(link, { headers: { range: "bytes=1-6" } });
    expect([part.status, await part.text()]).to.deep.equal([206, "script"]);
    const forged = await fetch(link.replace(/(?<=X-Amz-Expires=)60/, "600"));
    expect(forged.status, "an address that was changed").to.equal(403);
  });

  it("that were never completed are removed when they are old, and complete ones are not", async () => {
    const { client, blobs } = open();
    await blobs.put("art_01COMPLETE", 0, Buffer.from("complete"));
    await blobs.complete("art_01COMPLETE", 8);
    await putFrom(blobs, randomBytes(PART_BYTES + 3 * PIECE_BYTES), 0);
    await blobs.flush(ID);
    await blobs.put("art_01STAGED", 0, Buffer.from("staged"));
    await blobs.flush("art_01STAGED");
    // Some servers do not tell when an upload was begun.
    expect(await blobs.objects.removeUnfinished(0)).to.equal(0);
    await client.delete("staged/art_01STAGED/000000000000000");
    expect(await blobs.storedBytes(ID)).to.equal(PART_BYTES + 3 * PIECE_BYTES);
    expect(await blobs.objects.removeUnfinished(Date.now() + DAY_MS)).to.equal(2);
    expect(await namesOf(client)).to.deep.equal(["blobs/art_01COMPLETE"]);
    expect(await blobs.storedBytes(ID)).to.equal(0);
  });

  it("without a record are removed when they are old, and those with one are not", async () => {
    const { client, blobs } = open();
    const opened = await openTestSqlite();
    try {
      const stores = { ...opened.stores, blobs };
      const [runId, stepRun, projectId] = [newId("run"), newId("step"), DEFAULT_PROJECT];
      const times = { createdAt: 1, expiresAt: Number.MAX_SAFE_INTEGER };
      const artifact = { runId, stepRunId: stepRun, token: 1, name: "a", state: "uploading", storedAt: null } as const;
      const artifactId = artifactIdOf(runId, stepRun, 1, "a");
      const files = [{ path: "a", sizeBytes: 1, sha256: "", executable: false }];
      await stores.artifacts.begin({ ...artifact, ...times, artifactId, sizeBytes: 1, fileCount: 1, files }, 10);
      const cacheId = cacheIdOf(projectId, "v", "k");
      const blobId = cacheBlobIdOf(cacheId, stepRun, 1, "");
      const entry = { cacheId, blobId, projectId, runId, key: "k", version: "v", state: "uploading" } as const;
      await stores.caches.begin({ ...entry, ...times, sizeBytes: 1, sha256: "", usedAt: 1 });
      const kept = [artifactId, blobId, newId("pkg")];
      const orphans = [
        artifactIdOf(runId, stepRun, 1, "b"),
        newId("upl"),
        newId("hdl"),
        cacheBlobIdOf(cacheId, stepRun, 2, ""),
      ];
      for (const id of [...kept, ...orphans]) {
        await blobs.put(id, 0, Buffer.from("x"));
        await blobs.complete(id, 1);
      }
      const at = (ms: number) => ({ now: () => Date.now() + ms, monotonic: () => 0 });
      const context = { stores, log: { debug() {}, info() {}, warn() {}, error() {} }, uploadRules: UPLOAD_RULES };
      expect(await removeOrphans({ ...context, clock: at(6 * DAY_MS) }, blobs.objects)).to.equal(0);
      expect(await removeOrphans({ ...context, clock: at(8 * DAY_MS) }, blobs.objects)).to.equal(orphans.length);
      expect(await namesOf(client)).to.have.members(kept.map((id) => `blobs/${id}`));
    } finally {
      await opened.close();
    }
  });

  it("belong to one installation", async () => {
    const { objects } = open().blobs;
    const installations = await Promise.all([openTestSqlite(), openTestSqlite()]);
    const warnings: string[] = [];
    const log = { warn: (_: object, text: string) => void warnings.push(text) };
    try {
      const [one, other] = installations.map(
        ({ stores }) =>
          () =>
            claimObjects(objects, stores.shards, log),
      );
      await one!();
      await one!();
      expect(await refusal(other!()))
        .to.have.property("message")
        .that.includes("where another installation keeps its content: choose another prefix");
      const away = open({ ...place, endpoint: "http://127.0.0.1:1" }).blobs.objects;
      await claimObjects(away, installations[0].stores.shards, log);
      expect(warnings).to.have.length(1);
    } finally {
      await Promise.all(installations.map(({ close }) => close()));
    }
  });

  it("refuse ids that could be other names", async () => {
    const { blobs } = open();
    for (const id of ["../secret", "a/b", "", "x".repeat(65)]) {
      const calls: readonly (() => Promise<unknown>)[] = [
        () => blobs.put(id, 0, Buffer.from("x")),
        () => blobs.read(id, 0, 1),
        () => blobs.delete(id),
      ];
      for (const call of calls) expect(await refusal(Promise.resolve().then(call)), id).to.be.instanceOf(MillraceError);
    }
  });
});
