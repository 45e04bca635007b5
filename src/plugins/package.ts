/**
 * Packages of plugins: a gzipped tar of the folder, with the manifest at its root. The reader trusts nothing in a package: it
 * refuses names that are not paths within the folder, links and devices, and it checks every size before it uses it.
 */
import { pipeline } from "node:stream/promises";
import { createGunzip, gzipSync } from "node:zlib";
import { extract, type Header, pack } from "tar-stream";
import { isArtifactPath } from "../domain/artifacts.ts";
import { MillraceError } from "../domain/errors.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { MANIFEST_FILE, PLUGIN_BOUNDS, type PluginManifest } from "../domain/plugins.ts";
import { manifestRefused, parseManifest } from "./manifest.ts";

export interface PluginFile {
  /** Relative to the folder; a path that {@link isArtifactPath} accepts. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable: boolean;
}

/** The most bytes of an unpacked tar: those of its files, and room for headers and padding. */
const TAR_BYTES = PLUGIN_BOUNDS.unpackedBytes + PLUGIN_BOUNDS.files * 4_096;

/**
 * The package of some files. The same files give the same bytes, in any order, on the same version of Node. Throws as
 * {@link readPackage} does.
 */
export async function writePackage(files: readonly PluginFile[]): Promise<Uint8Array> {
  const tar = pack();
  for (const { path, content, executable } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    tar.entry({ name: path, mode: executable ? 0o755 : 0o644, mtime: new Date(0), type: "file" }, content);
  }
  tar.finalize();
  const blocks: Uint8Array[] = [];
  for await (const block of tar as AsyncIterable<Uint8Array>) blocks.push(block);
  const packed = gzipSync(Buffer.concat(blocks), { level: 9 });
  await readPackage(packed, async () => {});
  return packed;
}

/**
 * Reads a package and answers its manifest. `take` receives the files in their order, each one after it has taken the one before.
 * Throws `malformed_request` with what is wrong with the package, or with all problems of its manifest; `too_large`; and the error
 * with which `take` rejects.
 */
export async function readPackage(
  packed: Uint8Array,
  take: (file: PluginFile) => Promise<void>,
): Promise<PluginManifest> {
  if (packed.length > PLUGIN_BOUNDS.packedBytes) {
    throw tooLarge(`a plugin's package may have ${PLUGIN_BOUNDS.packedBytes} bytes; this one has ${packed.length}`);
  }
  const tar = extract();
  const paths = new Set<string>();
  const folders = new Set<string>();
  let manifestText: Uint8Array | undefined;
  let bytes = 0;
  const takeAll = async (): Promise<void> => {
    for await (const entry of tar) {
      const path = pathOf(entry.header);
      bytes += entry.header.size;
      if (bytes > PLUGIN_BOUNDS.unpackedBytes) {
        throw tooLarge(`the files of a plugin may have ${PLUGIN_BOUNDS.unpackedBytes} bytes in all; these have more`);
      }
      const content = await readWhole(entry as AsyncIterable<Uint8Array>);
      if (path === undefined) continue;
      if (paths.has(path) || folders.has(path)) throw malformed(`it has ${quoted(path)} twice`);
      for (const folder of foldersOf(path)) {
        if (paths.has(folder)) throw malformed(`${quoted(folder)} is a file and a folder`);
        folders.add(folder);
      }
      paths.add(path);
      if (paths.size > PLUGIN_BOUNDS.files) throw tooLarge(`a plugin may have ${PLUGIN_BOUNDS.files} files`);
      if (path === MANIFEST_FILE) manifestText = content;
      await take({ path, content, executable: ((entry.header.mode ?? 0) & 0o100) !== 0 });
    }
  };
  const gunzip = createGunzip();
  try {
    await Promise.all([pipeline([packed], gunzip, bounded, tar), takeAll()]);
  } catch (error) {
    gunzip.destroy();
    throw error instanceof MillraceError || !isOfArchive(error)
      ? error
      : malformed(`it is not a gzipped tar: ${String((error as Error).message)}`);
  }
  if (manifestText === undefined) throw malformed(`it has no ${MANIFEST_FILE} at its root`);
  return manifestOf(manifestText, paths);
}

/** The manifest; its commands may name only files of the package. Throws as {@link readPackage} does. */
function manifestOf(text: Uint8Array, paths: ReadonlySet<string>): PluginManifest {
  const manifest = parseManifest(Buffer.from(text).toString());
  for (const [name, { command }] of Object.entries(manifest.actions)) {
    const missing = command.find((word) => word.startsWith("./") && !paths.has(word.slice(2)));
    if (missing === undefined) continue;
    const message = `the command of the action ${quoted(name)} names ${quoted(missing)}, which is not a file of the plugin`;
    throw manifestRefused([{ code: "manifest", pointer: toPointer(["actions", name, "command"]), message }]);
  }
  return manifest;
}

/** The path of a file; undefined for a folder. */
function pathOf({ name, type }: Header): string | undefined {
  const path = name.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  if (type !== "file" && type !== "directory") {
    throw malformed(`${quoted(name)} is a ${type}: a plugin has only files and folders`);
  }
  if (type === "directory" && (path === "" || path === ".")) return undefined;
  if (!isArtifactPath(path)) throw malformed(`${quoted(name)} is not a path within the plugin`);
  return type === "file" ? path : undefined;
}

function foldersOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

async function readWhole(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

async function* bounded(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const block of source) {
    bytes += block.length;
    if (bytes > TAR_BYTES) throw tooLarge(`the files of a plugin may have ${PLUGIN_BOUNDS.unpackedBytes} bytes in all`);
    yield block;
  }
}

/** Whether an error comes from the libraries that read the archive, and not from the file system or from `take`. */
function isOfArchive(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return (
    error instanceof Error &&
    (error as NodeJS.ErrnoException).syscall === undefined &&
    (code === "" || code.startsWith("Z_") || code.startsWith("ERR_STREAM"))
  );
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200));
const tooLarge = (text: string): MillraceError => new MillraceError("too_large", text);
const malformed = (text: string): MillraceError =>
  new MillraceError("malformed_request", `the package of the plugin cannot be used: ${text}`);
