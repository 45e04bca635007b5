import { expect } from "chai";
import { type OnlineAgent, viewPlan } from "../../../src/app/triggering/plan-view.ts";
import type { AgentSelector } from "../../../src/domain/labels.ts";
import { dryRunOf } from "../../support/dry-runs.ts";

const LINUX_GPU: AgentSelector = {
  matchLabels: [["os", "linux"]],
  matchExpressions: [{ key: "gpu", operator: "In", values: ["yes"] }],
};
const agent = (name: string, labels: Record<string, string>): OnlineAgent => ({ agentId: `agt_${name}`, name, labels });
const firstJob = (selector: AgentSelector, online: readonly OnlineAgent[] | null) =>
  viewPlan(dryRunOf([{ jobs: [{ selector }] }]), online).stages[0]!.jobs[0]!;

describe("the view of a plan", () => {
  it("lists matching agents by name, and the clauses that most other agents fail first", () => {
    const online = [
      agent("b", { os: "linux", gpu: "yes" }),
      agent("mac", { os: "mac", gpu: "yes" }),
      agent("slow", { os: "linux" }),
      agent("old", { os: "linux", gpu: "no" }),
      agent("a", { os: "linux", gpu: "yes" }),
    ];
    const { selector, agents } = firstJob(LINUX_GPU, online);
    expect(selector).to.deep.equal(["os=linux", "gpu In (yes)"]);
    expect(agents).to.deep.equal({
      online: 5,
      matches: 2,
      matching: [
        { agentId: "agt_a", name: "a" },
        { agentId: "agt_b", name: "b" },
      ],
      failing: [
        { clause: "gpu In (yes)", agents: 2 },
        { clause: "os=linux", agents: 1 },
      ],
    });
  });

  it("has null for the agents when the caller did not look them up", () => {
    expect(firstJob(LINUX_GPU, null).agents).to.equal(null);
    expect(firstJob(LINUX_GPU, []).agents).to.deep.equal({ online: 0, matches: 0, matching: [], failing: [] });
  });

  it("counts all matching agents, and names 100 for each job and 10,000 for all jobs at most", () => {
    const online = Array.from({ length: 300 }, (_, n) => agent(`n${n}`, { os: "linux", gpu: "yes" }));
    const few = firstJob(LINUX_GPU, online).agents!;
    expect([few.matches, few.matching.length]).to.deep.equal([300, 100]);
    const many = viewPlan(dryRunOf([{ jobs: Array.from({ length: 5_000 }, () => ({})) }]), online);
    const listed = many.stages[0]!.jobs.map(({ agents }) => agents!.matching.length);
    expect(new Set(listed)).to.deep.equal(new Set([2]));
    expect(many.stages[0]!.jobs[4_999]!.agents!.matches).to.equal(300);
  });

  it("shows a matrix cell as a map, whatever names its axes have", () => {
    const plan = dryRunOf([
      {
        jobs: [
          {
            matrix: [
              ["node", 20],
              ["__proto__", "x"],
            ],
          },
        ],
      },
    ]);
    expect(JSON.stringify(viewPlan(plan, null).stages[0]!.jobs[0]!.matrix)).to.equal('{"node":20,"__proto__":"x"}');
  });
});
