/**
 * The store of blobs in an object storage. A complete blob is one object, `blobs/<id>`. An incomplete one is an upload in
 * parts of the same name; the pieces behind its parts are in the memory of the process that received them, and from the end
 * of a call on in small objects `staged/<id>/<offset>`, where every process finds them. So nothing but the storage itself
 * has to survive, and any process can continue.
 */
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import { InTurn } from "../../domain/work/in-turn.ts";
import type { BlobStore, ObjectCalls } from "../ports/blobs.ts";
import { dispositionOf } from "./disposition.ts";
import type { ObjectClient, StoredPart } from "./object-client.ts";
import { MAX_OBJECT_BYTES, UploadInHand, wholeParts } from "./upload-in-hand.ts";

/** Incomplete blobs of which a process holds pieces; it stages those of the one that has rested longest for another. */
const MOST_IN_HAND = 64;
const LINK_SECONDS = 60;
/** Digits of an offset in a name, so that names sort as offsets do. */
const OFFSET_DIGITS = 15;

/** What the storage has of an incomplete blob. */
interface Found {
  readonly uploadId: string | undefined;
  readonly parts: readonly StoredPart[];
  /** By offset. */
  readonly staged: readonly Staged[];
}

interface Staged {
  readonly name: string;
  readonly offset: number;
  readonly sizeBytes: number;
}

export class ObjectBlobStore implements BlobStore {
  readonly objects: ObjectCalls;
  readonly #client: ObjectClient;
  readonly #mostInHand: number;
  readonly #turns = new InTurn();
  /** The one that has rested longest comes first. */
  readonly #inHand = new Map<string, UploadInHand>();

  constructor(client: ObjectClient, mostInHand = MOST_IN_HAND) {
    this.#client = client;
    this.#mostInHand = mostInHand;
    this.objects = {
      stream: (blobId, offset, length) => this.#stream(blobId, offset, length),
      put: (blobId, bytes) => client.put(nameOf(blobId), bytes),
      linkTo: (blobId, fileName) => this.#linkTo(blobId, fileName),
      list: () => completeBlobs(client),
      claim: (installation) => claim(client, installation),
      check: () => client.check(),
      removeUnfinished: (before) => removeUnfinished(client, before),
    };
  }

  storedBytes(blobId: string): Promise<number> {
    return this.#turns.run(blobId, async () => {
      const found = await this.#find(blobId);
      if (typeof found === "number") return wholePieces(found);
      const inHand = this.#inHand.get(blobId);
      // A new blob is in hand from the start, so that its first piece costs no further look.
      if (inHand === undefined && isNothing(found)) await this.#hold(blobId, new UploadInHand());
      return wholePieces(Math.max(endOf(found), inHand?.end ?? 0));
    });
  }

  put(blobId: string, offset: number, piece: Uint8Array): Promise<"stored" | "gap"> {
    return this.#turns.run(blobId, async () => {
      let upload = this.#touch(blobId);
      if (upload === undefined || offset > upload.end) {
        const taken = await this.#take(blobId, upload);
        if (typeof taken === "number") return offset + piece.length <= taken ? "stored" : "gap";
        upload = taken;
      }
      if (offset < upload.end) return "stored";
      if (offset > upload.end) return "gap";
      if (offset + piece.length > MAX_OBJECT_BYTES) throw tooLong();
      // Before the piece is taken: when this fails, the sender sends the piece again.
      if (upload.isPartFull && !(await this.#storePart(blobId, upload))) return "gap";
      upload.hold(piece);
      return "stored";
    });
  }

  flush(blobId: string): Promise<void> {
    return this.#turns.run(blobId, async () => {
      const upload = this.#inHand.get(blobId);
      if (upload === undefined) return;
      const bytes = upload.held(upload.stagedBytes);
      if (bytes.length > 0) await this.#client.put(stagedName(blobId, upload.stagedBytes), bytes);
      this.#inHand.delete(blobId);
    });
  }

  complete(blobId: string, sizeBytes: number): Promise<"complete" | "incomplete"> {
    return this.#turns.run(blobId, async () => {
      const size = await this.#client.sizeOf(nameOf(blobId));
      if (size !== undefined) return size === sizeBytes ? "complete" : "incomplete";
      let upload = this.#inHand.get(blobId);
      if (upload?.end !== sizeBytes) {
        const taken = await this.#take(blobId, upload);
        if (typeof taken === "number") return taken === sizeBytes ? "complete" : "incomplete";
        upload = taken;
      }
      if (upload.end !== sizeBytes) return "incomplete";
      if (!(await this.#makeObject(blobId, upload))) {
        this.#inHand.delete(blobId);
        // Another process may have completed it at the same moment.
        return (await this.#client.sizeOf(nameOf(blobId))) === sizeBytes ? "complete" : "incomplete";
      }
      this.#inHand.delete(blobId);
      if (upload.uploadId !== undefined || upload.stagedBytes > 0) await this.#removeIncomplete(blobId);
      return "complete";
    });
  }

  async read(blobId: string, offset: number, length: number): Promise<Uint8Array> {
    const count = Math.min(length, PIECE_BYTES);
    if (count === 0) return new Uint8Array();
    return (await this.#client.read(nameOf(blobId), offset, count)) ?? new Uint8Array();
  }

  delete(blobId: string): Promise<void> {
    return this.#turns.run(blobId, async () => {
      this.#inHand.delete(blobId);
      await Promise.all([this.#client.delete(nameOf(blobId)), this.#removeIncomplete(blobId)]);
    });
  }

  /** The upload in hand, which becomes the one that was used last. */
  #touch(blobId: string): UploadInHand | undefined {
    const upload = this.#inHand.get(blobId);
    if (upload === undefined) return undefined;
    this.#inHand.delete(blobId);
    this.#inHand.set(blobId, upload);
    return upload;
  }

  async #hold(blobId: string, upload: UploadInHand): Promise<void> {
    while (this.#inHand.size >= this.#mostInHand) await this.flush(this.#inHand.keys().next().value!);
    this.#inHand.set(blobId, upload);
  }

  /**
   * Takes what the storage has of a blob in hand, when it has more than `inHand`: another process may have continued it. Of a
   * complete blob, answers the size.
   */
  async #take(blobId: string, inHand: UploadInHand | undefined): Promise<UploadInHand | number> {
    const found = await this.#find(blobId);
    if (typeof found !== "number" && inHand !== undefined && inHand.end >= endOf(found)) return inHand;
    this.#inHand.delete(blobId);
    if (typeof found === "number") return found;
    const upload = new UploadInHand();
    upload.uploadId = found.uploadId;
    upload.parts.push(...found.parts);
    for (const { name, offset, sizeBytes } of found.staged) {
      if (offset > upload.end || offset + sizeBytes <= upload.end) continue;
      const bytes = await this.#client.read(name, upload.end - offset, sizeBytes - (upload.end - offset));
      if (bytes !== undefined) upload.hold(bytes);
    }
    upload.stagedBytes = upload.end;
    await this.#hold(blobId, upload);
    return upload;
  }

  /** What the storage has of a blob; of a complete one, its size. */
  async #find(blobId: string): Promise<Found | number> {
    const name = nameOf(blobId);
    const [size, uploads, staged] = await Promise.all([
      this.#client.sizeOf(name),
      this.#uploadsOf(blobId),
      this.#stagedOf(blobId),
    ]);
    if (size !== undefined) return size;
    let longest: Pick<Found, "uploadId" | "parts"> = { uploadId: undefined, parts: [] };
    for (const uploadId of uploads) {
      const parts = wholeParts((await this.#client.parts(name, uploadId)) ?? []);
      if (longest.uploadId === undefined || parts.length > longest.parts.length) longest = { uploadId, parts };
    }
    return { ...longest, staged };
  }

  /** Two processes may have begun an upload at the same time. */
  async #uploadsOf(blobId: string): Promise<readonly string[]> {
    const ids: string[] = [];
    for await (const { name, uploadId } of this.#client.unfinished(nameOf(blobId))) {
      if (name === nameOf(blobId)) ids.push(uploadId);
    }
    return ids;
  }

  async #stagedOf(blobId: string): Promise<readonly Staged[]> {
    const staged: Staged[] = [];
    for await (const { name, sizeBytes } of this.#client.list(`${STAGED}${checked(blobId)}/`)) {
      staged.push({ name, sizeBytes, offset: Number(name.slice(-OFFSET_DIGITS)) });
    }
    return staged;
  }

  /** Stores what is held as a part. False when the upload is gone. */
  async #storePart(blobId: string, upload: UploadInHand): Promise<boolean> {
    const name = nameOf(blobId);
    upload.uploadId ??= await this.#client.beginParts(name);
    const part = await this.#client.putPart(name, upload.uploadId, upload.parts.length + 1, upload.held());
    if (part === undefined) {
      this.#inHand.delete(blobId);
      return false;
    }
    upload.becamePart(part);
    return true;
  }

  /** False when the upload is gone. */
  async #makeObject(blobId: string, upload: UploadInHand): Promise<boolean> {
    const name = nameOf(blobId);
    if (upload.parts.length === 0) {
      await this.#client.put(name, upload.held());
      return true;
    }
    const last = upload.held();
    const parts = [...upload.parts];
    if (last.length > 0) {
      const part = await this.#client.putPart(name, upload.uploadId!, parts.length + 1, last);
      if (part === undefined) return false;
      parts.push(part);
    }
    return this.#client.completeParts(name, upload.uploadId!, parts);
  }

  async #removeIncomplete(blobId: string): Promise<void> {
    const [uploads, staged] = await Promise.all([this.#uploadsOf(blobId), this.#stagedOf(blobId)]);
    for (const uploadId of uploads) await this.#client.abortParts(nameOf(blobId), uploadId);
    for (const { name } of staged) await this.#client.delete(name);
  }

  /** A connection that breaks is replaced where it broke, unless it breaks again before a byte has come. */
  async *#stream(blobId: string, offset: number, length: number): AsyncGenerator<Uint8Array, void, void> {
    const end = offset + length;
    for (let [at, tried] = [offset, -1]; at < end;) {
      const body = await this.#client.open(nameOf(blobId), at, end - at);
      if (body === undefined) return;
      try {
        for await (const chunk of body) {
          yield chunk as Uint8Array;
          at += (chunk as Uint8Array).length;
        }
        return;
      } catch (error) {
        if (at === tried) throw this.#client.translated(error);
        tried = at;
      } finally {
        body.destroy();
      }
    }
  }

  async #linkTo(blobId: string, fileName: string): Promise<string | undefined> {
    const name = nameOf(blobId);
    if ((await this.#client.sizeOf(name)) === undefined) return undefined;
    return this.#client.linkTo(name, LINK_SECONDS, dispositionOf(fileName));
  }
}

const BLOBS = "blobs/";
const STAGED = "staged/";
const OWNER = "owner";
const OWNER_BYTES = 1_000;

function nameOf(blobId: string): string {
  return `${BLOBS}${checked(blobId)}`;
}

function stagedName(blobId: string, offset: number): string {
  return `${STAGED}${checked(blobId)}/${String(offset).padStart(OFFSET_DIGITS, "0")}`;
}

function checked(blobId: string): string {
  if (/^[A-Za-z0-9_]{4,64}$/.test(blobId)) return blobId;
  throw new MillraceError("internal", "the id of a blob is not one that millrace makes");
}

function endOf({ parts, staged }: Found): number {
  const upload = new UploadInHand();
  upload.parts.push(...parts);
  return staged.reduce(
    (end, { offset, sizeBytes }) => (offset <= end ? Math.max(end, offset + sizeBytes) : end),
    upload.partBytes,
  );
}

function isNothing({ uploadId, staged }: Found): boolean {
  return uploadId === undefined && staged.length === 0;
}

function wholePieces(bytes: number): number {
  return Math.floor(bytes / PIECE_BYTES) * PIECE_BYTES;
}

async function* completeBlobs(client: ObjectClient): AsyncGenerator<{ blobId: string; storedAt: number }, void, void> {
  for await (const { name, storedAt } of client.list(BLOBS)) yield { blobId: name.slice(BLOBS.length), storedAt };
}

async function claim(client: ObjectClient, installation: string): Promise<string> {
  const found = await client.read(OWNER, 0, OWNER_BYTES);
  if (found !== undefined) return Buffer.from(found).toString();
  await client.put(OWNER, Buffer.from(installation));
  return installation;
}

async function removeUnfinished(client: ObjectClient, before: number): Promise<number> {
  let removed = 0;
  for await (const { name, uploadId, begunAt } of client.unfinished(BLOBS)) {
    if (begunAt >= before) continue;
    await client.abortParts(name, uploadId);
    removed++;
  }
  for await (const { name, storedAt } of client.list(STAGED)) {
    if (storedAt >= before) continue;
    await client.delete(name);
    removed++;
  }
  return removed;
}

function tooLong(): MillraceError {
  return new MillraceError("too_large", `content in an object storage may have ${MAX_OBJECT_BYTES} bytes`);
}
