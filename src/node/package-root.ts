/** Finds the files of the package, from the sources as well as from the build. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(import.meta.url);

/** The folder that holds package.json. */
export const PACKAGE_ROOT = findRoot(dirname(here));

/** The program's entry file: the source file when this runs from the sources, else the built file. */
export const MAIN_FILE = join(PACKAGE_ROOT, extname(here) === ".ts" ? "src/main.ts" : "dist/src/main.js");

/** The version in package.json. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as { version: string };
  return version;
}

function findRoot(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : findRoot(dirname(folder));
}
