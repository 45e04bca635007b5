/** What an artifact consists of: files of a workspace, whose content is kept one after the other. */

export const IF_MISSING = ["error", "warn", "ignore"] as const;
export type IfMissing = (typeof IF_MISSING)[number];

/** What a step is to keep, as its definition says it. */
export interface ArtifactRule {
  readonly name: string;
  /** Glob patterns within the workspace. */
  readonly paths: readonly string[];
  readonly ifMissing: IfMissing;
  /** How long it is kept; null for as long as the installation says. */
  readonly retentionMs: number | null;
}

/** What an installation lets steps keep. */
export interface ArtifactRules {
  readonly maxFileBytes: number;
  /** Of one artifact with all its files. */
  readonly maxArtifactBytes: number;
  /** Of all artifacts of a run. */
  readonly maxRunBytes: number;
  /** How long what says nothing else is kept, milliseconds. */
  readonly retentionMs: number;
}

export interface ArtifactFile {
  /** Relative to the workspace, as {@link isArtifactPath} says. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Of the content, hexadecimal. */
  readonly sha256: string;
  readonly executable: boolean;
}

/** How content travels and is stored: in whole pieces, of which only the last may be shorter. */
export const PIECE_BYTES = 256 * 1024;

/** Of one artifact. */
export const MANIFEST_BOUNDS = { files: 10_000, pathBytes: 1_024, allPathBytes: 1 << 20 } as const;

/**
 * True for a relative path of ordinary names, separated by `/`: nothing empty, no `.` or `..`, no backslash (which
 * separates names on other systems), no control characters, at most 1,024 bytes of UTF-8.
 */
export function isArtifactPath(path: string): boolean {
  if (path === "" || Buffer.byteLength(path) > MANIFEST_BOUNDS.pathBytes || /[\p{Cc}\p{Cs}\\]/u.test(path))
    return false;
  return path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}

/** Bytes of all files together, which is what is stored. */
export function bytesOfFiles(files: readonly Pick<ArtifactFile, "sizeBytes">[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** Where the content of the file at `index` begins. */
export function offsetOfFile(files: readonly Pick<ArtifactFile, "sizeBytes">[], index: number): number {
  return bytesOfFiles(files.slice(0, index));
}

/** A part of one file, by its position; `isLast` when the file ends with it. */
export interface FilePart {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** Cuts the content of files, one after the other, into that of each. Give it pieces of any length in their order. */
export class FileCutter {
  readonly #files: readonly Pick<ArtifactFile, "sizeBytes">[];
  #index = 0;
  #done = 0;

  constructor(files: readonly Pick<ArtifactFile, "sizeBytes">[]) {
    this.#files = files;
  }

  /** The file that is not whole yet, and how much of it has come. */
  get position(): { readonly index: number; readonly offset: number } {
    return { index: this.#index, offset: this.#done };
  }

  /** Files without content come as empty parts as soon as they are reached; give an empty piece first to reach the first ones. */
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
