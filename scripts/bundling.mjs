/** How esbuild joins the sources of a program with their dependencies. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";

/** The files that a process starts with. They lie in one folder, because each finds the others beside itself. */
export const ENTRIES = {
  main: "src/main.ts",
  "launcher-main": "src/agent/process/launcher-main.ts",
  "checkout-main": "src/agent/builtins/checkout/checkout-main.ts",
  "thread-main": "src/definition-work/thread-main.ts",
  "search-main": "src/log-search/search-main.ts",
};

/** Parts of packages that no part of the program uses, each with what stands for it. */
const UNUSED = [
  // Texts of problems in some 50 languages; the program makes its own.
  { part: /\bzod\/v4\/locales\/index\.js$/, contents: 'export { default as en } from "./en.js";' },
  // Bodies are read as bytes, so `raw-body` decodes nothing.
  { part: /\biconv-lite\/lib\/index\.js$/, contents: "module.exports = {};" },
  // The program keeps mailboxes in Redis.
  { part: /\bbullmq\/dist\/cjs\/postgres\/index\.js$/, contents: "module.exports = {};" },
  // For the patterns of BullMQ's schedulers; the program has its own schedules.
  { part: /\bcron-parser\/dist\/index\.js$/, contents: "module.exports = {};" },
  // For exemplars of metrics, which the program does not write.
  { part: /@opentelemetry\/api\/dist\/index\.cjs$/, contents: "module.exports = {};" },
  // BullMQ compares the version of Redis, and needs no ranges.
  {
    part: /\bsemver\/index\.js$/,
    contents: ["valid", "coerce", "lt"].map((name) => `exports.${name} = require("./functions/${name}");`).join(""),
  },
  // For the services channelz and ORCA, which the program does not offer.
  { part: /@grpc\/proto-loader\/build\/src\/index\.js$/, contents: "module.exports = {};" },
  // An older edition of the table of media types that other packages bring.
  {
    part: /\baccepts\/node_modules\/mime-db\/index\.js$/,
    contents: 'module.exports = require("../../../mime-db/db.json");',
  },
];

/** The scripts of BullMQ that mailboxes call, by the names of their commands. Another one only answers that it is missing. */
const MAILBOX_SCRIPTS = JSON.parse(readFileSync(new URL("mailbox-scripts.json", import.meta.url), "utf8"));

/** Parts of packages that become shorter, each with what makes its new text of its path. */
const SHORTENED = [
  {
    part: /\bbullmq\/dist\/cjs\/scripts\/\w+-\d+\.js$/,
    shorten: (path) => {
      const [, name, keys] = /^(\w+)-(\d+)\.js$/.exec(basename(path));
      if (MAILBOX_SCRIPTS.includes(name)) return undefined;
      const content = `return redis.error_reply("the program is made without the script ${name}")`;
      return `exports.${name} = ${JSON.stringify({ name, content, keys: Number(keys) })};`;
    },
  },
  {
    // Most media types have nothing that is ever asked for.
    part: /\bmime-db\/db\.json$/,
    shorten: async (path) => {
      const types = Object.entries(JSON.parse(await readFile(path, "utf8")));
      return JSON.stringify(
        Object.fromEntries(
          types.filter(([, { extensions, charset, compressible }]) => extensions ?? charset ?? compressible),
        ),
      );
    },
  },
];

/**
 * V8 keeps the text of a program in memory. So local names are shortened in generated code and in those files of packages that are no
 * ES modules: their names at the top, among them those of classes, stay as they are.
 */
const SHORT_NAMES = /\bnode_modules\/.*\.c?js$|\bproto\/generated\/.*\.ts$/;
const IS_MODULE = /^(import|export)\b/m;

export const BUNDLING = {
  absWorkingDir: dirname(dirname(fileURLToPath(import.meta.url))),
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  // Packages with native code; the driver of MongoDB, whose inner modules the program patches; and the client of object
  // storages, which is larger than the program and used by few.
  external: [
    "@aws-sdk/client-s3",
    "@aws-sdk/s3-request-presigner",
    "@node-rs/argon2",
    "@photostructure/sqlite",
    "mongodb",
    "msgpackr-extract",
  ],
  // Dependencies that are CommonJS modules ask for modules of Node by `require`.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
  plugins: [
    {
      // An import reads all that a module of Node exports, and `node:http` has a client for WebSockets since Node 22 that loads a whole
      // library, of some 4 MB. A call of `require` does not read it.
      name: "http-by-require",
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
          kind === "import-statement" ? { path: "node:http", namespace: "by-require" } : undefined,
        );
        onLoad({ filter: /.*/, namespace: "by-require" }, ({ path }) => ({
          contents: `module.exports = require(${JSON.stringify(path)});`,
          loader: "js",
        }));
      },
    },
    {
      name: "without-unused",
      setup({ onLoad }) {
        for (const { part, contents } of UNUSED) {
          onLoad({ filter: part }, ({ path }) => ({ contents, resolveDir: dirname(path), loader: "js" }));
        }
      },
    },
    {
      name: "shorter",
      setup({ onLoad }) {
        for (const { part, shorten } of SHORTENED) {
          onLoad({ filter: part }, async ({ path }) => {
            const contents = await shorten(path);
            return contents === undefined ? undefined : { contents, loader: path.endsWith(".json") ? "json" : "js" };
          });
        }
        onLoad({ filter: SHORT_NAMES }, async ({ path }) => {
          const text = await readFile(path, "utf8");
          const isGenerated = path.endsWith(".ts");
          if (!isGenerated && IS_MODULE.test(text)) return undefined;
          const loader = isGenerated ? "ts" : "js";
          const { code } = await transform(text, { loader, target: "node20.19", minifyIdentifiers: true });
          return { contents: code, loader: "js" };
        });
      },
    },
  ],
  logLevel: "warning",
};
