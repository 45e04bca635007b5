import { expect } from "chai";
import { APPROVAL_TRANSITIONS } from "../../actors/approval/transitions.ts";
import { JOB_TRANSITIONS } from "../../actors/job/transitions.ts";
import { RUN_TRANSITIONS } from "../../actors/run/transitions.ts";
import { STEP_TRANSITIONS } from "../../actors/step/transitions.ts";
import type { TransitionTable } from "../../src/domain/transition-table.ts";

interface Machine {
  readonly name: string;
  readonly table: TransitionTable<string, string>;
  readonly final: readonly string[];
}

const MACHINES: readonly Machine[] = [
  { name: "run", table: RUN_TRANSITIONS, final: ["success", "failed", "cancelled", "partial"] },
  { name: "job", table: JOB_TRANSITIONS, final: ["success", "failed", "cancelled"] },
  { name: "step", table: STEP_TRANSITIONS, final: ["success", "failed", "cancelled", "timeout", "skipped"] },
  { name: "approval", table: APPROVAL_TRANSITIONS, final: ["approved", "rejected", "expired", "cancelled"] },
];
const WORDS = ["same", "late", "never"];

for (const { name, table, final } of MACHINES) {
  describe(`the ${name}'s transition table`, () => {
    const rows = Object.entries(table);

    it("has no exit from a final state", () => {
      for (const [input, row] of rows) {
        for (const state of final) expect(WORDS, `${input} in ${state}`).to.include(row[state]);
      }
    });

    it("reaches every state from pending, and a final state from every state", () => {
      const reachable = (from: string): Set<string> => {
        const seen = new Set([from]);
        for (const state of seen) {
          for (const [, row] of rows) if (!WORDS.includes(row[state]!)) seen.add(row[state]!);
        }
        return seen;
      };
      const states = Object.keys(rows[0]![1]);
      expect([...reachable("pending")]).to.have.members(states);
      for (const state of states) {
        expect(
          [...reachable(state)].some((other) => final.includes(other)),
          state,
        ).to.equal(true);
      }
    });
  });
}
