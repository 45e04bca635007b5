/** Reads the folder of a plugin, from which a package is made. */
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "../domain/errors.ts";
import { PLUGIN_BOUNDS } from "../domain/plugins.ts";
import type { PluginFile } from "./package.ts";

/** Folders that tools make and that no plugin needs. */
const LEFT_OUT: readonly string[] = [".git", "__pycache__"];

/**
 * All files of a folder except those in `.git` and `__pycache__`. Throws `malformed_request` for a link and for anything else that
 * is neither a file nor a folder, `too_large`, and `not_found` for a folder that cannot be read.
 */
export async function readPluginFolder(folder: string): Promise<readonly PluginFile[]> {
  const files: PluginFile[] = [];
  let bytes = 0;
  const walk = async (below: string): Promise<void> => {
    for (const name of (await readdir(join(folder, below))).toSorted()) {
      if (LEFT_OUT.includes(name)) continue;
      const path = below === "" ? name : `${below}/${name}`;
      const stats = await lstat(join(folder, path));
      if (stats.isDirectory()) {
        await walk(path);
        continue;
      }
      if (!stats.isFile())
        throw new MillraceError("malformed_request", `${path} is a link or a special file: a plugin has only files`);
      bytes += stats.size;
      if (files.length >= PLUGIN_BOUNDS.files || bytes > PLUGIN_BOUNDS.unpackedBytes) {
        const most = `${PLUGIN_BOUNDS.files} files with ${PLUGIN_BOUNDS.unpackedBytes} bytes in all`;
        throw new MillraceError("too_large", `${folder} is larger than a plugin may be: ${most}`);
      }
      files.push({ path, content: await readFile(join(folder, path)), executable: (stats.mode & 0o100) !== 0 });
    }
  };
  try {
    await walk("");
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new MillraceError("not_found", `the folder ${folder} cannot be read (${code})`, { cause: error });
  }
  return files;
}
