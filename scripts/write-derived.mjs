/** Writes what docs/ and .oxlintrc.json say that follows from the code; run with tsx, by `npm run generate`. */
import { readFileSync, writeFileSync } from "node:fs";
import { deriveConfigurationPage } from "../test/support/configuration-page.ts";
import { deriveDefinitionPage } from "../test/support/definition-page.ts";
import { deriveLintConfig } from "../test/support/derived-files.ts";
import { deriveDiagnosticsPage } from "../test/support/diagnostics-page.ts";
import { deriveStatesPage } from "../test/support/states-page.ts";

const at = (name) => new URL(`../${name}`, import.meta.url);
const read = (name) => readFileSync(at(name), "utf8");

writeFileSync(at(".oxlintrc.json"), deriveLintConfig(read(".oxlintrc.json"), read("docs/architecture.md")));
for (const [page, derive] of [
  ["docs/configuration.md", deriveConfigurationPage],
  ["docs/definition.md", deriveDefinitionPage],
  ["docs/diagnostics.md", deriveDiagnosticsPage],
  ["docs/states.md", deriveStatesPage],
]) {
  writeFileSync(at(page), derive(read(page)));
}
