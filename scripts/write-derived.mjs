/** Writes what README.md, docs/ and .oxlintrc.json say that follows from elsewhere; run with tsx, by `npm run generate`. */
import { readFileSync, writeFileSync } from "node:fs";
import { deriveDefinitionPage } from "../test/support/definition-page.ts";
import { deriveImportTable, deriveLintConfig, deriveReadme } from "../test/support/derived-files.ts";
import { deriveDiagnosticsPage } from "../test/support/diagnostics-page.ts";
import { ImportPolicy } from "../test/support/import-policy.ts";

const at = (name) => new URL(`../${name}`, import.meta.url);
const read = (name) => readFileSync(at(name), "utf8");

const policy = ImportPolicy.read();
const readme = deriveReadme(read("README.md"));
writeFileSync(at("README.md"), readme);
writeFileSync(at(".oxlintrc.json"), deriveLintConfig(read(".oxlintrc.json"), policy));
writeFileSync(at("docs/architecture.md"), deriveImportTable(read("docs/architecture.md"), policy));
writeFileSync(at("docs/definition.md"), deriveDefinitionPage(read("docs/definition.md")));
writeFileSync(at("docs/diagnostics.md"), deriveDiagnosticsPage(read("docs/diagnostics.md")));
