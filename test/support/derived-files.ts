/**
 * The parts of .oxlintrc.json and docs/architecture.md that follow from the import policy. `npm run generate` writes
 * them.
 */
import type { ImportPolicy } from "./import-policy.ts";

interface LintConfig {
  readonly overrides: readonly { readonly files: readonly string[]; readonly rules: object }[];
}

/** The page, with the import policy between `<!-- imports -->` and `<!-- end -->`: one list item for each row. */
export function deriveImportList(page: string, policy: ImportPolicy): string {
  const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(", ");
  const items = policy.rows.map(({ places, about, mayImport }) => {
    return `- ${code(places)}: ${about}\n  May import: ${mayImport.length === 0 ? "nothing" : code(mayImport)}.`;
  });
  return page.replace(/(<!-- imports -->\n).*?(<!-- end -->)/s, (_, begin: string, end: string) => {
    return `${begin}\n${items.join("\n")}\n\n${end}`;
  });
}

/** .oxlintrc.json with the import rules and the list of pure files of the import policy. */
export function deriveLintConfig(config: string, policy: ImportPolicy): string {
  const parsed = JSON.parse(config) as LintConfig;
  const others = parsed.overrides
    .filter(({ rules }) => !("no-restricted-imports" in rules))
    .map((override) => ("no-restricted-globals" in override.rules ? { ...override, files: policy.pure } : override));
  const overrides = [...others, ...policy.lintOverrides()];
  return `${JSON.stringify({ ...parsed, overrides }, null, 2)}\n`;
}
