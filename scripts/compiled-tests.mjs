/**
 * Compiles the tests and the programs that they start. To translate a source takes several times as long as to load
 * what it became, and many processes of a run load the same sources.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, stop } from "esbuild";
import { BUNDLING, ENTRIES } from "./bundling.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Programs of the tests, which many tests start. They are compiled together with those that they start themselves. */
const PROGRAMS = {
  ...ENTRIES,
  "agent-main": "test/agent/agent-main.ts",
  "next-version": "test/e2e/next-version.ts",
  "owner-process": "test/queues/owner-process.ts",
  "trash-mounts-main": "test/agent/folders/trash-mounts-main.ts",
  "unprivileged-program": "test/stores/unprivileged-program.ts",
};
/** Commands of the project itself. They need packages that cannot be joined with them. */
const COMMANDS = { "chaos-main": "test/chaos/main.ts", "bench-main": "bench/main.ts" };
const ROOT_HOOKS = "test/support/root-hooks.ts";

/** The names that stand for the address and the folder of a source in what it is compiled into. */
const OWN_URL = "OWN_MODULE_URL";
const OWN_FOLDER = "OWN_MODULE_FOLDER";

/**
 * Compiles programs and test files into the folder `name` of the project's cache, which is emptied first. Answers the
 * folder, the path of a test file in it, and the options and variables with which mocha runs them.
 */
export async function compileTests(name, files) {
  // Lies in the project, because what is compiled finds packages from there.
  const folder = join(ROOT, "node_modules/.cache/millrace", name);
  const programs = join(folder, "programs");
  const tests = join(folder, "tests");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(tests, { recursive: true });
  // Spares Node the attempt to read each file as another kind of module. The programs look for the project's own file.
  writeFileSync(join(tests, "package.json"), JSON.stringify({ type: "module" }));
  await build({ ...BUNDLING, entryPoints: PROGRAMS, outdir: programs });
  await build({ ...BUNDLING, entryPoints: COMMANDS, outdir: programs, packages: "external" });
  await build({
    ...BUNDLING,
    entryPoints: [ROOT_HOOKS, ...files],
    outbase: ROOT,
    outdir: tests,
    chunkNames: "chunks/[name]-[hash]",
    packages: "external",
    sourcemap: "linked",
    sourcesContent: false,
    define: { "import.meta.url": OWN_URL, "import.meta.dirname": OWN_FOLDER },
    plugins: [ownPlaces],
  });
  // The compiler would keep some 500 MB until this process ends.
  await stop();
  const pathOf = (file) => join(tests, file.replace(/\.ts$/, ".js"));
  const options = ["--config", writeConfig(folder, pathOf(ROOT_HOOKS))];
  return { folder, pathOf, options, env: { MILLRACE_TEST_PROGRAMS: programs } };
}

/** Sources that ask where they lie get an answer as if they were not compiled: they find files from there. */
const ownPlaces = {
  name: "own-places",
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (!text.includes("import.meta.")) return undefined;
      const places = { [OWN_URL]: pathToFileURL(path).href, [OWN_FOLDER]: dirname(path) };
      const lines = Object.entries(places).map(([variable, value]) => `const ${variable} = ${JSON.stringify(value)};`);
      // On the first line of the source, so that the other lines keep their numbers.
      return { contents: `${lines.join(" ")} ${text}`, loader: extname(path).slice(1) };
    });
  },
};

/** Writes the project's settings of mocha for compiled files, which need no translator, and answers the path. */
function writeConfig(folder, rootHooks) {
  const { "node-option": _, ...settings } = JSON.parse(readFileSync(join(ROOT, ".mocharc.json"), "utf8"));
  const path = join(folder, "mocharc.json");
  writeFileSync(path, JSON.stringify({ ...settings, require: [rootHooks], extension: ["test.js"] }));
  return path;
}
