/** Fails when `docs/openapi.json` is not what the routes declare. */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { deriveOpenApi } from "../test/support/openapi-document.ts";

const FILE = "docs/openapi.json";
const committed = JSON.parse(readFileSync(new URL(`../${FILE}`, import.meta.url), "utf8"));
if (!isDeepStrictEqual(committed, JSON.parse(deriveOpenApi()))) {
  console.error(`${FILE} is not up to date: run npm run generate`);
  process.exitCode = 1;
}
