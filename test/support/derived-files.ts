/** What is written in README.md and .oxlintrc.json but follows from elsewhere. `npm run generate` writes it anew. */
import { APPROVAL_TRANSITIONS } from "../../actors/approval/transitions.ts";
import { GROUP_TRANSITIONS } from "../../actors/group/transitions.ts";
import { JOB_TRANSITIONS } from "../../actors/job/transitions.ts";
import { RUN_TRANSITIONS } from "../../actors/run/transitions.ts";
import { STEP_TRANSITIONS } from "../../actors/step/transitions.ts";
import { FolderTable } from "./folder-table.ts";
import { renderStateTable } from "./state-table.ts";

const TABLES = {
  run: RUN_TRANSITIONS,
  job: JOB_TRANSITIONS,
  step: STEP_TRANSITIONS,
  approval: APPROVAL_TRANSITIONS,
  group: GROUP_TRANSITIONS,
};

interface LintConfig {
  readonly overrides: readonly { readonly rules: object }[];
}

/** README.md with the state tables of the code, each between `<!-- table: name -->` and `<!-- end -->`. */
export function deriveReadme(readme: string): string {
  return readme.replaceAll(
    /(<!-- table: (\w+) -->\n).*?(<!-- end -->)/gs,
    (_, begin: string, name: string, end: string) => {
      return `${begin}\n${renderStateTable(TABLES[name as keyof typeof TABLES])}\n\n${end}`;
    },
  );
}

/** .oxlintrc.json with the rules of imports that README.md's table of folders asks for. */
export function deriveLintConfig(config: string, readme: string): string {
  const parsed = JSON.parse(config) as LintConfig;
  const others = parsed.overrides.filter(({ rules }) => !("no-restricted-imports" in rules));
  const overrides = [...others, ...new FolderTable(readme).lintOverrides()];
  return `${JSON.stringify({ ...parsed, overrides }, null, 2)}\n`;
}
