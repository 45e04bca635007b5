/** What is written in README.md, docs/architecture.md and .oxlintrc.json but follows from elsewhere. `npm run generate` writes it. */
import { APPROVAL_TRANSITIONS } from "../../actors/approval/transitions.ts";
import { GROUP_TRANSITIONS } from "../../actors/group/transitions.ts";
import { JOB_TRANSITIONS } from "../../actors/job/transitions.ts";
import { RUN_TRANSITIONS } from "../../actors/run/transitions.ts";
import { STEP_TRANSITIONS } from "../../actors/step/transitions.ts";
import type { ImportPolicy } from "./import-policy.ts";
import { renderStateTable } from "./state-table.ts";

const TABLES = {
  run: RUN_TRANSITIONS,
  job: JOB_TRANSITIONS,
  step: STEP_TRANSITIONS,
  approval: APPROVAL_TRANSITIONS,
  group: GROUP_TRANSITIONS,
};

interface LintConfig {
  readonly overrides: readonly { readonly files: readonly string[]; readonly rules: object }[];
}

/** A page with the state tables of the code, each between `<!-- table: name -->` and `<!-- end -->`. */
export function deriveReadme(page: string): string {
  return page.replaceAll(
    /(<!-- table: (\w+) -->\n).*?(<!-- end -->)/gs,
    (_, begin: string, name: string, end: string) => {
      return `${begin}\n${renderStateTable(TABLES[name as keyof typeof TABLES])}\n\n${end}`;
    },
  );
}

/** A page with the table of the import policy between `<!-- imports -->` and `<!-- end -->`. */
export function deriveImportTable(page: string, policy: ImportPolicy): string {
  const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(", ");
  const rows = policy.rows.map(({ places, about, mayImport }) => `| ${code(places)} | ${about} | ${code(mayImport)} |`);
  const table = ["| Folder | What belongs there | May import |", "| --- | --- | --- |", ...rows].join("\n");
  return page.replace(/(<!-- imports -->\n).*?(<!-- end -->)/s, (_, begin: string, end: string) => {
    return `${begin}\n${table}\n\n${end}`;
  });
}

/** .oxlintrc.json with the rules of imports and the list of pure files that the import policy asks for. */
export function deriveLintConfig(config: string, policy: ImportPolicy): string {
  const parsed = JSON.parse(config) as LintConfig;
  const others = parsed.overrides
    .filter(({ rules }) => !("no-restricted-imports" in rules))
    .map((override) => ("no-restricted-globals" in override.rules ? { ...override, files: policy.pure } : override));
  const overrides = [...others, ...policy.lintOverrides()];
  return `${JSON.stringify({ ...parsed, overrides }, null, 2)}\n`;
}
