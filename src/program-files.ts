/** The files that further processes and threads of this program begin with. */
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

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

/** The folder of the built web page; it lies beside the folder of the compiled program. Absolute. */
export function webFolder(): string {
  const isSource = extname(fileURLToPath(import.meta.url)) === ".ts";
  return fileURLToPath(new URL(isSource ? "../dist/web" : "../web", import.meta.url));
}

/** A thread does not inherit the translator of its process, which only the tests have. */
const TRANSLATOR = JSON.stringify("tsx/esm/api");
const translated = (path: string): string =>
  `import(${TRANSLATOR}).then(({ register }) => { register(); return import(${JSON.stringify(pathToFileURL(path).href)}); })`;

/** Starts a thread with the program of {@link programFile}. `heapMb`: the old generation of its heap. */
export function startThread(name: string, beside: string, heapMb: number): Worker {
  const { path, isSource } = programFile(name, beside);
  return new Worker(isSource ? translated(path) : path, {
    eval: isSource,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    // Nothing of a thread goes to the log of the process by itself.
    stdout: true,
    stderr: true,
  });
}

/**
 * Lets the sources begin their processes and threads with compiled files in `folder`. To translate a source takes several
 * times as long as to run it, so the tests compile these files once.
 */
export function useCompiledFiles(folder: string): void {
  compiledFolder = folder;
}
