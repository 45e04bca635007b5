import { expect } from "chai";
import { type OnlineAgent, type PlanView, viewPlan } from "../../src/app/triggering/plan-view.ts";
import { renderPlan } from "../../src/cli/plan-tree.ts";
import type { Verdict } from "../../src/planner/judge.ts";
import { dryRunOf, RUNS } from "../support/dry-runs.ts";

const plain = (_: string, text: string) => text;
const render = (plan: PlanView, columns?: number) => renderPlan(plan, { name: "build.yml", paint: plain, columns });
const verdict = (outcome: Verdict["outcome"], decidedBy: string, certain = true) => ({ outcome, decidedBy, certain });

const BUILD = dryRunOf(
  [
    {
      name: "build",
      jobs: [
        { name: "compile (os=linux)", steps: [{ name: "checkout" }, { name: "test" }] },
        { name: "report", verdict: verdict("skipped", "failure()", false) },
      ],
    },
    {
      name: "deploy",
      when: "success() && jobs.compile.outputs.version != ''",
      verdict: verdict("unknown", "jobs.compile.outputs.version != ''"),
      approval: true,
      jobs: [{ name: "ship", verdict: verdict("unknown", "jobs.compile.outputs.version != ''") }],
    },
  ],
  { ref: "main" },
);

describe("the tree of a plan", () => {
  it("shows stages, jobs and steps, with the outcome and the reason of each", () => {
    expect(render(viewPlan(BUILD, null))).to.deep.equal([
      "plan of build.yml: 3 jobs, 2 steps (manual, ref main)",
      "├─ stage build",
      "│  ├─ job compile (os=linux)  runs     any agent",
      "│  │  ├─ checkout             runs",
      "│  │  └─ test                 runs",
      "│  └─ job report              skipped  failure(), while nothing fails",
      "└─ stage deploy               unknown  jobs.compile.outputs.version != ''; after an approval",
      "   └─ job ship                unknown  any agent",
    ]);
  });

  it("shows the reason of a skipped job once, and at a step only another reason", () => {
    const skipped = verdict("skipped", "trigger.ref == 'main'");
    const plan = dryRunOf(
      [
        {
          when: "success() && trigger.ref == 'main'",
          verdict: skipped,
          jobs: [
            {
              verdict: skipped,
              steps: [{ verdict: skipped }, { verdict: verdict("skipped", "variables.fast != 'yes'") }],
            },
          ],
        },
      ],
      { kind: "cron" },
    );
    expect(render(viewPlan(plan, null))).to.deep.equal([
      "plan of build.yml: 1 job, 2 steps (cron)",
      "└─ stage stage-0  skipped  trigger.ref == 'main'",
      "   └─ job job-0   skipped",
      "      ├─ step-0   skipped",
      "      └─ step-1   skipped  variables.fast != 'yes'",
    ]);
  });

  const agent = (name: string, labels: Record<string, string>): OnlineAgent => ({ agentId: name, name, labels });
  const gpu = { matchLabels: [], matchExpressions: [{ key: "gpu", operator: "In", values: ["yes"] }] } as const;
  const three = [agent("c", {}), agent("a", { gpu: "yes" }), agent("b", { gpu: "yes" })];
  const many = Array.from({ length: 102 }, (_, n) => agent(`n${n}`, {}));
  for (const [what, job, online, note] of [
    ["the agents are not known", { selector: gpu }, null, "agents with gpu In (yes)"],
    ["several agents match", { selector: gpu }, three, "2 agents match: a, b"],
    ["one agent matches", { selector: gpu }, three.slice(1, 2), "1 agent matches: a"],
    ["many agents match", {}, many, "102 agents match: n0, n1, n10, n100, n101 and 97 more"],
    ["none matches", { selector: gpu }, three.slice(0, 1), "no agent matches: gpu In (yes) (the only agent fails it)"],
    ["none is online", {}, [], "no agent is online"],
    [
      "the cells come later",
      { cellsFrom: "fromJSON(jobs.a.outputs.os)" },
      null,
      /^a job for each of fromJSON\(.*\); any/,
    ],
    ["it waits for an approval", { approval: true }, null, "after an approval; any agent"],
  ] as const) {
    it(`says beside a job when ${what}`, () => {
      const [, , line] = render(viewPlan(dryRunOf([{ jobs: [job] }]), online));
      const [, shown] = line!.split(/ runs {5}/);
      if (typeof note === "string") expect(shown).to.equal(note);
      else expect(shown).to.match(note);
    });
  }

  it("says nothing about agents and approvals beside a skipped job", () => {
    const plan = dryRunOf([{ jobs: [{ approval: true, verdict: verdict("skipped", "variables.x") }] }]);
    expect(render(viewPlan(plan, []))[2]).to.match(/skipped {2}variables\.x$/);
  });

  it("fits a terminal: it cuts long names in the middle and notes at their end", () => {
    const cells = ["linux", "darwin"].map((os) => ({ name: `integration (node=20, database=postgresql, os=${os})` }));
    const lines = render(viewPlan(dryRunOf([{ jobs: cells }]), null), 50);
    for (const line of lines) expect(line).to.have.length.at.most(50);
    expect(lines[2]).to.match(/^ {3}├─ job integra.*….*os=linux\) {2}runs {5}any agent$/);
    expect(lines[3]).to.match(/…. *.*os=darwin\) {2}runs/);
    const wide = render(viewPlan(dryRunOf([{ jobs: cells }]), null), 100);
    expect(wide[2]).to.contain("integration (node=20, database=postgresql, os=linux)");
    const decided = verdict("skipped", `contains(trigger.${"x".repeat(80)}, 'y')`);
    const narrow = render(viewPlan(dryRunOf([{ jobs: [{ name: "a", verdict: decided }] }]), null), 60);
    expect(narrow[2])
      .to.match(/job a +skipped {2}contains\(trigger\.x+…$/)
      .and.to.have.length(60);
  });

  it("colours only outcomes, and prints no control characters of names", () => {
    const plan = viewPlan(dryRunOf([{ name: "a\u001b[2Jb", verdict: RUNS, jobs: [{ name: "c\rd" }] }]), null);
    const painted = renderPlan(plan, { name: "f", paint: (colour, text) => `<${colour}:${text}>`, columns: undefined });
    expect(painted).to.deep.equal([
      "<bold:plan of f: 1 job, 0 steps (manual)>",
      "<gray:└─ >stage ab",
      "<gray:   └─ >job cd  <green:runs>     any agent",
    ]);
  });
});
