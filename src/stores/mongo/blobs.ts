/**
 * The store of blobs in GridFS: one chunk for each piece, and the document of the file once the blob is complete. Every
 * tool that knows GridFS can read them. The driver's own streams are not used, because they cannot continue an upload
 * that another process began.
 * Source: https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md
 */
import { Binary } from "mongodb";
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import type { BlobStore } from "../ports/blobs.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface Chunk {
  readonly _id: string;
  readonly files_id: string;
  readonly n: number;
  readonly data: Binary;
}

interface File {
  readonly _id: string;
  readonly length: number;
  readonly chunkSize: number;
  readonly uploadDate: Date;
  readonly filename: string;
}

export function gridBlobStore(connection: Connection): BlobStore {
  const chunks = connection.collection<Chunk>("blobs.chunks");
  const files = connection.collection<File>("blobs.files");
  const isThere = async (blobId: string, n: number): Promise<boolean> =>
    (await chunks.findOne(keyOf(blobId, n), { projection: { _id: 1 } })) !== null;
  const readChunk = async (blobId: string, n: number): Promise<Uint8Array> =>
    (await chunks.findOne(keyOf(blobId, n), { projection: { data: 1 } }))?.data.value() ?? new Uint8Array();

  return {
    async storedBytes(blobId) {
      const newest = await chunks.findOne({ files_id: blobId }, { sort: { n: -1 }, projection: { n: 1 } });
      return newest === null ? 0 : (newest.n + 1) * PIECE_BYTES;
    },
    async put(blobId, offset, piece) {
      const n = offset / PIECE_BYTES;
      if (n > 0 && !(await isThere(blobId, n - 1))) return "gap";
      await insertIfAbsent(chunks, { _id: idOf(blobId, n), files_id: blobId, n, data: new Binary(piece) });
      return "stored";
    },
    flush: () => Promise.resolve(),
    async complete(blobId, sizeBytes) {
      const last = Math.ceil(sizeBytes / PIECE_BYTES) - 1;
      if ((await readChunk(blobId, last)).length !== sizeBytes - last * PIECE_BYTES) return "incomplete";
      if (await isThere(blobId, last + 1)) return "incomplete";
      const file = { length: sizeBytes, chunkSize: PIECE_BYTES, uploadDate: new Date(), filename: blobId };
      await insertIfAbsent(files, { _id: blobId, ...file });
      return "complete";
    },
    async read(blobId, offset, length) {
      const [n, from] = [Math.floor(offset / PIECE_BYTES), offset % PIECE_BYTES];
      return (await readChunk(blobId, n)).subarray(from, from + length);
    },
    async delete(blobId) {
      await files.deleteOne({ _id: blobId });
      await chunks.deleteMany({ files_id: blobId });
    },
  };
}

/** Names a chunk by its id and by the key of its shard. */
function keyOf(blobId: string, n: number): Pick<Chunk, "_id" | "files_id"> {
  return { _id: idOf(blobId, n), files_id: blobId };
}

function idOf(blobId: string, n: number): string {
  return `${blobId}/${n}`;
}
