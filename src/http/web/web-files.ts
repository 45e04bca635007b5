/** The built files of the web page, which lie beside the program. They are read once, when the first browser asks. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** One file, with its compressed forms where they are shorter. */
export interface WebFile {
  readonly type: string;
  /** True when the name holds a hash of the content. */
  readonly isImmutable: boolean;
  readonly etag: string;
  readonly plain: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};
/** The build names the files of this folder by their content. */
const HASHED = "/assets/";

/**
 * The files below `folder` by their paths, such as `/index.html`. Empty when the folder does not exist: a program that
 * was compiled without the page serves the API alone.
 */
export async function readWebFiles(folder: string): Promise<ReadonlyMap<string, WebFile>> {
  const names = await namesIn(folder);
  const contents = new Map<string, Buffer>();
  for (const name of names) contents.set(name, await readFile(join(folder, name)));
  const files = new Map<string, WebFile>();
  for (const [name, plain] of contents) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const path = `/${name}`;
    const [br, gzip] = [contents.get(`${name}.br`), contents.get(`${name}.gz`)];
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    files.set(path, { type, isImmutable: path.startsWith(HASHED), etag, plain, br, gzip });
  }
  return files;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replaceAll("\\", "/").replace(/^\//, ""));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
