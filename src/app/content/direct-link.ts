/** Addresses from which users fetch content without the edge between. */
import type { ContentContext } from "./context.ts";

/**
 * Makes an address from which a user whose rights are checked can fetch a blob for a few seconds. Undefined where the edge
 * sends all content itself; the address is undefined for a blob that the object storage does not have.
 */
export function directLink(
  { directDownloads = false, stores }: ContentContext,
  blobId: string,
  fileName: string,
): (() => Promise<string | undefined>) | undefined {
  const { objects } = stores.blobs;
  if (!directDownloads || objects === undefined) return undefined;
  return () => objects.linkTo(blobId, fileName);
}
