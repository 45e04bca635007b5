/**
 * Builds the web page into `dist/web`: `node web/scripts/build.mjs`. Beside each text file lie its brotli and its gzip
 * form, so that the server compresses nothing. The folder is replaced when the new one is complete.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const WEB = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(dirname(WEB), "dist");
const OUT = join(DIST, "web");
/** The order of the layers. A browser takes it from the first style sheet that it gets, and any of them may be that one. */
const LAYERS = "@layer tokens,base,parts,pages;";
/** A shorter file fits into a packet as it is. */
const LEAST_BYTES = 1_024;

const fresh = join(DIST, `.built-web-${process.pid}`);
try {
  await build({
    configFile: join(WEB, "vite.config.ts"),
    logLevel: "warn",
    build: { outDir: fresh },
  });
  for (const name of readdirSync(fresh, { recursive: true })) if (name.endsWith(".css")) orderLayers(join(fresh, name));
  for (const name of readdirSync(fresh, { recursive: true })) compress(join(fresh, name));
  mkdirSync(DIST, { recursive: true });
  rmSync(OUT, { recursive: true, force: true });
  renameSync(fresh, OUT);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

function orderLayers(path) {
  writeFileSync(path, `${LAYERS}${readFileSync(path, "utf8")}`);
}

function compress(path) {
  if (!statSync(path).isFile() || !/\.(html|js|css|svg|json|txt)$/.test(path)) return;
  const plain = readFileSync(path);
  if (plain.length < LEAST_BYTES) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const forms = { br: brotliCompressSync(plain, { params }), gz: gzipSync(plain, { level: 9 }) };
  for (const [ending, bytes] of Object.entries(forms)) {
    if (bytes.length < plain.length) writeFileSync(`${path}.${ending}`, bytes);
  }
}
