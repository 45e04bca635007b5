/** The store of blobs as files beside the embedded store: `<id>.part` until a blob is complete, then `<id>`. */
import { constants } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { BlobStore } from "../ports/blobs.ts";
import { isDiskReserved } from "./disk-reserve.ts";

const CREATE_IF_MISSING = constants.O_RDWR | constants.O_CREAT;

/**
 * Creates `folder` when it is needed; `sync` puts a file on disk. Calls reject with `unavailable`, and say what to do, when the disk is full or
 * fails.
 */
export function fileBlobStore(folder: string, sync: (path: string) => Promise<void> = syncFile): BlobStore {
  // The last two characters of an id name its folder. They are as good as random, so the blobs spread evenly over the
  // folders.
  const completeFile = (blobId: string): string => {
    if (!/^[A-Za-z0-9_]{4,64}$/.test(blobId))
      throw new MillraceError("internal", "the id of a blob is not one that millrace makes");
    return join(folder, blobId.slice(-2), blobId);
  };
  const partFile = (blobId: string): string => `${completeFile(blobId)}.part`;

  const store: BlobStore = {
    async storedBytes(blobId) {
      const size = (await sizeOf(completeFile(blobId))) ?? (await sizeOf(partFile(blobId))) ?? 0;
      return Math.floor(size / PIECE_BYTES) * PIECE_BYTES;
    },
    async put(blobId, offset, piece) {
      const path = partFile(blobId);
      const size = await sizeOf(completeFile(blobId));
      if (size !== undefined) return offset + piece.length <= size ? "stored" : "gap";
      if (isDiskReserved(dirname(folder))) throw almostFull(folder);
      if (offset === 0) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = offset === 0 ? await open(path, CREATE_IF_MISSING, 0o600) : await openIfThere(path, "r+");
      if (file === undefined) return "gap";
      try {
        if ((await file.stat()).size < offset) return "gap";
        for (let done = 0; done < piece.length;) {
          done += (await file.write(piece, done, piece.length - done, offset + done)).bytesWritten;
        }
        return "stored";
      } finally {
        await file.close();
      }
    },
    // The system has what was put, whatever becomes of this process.
    flush: () => Promise.resolve(),
    async complete(blobId, sizeBytes) {
      const [path, part] = [completeFile(blobId), partFile(blobId)];
      if ((await sizeOf(part)) === sizeBytes) {
        // Another call may complete the blob at the same moment, and then the part file is gone.
        await sync(part).catch((error: NodeJS.ErrnoException) => dropUnlessMissing(part, error));
        await rename(part, path).catch(ifMissing);
      }
      if ((await sizeOf(path)) !== sizeBytes) return "incomplete";
      await syncFolder(dirname(path));
      await syncFolder(folder);
      return "complete";
    },
    async read(blobId, offset, length) {
      const path = completeFile(blobId);
      // The first path is tried again at the end, because the blob may become complete between the two tries.
      const file = (await openIfThere(path)) ?? (await openIfThere(`${path}.part`)) ?? (await openIfThere(path));
      if (file === undefined) return new Uint8Array();
      try {
        const buffer = Buffer.allocUnsafe(Math.min(length, PIECE_BYTES));
        let filled = 0;
        while (filled < buffer.length) {
          const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, offset + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return buffer.subarray(0, filled);
      } finally {
        await file.close();
      }
    },
    async delete(blobId) {
      for (const path of [completeFile(blobId), partFile(blobId)]) await rm(path, { force: true });
    },
  };
  return {
    storedBytes: (blobId) => translated(folder, store.storedBytes(blobId)),
    put: (blobId, offset, piece) => translated(folder, store.put(blobId, offset, piece)),
    flush: (blobId) => store.flush(blobId),
    complete: (blobId, sizeBytes) => translated(folder, store.complete(blobId, sizeBytes)),
    read: (blobId, offset, length) => translated(folder, store.read(blobId, offset, length)),
    delete: (blobId) => translated(folder, store.delete(blobId)),
  };
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(ifMissing))?.size;
}

async function openIfThere(path: string, flags = "r") {
  return open(path, flags).catch(ifMissing);
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/**
 * After a failed sync the pieces may be lost although a second sync would succeed, so the pieces are dropped: the
 * sender begins again.
 */
async function dropUnlessMissing(part: string, error: NodeJS.ErrnoException): Promise<void> {
  if (error.code === "ENOENT") return;
  await rm(part, { force: true });
  throw error;
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a folder durable. Where a folder cannot be opened (Windows), the system does that itself. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r").catch(() => undefined);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

function almostFull(folder: string): MillraceError {
  return new MillraceError(
    "unavailable",
    `the disk of the folder of artifacts ${folder} is almost full, and the rest is kept for the states of runs: free disk space`,
  );
}

async function translated<T>(folder: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const isFull = code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
    const advice = isFull
      ? "is full: free disk space"
      : `cannot be read or written (${code}): check the disk and the modes`;
    throw new MillraceError("unavailable", `the folder of artifacts ${folder} ${advice}`, { cause: error });
  }
}
