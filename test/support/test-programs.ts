/** Programs of the tests that run in processes of their own. */
import { basename, dirname, join } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { existsSync } from "node:fs";
import { useCompiledFiles } from "../../src/program-files.ts";

/** The value for `--import` with which node runs TypeScript sources from any working directory. */
export const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** The folder into which `npm test` compiles programs; undefined when mocha runs by itself. */
const COMPILED = process.env["MILLRACE_TEST_PROGRAMS"];

/** Lets what runs in this process start compiled programs, if there are any. */
export function useTestPrograms(): void {
  if (COMPILED !== undefined) useCompiledFiles(COMPILED);
}

/** The programs of the tests lie in these folders. A test that runs the sources of the project itself means the sources. */
const TESTS = ["..", "../../bench"].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

/** The arguments with which node runs a program, which is a TypeScript file with an absolute path. */
export function commandOf(file: string): readonly string[] {
  const isOfTests = COMPILED !== undefined && TESTS.some((folder) => file.startsWith(folder));
  const name = basename(file, ".ts");
  const compiled = isOfTests
    ? join(COMPILED, `${name === "main" ? `${basename(dirname(file))}-main` : name}.js`)
    : undefined;
  return compiled !== undefined && existsSync(compiled) ? [compiled] : ["--import", TSX, file];
}
