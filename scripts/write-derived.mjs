/** Writes what README.md and .oxlintrc.json say that follows from elsewhere; run with tsx, by `npm run generate`. */
import { readFileSync, writeFileSync } from "node:fs";
import { deriveLintConfig, deriveReadme } from "../test/support/derived-files.ts";

const at = (name) => new URL(`../${name}`, import.meta.url);
const read = (name) => readFileSync(at(name), "utf8");

const readme = deriveReadme(read("README.md"));
writeFileSync(at("README.md"), readme);
writeFileSync(at(".oxlintrc.json"), deriveLintConfig(read(".oxlintrc.json"), readme));
