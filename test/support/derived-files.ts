/** What .oxlintrc.json says that follows from the table of folders. `npm run generate` writes it. */
import { FolderTable } from "./folder-table.ts";

interface LintConfig {
  readonly overrides: readonly { readonly rules: object }[];
}

/** .oxlintrc.json with the rules of imports that the table of folders asks for. */
export function deriveLintConfig(config: string, page: string): string {
  const parsed = JSON.parse(config) as LintConfig;
  const others = parsed.overrides.filter(({ rules }) => !("no-restricted-imports" in rules));
  const overrides = [...others, ...new FolderTable(page).lintOverrides()];
  return `${JSON.stringify({ ...parsed, overrides }, null, 2)}\n`;
}
