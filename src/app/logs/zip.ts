/** A ZIP archive as a stream: files of unknown length are compressed as they are read, and nothing of them is kept. */
import { once } from "node:events";
import { PassThrough, pipeline, Readable } from "node:stream";
import type { ZipFile as Archive } from "yazl";

export interface ZipFile {
  /** Names of folders and of the file, with `/` between them. */
  readonly path: string;
  /** Unix milliseconds. */
  readonly modifiedAt: number;
  /** At most {@link MAX_FILE_BYTES}. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** The size of a file stands behind its content in 32 bits: programs that read a stream know no longer form. */
export const MAX_FILE_BYTES = 2 ** 31;

/** The bytes of an archive of these files, in their order. A file is asked for when the one before it has been read. */
export async function* zipOf(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array, void, void> {
  const { default: yazl } = await import("yazl");
  const archive = new yazl.ZipFile();
  const bytes = new PassThrough();
  const over = new AbortController();
  pipeline(archive.outputStream, bytes, () => over.abort());
  archive.once("error", (error) => bytes.destroy(error as Error));
  addFiles(archive, files, over.signal).catch((error: unknown) => bytes.destroy(error as Error));
  for await (const piece of bytes as AsyncIterable<Buffer>) yield piece;
}

async function addFiles(archive: Archive, files: AsyncIterable<ZipFile>, over: AbortSignal): Promise<void> {
  for await (const { path, modifiedAt, content } of files) {
    const file = Readable.from(content, { objectMode: false, signal: over });
    archive.addReadStream(file, path, { mtime: new Date(modifiedAt) });
    await once(file, "close");
    if (over.aborted) return;
  }
  archive.end();
}
