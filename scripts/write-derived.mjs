/** Writes the generated parts of docs/ and .oxlintrc.json. `npm run generate` runs it with tsx. */
import { readFileSync, writeFileSync } from "node:fs";
import { deriveConfigurationPage } from "../test/support/configuration-page.ts";
import { deriveDefinitionPage } from "../test/support/definition-page.ts";
import { deriveImportList, deriveLintConfig } from "../test/support/derived-files.ts";
import { deriveDiagnosticsPage } from "../test/support/diagnostics-page.ts";
import { ImportPolicy } from "../test/support/import-policy.ts";
import { deriveErrorsPage } from "../test/support/errors-page.ts";
import { deriveEventSchemas, deriveEventsPage } from "../test/support/events-page.ts";
import { deriveMetricsPage } from "../test/support/metrics-page.ts";
import { deriveOpenApi } from "../test/support/openapi-document.ts";
import { deriveRolesPage } from "../test/support/roles-page.ts";
import { deriveShardingTables } from "../test/support/sharding-page.ts";
import { deriveStatesPage } from "../test/support/states-page.ts";

const at = (name) => new URL(`../${name}`, import.meta.url);
const policy = ImportPolicy.read();

for (const [file, derive] of [
  [".oxlintrc.json", (config) => deriveLintConfig(config, policy)],
  ["docs/architecture.md", (page) => deriveImportList(page, policy)],
  ["docs/configuration.md", deriveConfigurationPage],
  ["docs/definition.md", deriveDefinitionPage],
  ["docs/diagnostics.md", deriveDiagnosticsPage],
  ["docs/errors.md", deriveErrorsPage],
  ["docs/events.json", deriveEventSchemas],
  ["docs/events.md", deriveEventsPage],
  ["docs/metrics.md", deriveMetricsPage],
  ["docs/openapi.json", deriveOpenApi],
  ["docs/operations.md", deriveShardingTables],
  ["docs/roles.md", deriveRolesPage],
  ["docs/states.md", deriveStatesPage],
]) {
  writeFileSync(at(file), derive(readFileSync(at(file), "utf8")));
}
