/**
 * Blobs in an object storage, of an installation that kept its blobs elsewhere before: what is there stays readable and can
 * be continued until it is deleted. New blobs go to the object storage.
 */
import type { BlobStore, ObjectCalls } from "../ports/blobs.ts";

/** `former`: where the installation kept its blobs before. */
export function movedBlobStore(blobs: BlobStore & { readonly objects: ObjectCalls }, former: BlobStore): BlobStore {
  return {
    async storedBytes(blobId) {
      return (await blobs.storedBytes(blobId)) || former.storedBytes(blobId);
    },
    async put(blobId, offset, piece) {
      const answer = await blobs.put(blobId, offset, piece);
      return answer === "stored" ? answer : former.put(blobId, offset, piece);
    },
    flush: (blobId) => blobs.flush(blobId),
    async complete(blobId, sizeBytes) {
      const answer = await blobs.complete(blobId, sizeBytes);
      return answer === "complete" ? answer : former.complete(blobId, sizeBytes);
    },
    async read(blobId, offset, length) {
      const bytes = await blobs.read(blobId, offset, length);
      return bytes.length > 0 ? bytes : former.read(blobId, offset, length);
    },
    async delete(blobId) {
      await blobs.delete(blobId);
      await former.delete(blobId);
    },
    objects: {
      ...blobs.objects,
      async *stream(blobId, offset, length) {
        let at = offset;
        for await (const chunk of blobs.objects.stream(blobId, offset, length)) {
          at += chunk.length;
          yield chunk;
        }
        if (at > offset) return;
        while (at < offset + length) {
          const piece = await former.read(blobId, at, offset + length - at);
          if (piece.length === 0) return;
          at += piece.length;
          yield piece;
        }
      },
    },
  };
}
