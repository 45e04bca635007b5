/** The files that further processes and threads of this program begin with. */
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface ProgramFile {
  /** Absolute. */
  readonly path: string;
  /** The options that `node` needs for the file. */
  readonly options: readonly string[];
  /** True for TypeScript, which only the tests run; a thread has to load the translator by itself. */
  readonly isSource: boolean;
}

let compiledFolder: string | undefined;

/** The file `name`, which lies beside the module with the URL `beside` and has the same extension. */
export function programFile(name: string, beside: string): ProgramFile {
  const extension = extname(fileURLToPath(beside));
  const isSource = extension === ".ts";
  if (isSource && compiledFolder !== undefined) {
    return { path: join(compiledFolder, `${name}.js`), options: [], isSource: false };
  }
  return { path: fileURLToPath(new URL(`${name}${extension}`, beside)), options: process.execArgv, isSource };
}

/**
 * Lets the sources begin their processes and threads with compiled files in `folder`. To translate a source takes several
 * times as long as to run it, so the tests compile these files once.
 */
export function useCompiledFiles(folder: string): void {
  compiledFolder = folder;
}
