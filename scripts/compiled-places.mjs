/** Finds the sources of what compiled-tests.mjs has compiled. */
import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The source of a compiled test file, relative to the root of the project. A source is its own. */
export function sourceOf(file) {
  return relative(ROOT, file).replace(/^node_modules\/\.cache\/millrace\/[^/]+\/tests\/(.*)\.js$/, "$1.ts");
}

/** A place in a compiled file, as error traces have it: the path, the line and the column. */
const PLACE = /(?:file:\/\/)?(\/[^\s()]+\/node_modules\/\.cache\/millrace\/[^\s()]+\.js):(\d+):(\d+)/g;
const maps = new Map();

/** An error trace with the places in the sources. Node could do that by itself, but reads every map at the start then. */
export function inSources(trace) {
  return trace.replaceAll(PLACE, (place, file, line, column) => {
    if (!maps.has(file)) {
      const map = `${file}.map`;
      maps.set(file, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, "utf8"))) : undefined);
    }
    const { originalSource, originalLine, originalColumn } = maps.get(file)?.findEntry(line - 1, column - 1) ?? {};
    if (originalSource === undefined) return place;
    return `${relative(ROOT, join(dirname(file), originalSource))}:${originalLine + 1}:${originalColumn + 1}`;
  });
}
