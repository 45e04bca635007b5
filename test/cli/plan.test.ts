import { expect } from "chai";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PlanView } from "../../src/app/triggering/plan-view.ts";
import { type Exit, ProcessWorld, type StartedProcess, type StartOptions } from "../support/processes.ts";

const BUILD = `variables: { who: world }
jobs:
  - name: compile
    matrix: { axes: { os: [linux, mac] } }
    agentSelector: { matchLabels: { kind: builder } }
    env: { COMMIT: "\${{ trigger.head.sha }}", LIMITS: "\${{ toJSON(fromJSON(variables.limits)) }}" }
    steps:
      - { name: greet, uses: shell, args: { script: echo } }
      - { name: build, uses: shell, args: { script: echo } }
  - { name: report, steps: [{ name: send, uses: shell, args: { script: echo } }] }
`;
const CONDITIONS = `triggers: { manual: { inputs: { level: { type: number, required: true } } } }
stages:
  - name: build
    jobs:
      - name: compile
        matrix: { axes: { os: [linux, mac] } }
        outputs: { version: "\${{ steps.tag.outputs.version }}" }
        steps:
          - { name: tag, id: tag, uses: shell, args: { script: echo }, outputs: [version], when: matrix.os == 'linux' }
      - { name: report, needs: [compile], when: failure(), steps: [{ name: send, uses: shell, args: { script: echo } }] }
  - name: deploy
    when: trigger.ref == 'main' && variables.level > 2
    approval: { count: 1 }
    jobs:
      - name: ship
        when: jobs.compile.outputs.version[0] != ''
        steps: [{ name: go, uses: shell, args: { script: echo } }]
`;
const LIMITS = ["--var", "limits={}"];

describe("plan", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => {
    world = await ProcessWorld.create();
    const files = {
      "build.yml": BUILD,
      "bad.yaml": "jobs:\n  - env: {}\n    stepz: []\n",
      "push.json": '{ "head": { "sha": "abc" } }',
      "list.json": "[1]",
    };
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(world.folder, name), text)));
  });
  after(() => world.end());

  async function plan(args: readonly string[], options: StartOptions = {}): Promise<StartedProcess & Exit> {
    const started = world.start(["plan", ...args], { cwd: world.folder, ...options });
    return Object.assign(started, await started.exited);
  }

  it("shows what a trigger would run as a tree, with its ref, payload and variables", async () => {
    const event = ["--trigger", "event", "--ref", "main", "--payload", "push.json"];
    const { code, stdout, stderr } = await plan(["build.yml", ...event, ...LIMITS, "--pipeline", "app"]);
    expect(stderr).to.equal("");
    expect(stdout).to.equal(`plan of app: 3 jobs, 5 steps (event, ref main)
└─ stage default
   ├─ job compile (os=linux)  runs     agents with kind=builder
   │  ├─ greet                runs
   │  └─ build                runs
   ├─ job compile (os=mac)    runs     agents with kind=builder
   │  ├─ greet                runs
   │  └─ build                runs
   └─ job report              runs     any agent
      └─ send                 runs
`);
    expect(code).to.equal(0);
  });

  it("decides conditions, and shows the deciding part of each", async () => {
    const [main, other] = await Promise.all([
      plan(["-", "--ref", "main", "--var", "level=3"], { input: CONDITIONS }),
      plan(["-", "--ref", "main", "--var", "level=1"], { input: CONDITIONS }),
    ]);
    expect(main.stdout, main.stderr).to.equal(`plan of <stdin>: 4 jobs, 4 steps (manual, ref main)
├─ stage build
│  ├─ job compile (os=linux)  runs     any agent
│  │  └─ tag                  runs
│  ├─ job compile (os=mac)    runs     any agent
│  │  └─ tag                  skipped  matrix.os == 'linux'
│  └─ job report              skipped  failure(), while nothing fails
│     └─ send                 skipped
└─ stage deploy               runs     after an approval
   └─ job ship                unknown  jobs.compile.outputs.version[0] != ''; any agent
      └─ go                   unknown
`);
    expect(other.stdout.split("\n").slice(-4).join("\n")).to
      .equal(`└─ stage deploy               skipped  variables.level > 2
   └─ job ship                skipped
      └─ go                   skipped
`);
  });

  it("uses a manual trigger, the variable ref and the name of the file by default", async () => {
    const { code, stdout, stderr } = await plan(["build.yml", ...LIMITS, "--var", "ref=v1"]);
    expect(stdout).to.contain("plan of build.yml: 3 jobs, 5 steps (manual, ref v1)\n");
    expect(stderr).to.match(/^build\.yml:6:\d+: warning: .*trigger\.head.*\[undefined-value\]\n {4}6 \| /);
    expect(stderr).to.match(/\n1 warning\n$/);
    expect(code).to.equal(0);
  });

  it("prints with --json only the plan, as the API answers it", async () => {
    const { code, stdout } = await plan(["-", "--json", ...LIMITS], { input: BUILD });
    const { stages, jobsCount, stepsCount, trigger } = JSON.parse(stdout) as PlanView;
    expect({ code, jobsCount, stepsCount, trigger }).to.deep.equal({
      code: 0,
      jobsCount: 3,
      stepsCount: 5,
      trigger: { kind: "manual", ref: "" },
    });
    expect(stages[0]!.jobs[0]).to.deep.include({ matrix: { os: "linux" }, selector: ["kind=builder"], agents: null });
  });

  it("prints a plan of many jobs to its end, also for a slow reader", async () => {
    const axis = Array.from({ length: 1_000 }, (_, cell) => `a long name of cell ${cell}`);
    const steps = [1, 2, 3, 4].map((n) => ({ name: `step ${n}`, uses: "shell", args: { script: "echo" } }));
    const input = JSON.stringify({ jobs: [{ name: "test", matrix: { axes: { axis } }, steps }] });
    const { code, stdout } = await plan(["-", "--format", "json"], { input });
    expect(stdout).to.have.length.above(1 << 18);
    expect(stdout.split("\n").slice(-4).join("\n")).to.match(/\n {6}├─ step 3 +runs\n {6}└─ step 4 +runs\n$/);
    expect(code).to.equal(0);
  });

  it("shows the problems of a definition as validate does, and exits with 1", async () => {
    const { code, stdout, stderr } = await plan(["bad.yaml", "--json"]);
    expect([code, stdout]).to.deep.equal([1, ""]);
    expect(stderr)
      .to.contain("bad.yaml:3:5: error:")
      .and.to.match(/\n2 errors\n$/);
  });

  it("shows problems that only the values of the trigger cause, and exits with 1", async () => {
    const { code, stdout, stderr } = await plan(["build.yml", "--payload", "push.json", "--var", "limits={"]);
    expect(stderr).to.match(/^build\.yml:6:\d+: error: .*cannot be evaluated.*\[evaluation-failed\]\n {4}6 \| /);
    expect(stderr).to.match(/\n1 error\n$/);
    expect([code, stdout]).to.deep.equal([1, ""]);
  });

  it("refuses variables that do not match the inputs with exit status 2", async () => {
    const { code, stdout, stderr } = await plan(["-", "--var", "level=high"], { input: CONDITIONS });
    expect([code, stdout]).to.deep.equal([2, ""]);
    expect(stderr).to.match(/^error: --var: .*"level"/);
  });

  for (const [what, args, message] of [
    ["a file that is not there", ["nowhere.yaml"], "cannot read nowhere.yaml: there is no such file (ENOENT)"],
    ["a payload that is not there", ["build.yml", "--payload", "nowhere.json"], "--payload nowhere.json: ENOENT"],
    ["a payload that is no JSON", ["build.yml", "--payload", "build.yml"], "--payload build.yml: Unexpected token"],
    [
      "a payload that is no object",
      ["build.yml", "--payload", "list.json"],
      "--payload list.json: must be a JSON object",
    ],
    ["an unknown trigger", ["build.yml", "--trigger", "push"], "Allowed choices are manual, cron, event"],
    ["a variable without a name", ["build.yml", "--var", "=1"], "must be name=value"],
    ["a server without a pipeline", ["build.yml", "--server", "http://127.0.0.1:1"], "must be given together"],
    ["a pipeline without a server", ["build.yml", "--pipeline-id", "pip_1"], "must be given together"],
    [
      "a server without a token",
      ["build.yml", "--server", "http://127.0.0.1:1", "--pipeline-id", "p"],
      "MILLRACE_TOKEN",
    ],
    ["a server that is no URL", ["build.yml", "--server", "here", "--pipeline-id", "p"], "must be a URL"],
  ] as const) {
    it(`refuses ${what} with exit status 2`, async () => {
      const { code, stdout, stderr } = await plan(args);
      expect([code, stdout]).to.deep.equal([2, ""]);
      expect(stderr).to.contain(message);
    });
  }
});
