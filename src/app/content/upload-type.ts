/**
 * Recognises the type of content by its first bytes, and compares it with the type that its sender declares. An archive is
 * looked into only as far as these bytes reach, and the library bounds what it unpacks of them.
 */
import { ANY_TYPE, essenceOf } from "../../domain/artifacts.ts";

/** Types of packed files that contain files of other formats: the packing alone does not contradict such a type. */
const PACKED = new Set([
  "application/zip",
  "application/gzip",
  "application/x-xz",
  "application/zstd",
  "application/xml",
]);
const TEXTUAL = /^(?:text\/.*|application\/(?:json|yaml|x-yaml|toml|javascript)|.*\+json)$/;

/** What the first bytes tell about content of a declared type. */
export interface Recognised {
  /** The type that the bytes show; null for content without a known signature, such as any text. */
  readonly sniffedType: string | null;
  /** False when the content is not what its sender declares. */
  readonly typeMatches: boolean;
}

/** `head`: the first bytes of the content, none of empty content. */
export async function recognise(declared: string, head: Uint8Array): Promise<Recognised> {
  if (head.length === 0) return { sniffedType: null, typeMatches: true };
  // Loaded when the first upload is complete: few processes ever need it.
  const { fileTypeFromBuffer, supportedMimeTypes } = await import("file-type");
  const sniffedType = (await fileTypeFromBuffer(head))?.mime ?? null;
  const type = essenceOf(declared);
  // A type that has a signature, which the content would show.
  const isShown = supportedMimeTypes.has(type as never);
  const typeMatches =
    type === ANY_TYPE ||
    type === sniffedType ||
    (sniffedType !== null
      ? PACKED.has(sniffedType) && !isShown && !TEXTUAL.test(type)
      : TEXTUAL.test(type)
        ? !head.includes(0)
        : !isShown);
  return { sniffedType, typeMatches };
}
