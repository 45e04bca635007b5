/**
 * Writes the program into `dist/src`: `node scripts/bundle.mjs`. The files hold the program together with its
 * dependencies, because reading and linking some 1,500 modules one by one takes longer than everything else that a start
 * does. Code that several parts share, and code that is imported only when it is used, stands in files of its own.
 *
 * The names of the program's functions stay as they are, and source maps lie beside the files:
 * `NODE_OPTIONS=--enable-source-maps` makes error traces name the sources.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { BUNDLING, ENTRIES } from "./bundling.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");
const OUT = join(DIST, "src");
/** Records of the compiler and of setup.mjs. */
const KEPT = /^\.(tsbuildinfo|built.*)$/;
/** The web page, which web/scripts/build.mjs writes. */
const WEB = join(DIST, "web");

const { outputFiles } = await build({
  ...BUNDLING,
  entryPoints: ENTRIES,
  outdir: OUT,
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: "linked",
  sourcesContent: false,
  write: false,
});

mkdirSync(OUT, { recursive: true });
// The entries come last: a process that starts meanwhile finds every file that its entry names.
for (const { path, contents } of outputFiles.toSorted((a, b) => rank(a.path) - rank(b.path)))
  writeWhole(path, contents);
chmodSync(join(OUT, "main.js"), 0o755);
const written = new Set(outputFiles.map(({ path }) => path));
dropStale(DIST);

function rank(path) {
  return Object.keys(ENTRIES).some((name) => path === join(OUT, `${name}.js`)) ? 1 : 0;
}

function writeWhole(path, contents) {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

/** Removes the outputs of earlier builds, because a package would contain them. */
function dropStale(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) {
      if (!written.has(path) && !KEPT.test(entry.name)) rmSync(path, { force: true });
    } else if (OUT === path) dropStale(path);
    else if (WEB === path) continue;
    else rmSync(path, { recursive: true, force: true });
  }
}
