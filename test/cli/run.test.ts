import { expect } from "chai";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

describe("run", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  beforeEach(async () => {
    world = await ProcessWorld.create();
  });
  afterEach(() => world.end());

  async function run(definition: string, ...args: readonly string[]): Promise<StartedProcess> {
    const file = join(world.folder, "pipeline.yaml");
    await writeFile(file, definition);
    return world.start(["run", file, ...args], { cwd: world.folder });
  }

  const leftOvers = async () => (await readdir(world.folder)).filter((name) => name.startsWith("millrace-run-"));

  it("exits with 0 when the run succeeds, and leaves nothing behind", async () => {
    const started = await run(
      `jobs:
  - name: greet
    env: { WHO: "\${{ variables.who }}", WHERE: "\${{ variables.checkout }}" }
    steps:
      - name: say
        uses: shell
        args: { script: 'echo "hello $WHO at $WHERE"' }
`,
      "--verbose",
      "--var",
      "who=you=me",
    );
    expect((await started.exited).code, started.stdout + started.stderr).to.equal(0);
    expect(started.stdout).to.contain(`greet/say | hello you=me at ${world.folder}`);
    expect(started.stdout).to.contain("✔ pipeline.yaml  success");
    expect(await world.alive()).to.deep.equal([]);
    expect(await leftOvers()).to.deep.equal([]);
  });

  it("gives approvals with --approve, and otherwise says what the run waits for", async () => {
    const definition = `jobs:
  - name: deploy
    approval: { message: "Deploy \${{ variables.ref }}?" }
    steps: [{ uses: shell, args: { script: "true" } }]
`;
    const given = await run(definition, "--approve", "--var", "ref=v1");
    expect((await given.exited).code, given.stdout + given.stderr).to.equal(0);
    expect(given.stdout).to.contain("approved job deploy: Deploy v1?");
    const waiting = await run(definition, "--var", "ref=v1");
    await waiting.prints("waits for the approval of job deploy: Deploy v1? (run with --approve to give it)");
    waiting.pressCtrlC();
    expect((await waiting.exited).code).to.equal(130);
    expect(await leftOvers()).to.deep.equal([]);
  });

  it("exits with 1 when a step fails, and shows only the end of that step's log", async () => {
    const started = await run(`jobs:
  - name: build
    steps:
      - name: fine
        uses: shell
        args: { script: 'echo not shown' }
      - name: breaks
        uses: shell
        args: { script: 'seq 1 60; echo oh no >&2; exit 3' }
      - name: silent
        when: always()
        uses: shell
        args: { script: 'exit 1' }
`);
    expect((await started.exited).code, started.stdout + started.stderr).to.equal(1);
    const { stdout } = started;
    expect(stdout).to.match(/✘ \S+build\/breaks {2}failed .*exit code 3/);
    expect(stdout).to.match(/breaks, last 50 of 61 lines \(all with --verbose\)/);
    expect(stdout).to.contain("breaks | oh no").and.to.contain("breaks | 12\n").and.not.to.contain("breaks | 11\n");
    expect(stdout).not.to.contain("not shown");
    expect(stdout)
      .to.contain("build/silent has written no lines")
      .and.not.to.match(/Log of \S+silent/);
  });

  it("stops the run on Ctrl-C, ends its processes and exits with 130", async () => {
    const started = await run(`jobs:
  - name: long
    cancelGrace: 1s
    steps:
      - name: sleep
        uses: shell
        args: { script: 'sleep 300' }
`);
    await started.prints("● default/long/sleep");
    started.pressCtrlC();
    expect((await started.exited).code, started.stdout + started.stderr).to.equal(130);
    expect(started.stdout).to.match(/pipeline\.yaml {2}cancelled/);
    await until("nothing was left", async () => (await world.alive()).length === 0);
    expect(await leftOvers()).to.deep.equal([]);
  });
});
