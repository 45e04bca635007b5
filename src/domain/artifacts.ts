/** Content that is stored and sent in pieces: artifacts, which are files of a workspace, and uploads of users. */
import type { UploadId } from "./ids.ts";
import { PLAIN_TEXT } from "./names.ts";

export const IF_MISSING = ["error", "warn", "ignore"] as const;
export type IfMissing = (typeof IF_MISSING)[number];

/** One artifact that a step declares in its definition. */
export interface ArtifactRule {
  readonly name: string;
  /** Glob patterns within the workspace. */
  readonly paths: readonly string[];
  readonly ifMissing: IfMissing;
  /** How long the artifact is kept, milliseconds; null for the installation's default. */
  readonly retentionMs: number | null;
}

/** An installation's bounds on artifacts. */
export interface ArtifactRules {
  readonly maxFileBytes: number;
  /** All files of one artifact together. */
  readonly maxArtifactBytes: number;
  /** All artifacts of one run together. */
  readonly maxRunBytes: number;
  /** How long an artifact is kept whose definition does not say it, milliseconds. */
  readonly retentionMs: number;
}

/** What an agent may keep of a workspace, bytes. */
export interface ContentLimits {
  readonly fileBytes: number;
  readonly artifactBytes: number;
  /** A cache entry, packed. */
  readonly cacheBytes: number;
}

export interface ArtifactFile {
  /** Relative to the workspace, as {@link isArtifactPath} says. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Digest of the content, hexadecimal. */
  readonly sha256: string;
  readonly executable: boolean;
}

/** Content is sent and stored in pieces of this size; only the last piece may be shorter. */
export const PIECE_BYTES = 256 * 1024;

/** Bounds on the files of one artifact and on their paths. */
export const MANIFEST_BOUNDS = { files: 10_000, pathBytes: 1_024, allPathBytes: 1 << 20 } as const;

/**
 * True for a relative path of ordinary names, separated by `/`: no empty name, no `.` or `..`, no backslash (which
 * separates names on other systems), no control characters, at most 1,024 bytes of UTF-8.
 */
export function isArtifactPath(path: string): boolean {
  if (path === "" || Buffer.byteLength(path) > MANIFEST_BOUNDS.pathBytes || /[\p{Cc}\p{Cs}\\]/u.test(path))
    return false;
  return path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}

/** Bytes of all files together: the stored size of the artifact. */
export function bytesOfFiles(files: readonly Pick<ArtifactFile, "sizeBytes">[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** The offset in the artifact, in bytes, at which the content of the file at `index` begins. */
export function offsetOfFile(files: readonly Pick<ArtifactFile, "sizeBytes">[], index: number): number {
  return bytesOfFiles(files.slice(0, index));
}

/** A part of one file, by its position; `isLast` when the file ends with it. */
export interface FilePart {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** Cuts the content of an artifact into parts of single files. It takes pieces of any length, in their order. */
export class FileCutter {
  readonly #files: readonly Pick<ArtifactFile, "sizeBytes">[];
  #index = 0;
  /** Bytes of the file at `#index` that have come. */
  #done = 0;

  constructor(files: readonly Pick<ArtifactFile, "sizeBytes">[]) {
    this.#files = files;
  }

  /** The position of the file whose content is not complete, and the number of its bytes that have come. */
  get position(): { readonly index: number; readonly offset: number } {
    return { index: this.#index, offset: this.#done };
  }

  /**
   * An empty file gives one empty part, once the file before it is complete. An empty first piece gives the parts of
   * empty files at the start.
   */
  *cut(piece: Uint8Array): Generator<FilePart, void, void> {
    let at = 0;
    while (this.#index < this.#files.length) {
      const index = this.#index;
      const left = this.#files[index]!.sizeBytes - this.#done;
      const bytes = piece.subarray(at, at + left);
      if (bytes.length === 0 && left > 0) return;
      const isLast = bytes.length === left;
      at += bytes.length;
      this.#done = isLast ? 0 : this.#done + bytes.length;
      if (isLast) this.#index++;
      yield { index, bytes, isLast };
    }
  }
}

/** An installation's bounds on uploads. */
export interface UploadRules {
  readonly maxBytes: number;
  /** All uploads of a project together, with those that are not complete. */
  readonly maxProjectBytes: number;
  /** How long an upload that no kept run uses is kept after its last use, milliseconds. */
  readonly retentionMs: number;
  /** How long an upload that is not complete may rest, milliseconds. */
  readonly unfinishedMs: number;
}

/** An upload that a trigger gives to a run, as it was then. The content of an upload never changes. */
export interface GivenUpload {
  readonly uploadId: UploadId;
  /** The name of the file, without a path. */
  readonly name: string;
  readonly size: number;
  /** Digest of the content, hexadecimal. */
  readonly sha256: string;
}

/** Uploads that one trigger gives to its run. */
export const MAX_GIVEN_UPLOADS = 16;
/** Uploads of a project, complete or not. */
export const MAX_UPLOADS = 10_000;
/** The longest name of a file that common file systems take. */
const NAME_BYTES = 255;
/** The media type of content about which nothing is said. */
export const ANY_TYPE = "application/octet-stream";
/** Bytes at the beginning of the content, by which its type is recognised. */
export const SNIFFED_BYTES = 4_096;

/**
 * True for the name of one file: no path, at most 255 bytes of UTF-8, nothing that a terminal or a list shows as something
 * else.
 */
export function isFileName(name: string): boolean {
  if (name === "" || name === "." || name === ".." || Buffer.byteLength(name) > NAME_BYTES) return false;
  return PLAIN_TEXT.test(name) && !/[/\\]/.test(name);
}

/** The media type without its parameters, in lower case. */
export function essenceOf(type: string): string {
  return type.split(";", 1)[0]!.trim().toLowerCase();
}
