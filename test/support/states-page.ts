/** The tables of docs/states.md; `npm run generate` writes them from the transition tables of the code. */
import { APPROVAL_TRANSITIONS } from "../../actors/approval/transitions.ts";
import { GROUP_TRANSITIONS } from "../../actors/group/transitions.ts";
import { JOB_TRANSITIONS } from "../../actors/job/transitions.ts";
import { RUN_TRANSITIONS } from "../../actors/run/transitions.ts";
import { SCHEDULE_TRANSITIONS } from "../../actors/schedule/transitions.ts";
import { STEP_TRANSITIONS } from "../../actors/step/transitions.ts";
import { TIMETABLE_TRANSITIONS } from "../../actors/timetable/transitions.ts";
import { renderStateTable } from "./state-table.ts";

export const STATE_TABLES = {
  run: RUN_TRANSITIONS,
  job: JOB_TRANSITIONS,
  step: STEP_TRANSITIONS,
  approval: APPROVAL_TRANSITIONS,
  group: GROUP_TRANSITIONS,
  schedule: SCHEDULE_TRANSITIONS,
  timetable: TIMETABLE_TRANSITIONS,
};

/** The page, with each transition table between its `<!-- table: name -->` and `<!-- end -->`. */
export function deriveStatesPage(page: string): string {
  return page.replaceAll(
    /(<!-- table: (\w+) -->\n).*?(<!-- end -->)/gs,
    (_, begin: string, name: string, end: string) =>
      `${begin}\n${renderStateTable(STATE_TABLES[name as keyof typeof STATE_TABLES])}\n\n${end}`,
  );
}
