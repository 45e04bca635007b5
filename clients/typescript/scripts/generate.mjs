/**
 * Writes `src/generated` from docs/openapi.json: `node clients/typescript/scripts/generate.mjs`. With `--check` it writes
 * nothing, and fails when the files are not what the document says.
 *
 * The generator of the types needs TypeScript 5, so it stands beside its own TypeScript in the node_modules of this
 * workspace.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import openapiTypes, { astToString } from "openapi-typescript";

const HEADER = "// Made from docs/openapi.json by `npm run generate`. Do not edit.\n";
/** How the document describes a parameter of a path that is not one part of it. */
const SLASHES = "It may contain slashes.";
const DOCUMENT = new URL("../../../docs/openapi.json", import.meta.url);
const OUT = new URL("../src/generated/", import.meta.url);

const document = JSON.parse(readFileSync(DOCUMENT, "utf8"));
const made = {
  "schema.ts": HEADER + astToString(await openapiTypes(document, { defaultNonNullable: false, immutable: true })),
  "facts.ts": HEADER + operationFacts(),
};

if (process.argv.includes("--check")) {
  for (const [name, text] of Object.entries(made)) {
    if (read(name) === text) continue;
    console.error(`clients/typescript/src/generated/${name} is not up to date: run npm run generate`);
    process.exitCode = 1;
  }
} else {
  mkdirSync(OUT, { recursive: true });
  for (const [name, text] of Object.entries(made)) writeFileSync(new URL(name, OUT), text);
}

function read(name) {
  try {
    return readFileSync(new URL(name, OUT), "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  }
}

/** The only things of the document that the client needs as it runs. */
function operationFacts() {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      method,
      path: path.replace(/^\/api\/v1/, ""),
      parameters,
    })),
  );
  const posts = operations
    .filter(({ method, parameters }) => method === "post" && parameters.some(({ name }) => name === "Idempotency-Key"))
    .map(({ path }) => path);
  const slashed = operations.flatMap(({ path, parameters }) =>
    parameters.filter(({ description }) => description === SLASHES).map(({ name }) => `${path} ${name}`),
  );
  return (
    `\n/** Paths whose POST takes an \`Idempotency-Key\`. */\nexport const IDEMPOTENT_POSTS: ReadonlySet<string> = ${setOf(posts)};\n` +
    `\n/** A path and its parameter that may contain slashes. */\nexport const SLASHED_PARAMETERS: ReadonlySet<string> = ${setOf(slashed)};\n`
  );
}

function setOf(texts) {
  const lines = [...new Set(texts)].map((text) => `  ${JSON.stringify(text)},\n`);
  return `new Set([\n${lines.join("")}])`;
}
