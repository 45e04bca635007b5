import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ProcessWorld } from "../../support/processes.ts";

const SCRIPT = "for fd in 5 200 201; do [ -e /proc/self/fd/$fd ] && echo got $fd; done; echo done";

describe("the descriptors of a step", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => (world = await ProcessWorld.create()));
  after(() => world?.end());

  it("are not those that the shell which started the program had open", async () => {
    const steps = [{ name: "step", uses: "shell", args: { script: SCRIPT } }];
    const file = join(world.folder, "pipeline.json");
    await writeFile(file, JSON.stringify({ jobs: [{ name: "job", steps }] }));
    const shell = 'exec 5>"$0" 200>"$0" 201<>"$0"; exec "$@"';
    const through = ["bash", "-c", shell, join(world.folder, "lock")];
    const run = world.start(["run", "--verbose", file], { through });
    expect((await run.exited).code, run.stdout + run.stderr).to.equal(0);
    expect(run.stdout).to.contain("| done").and.not.to.contain("got ");
  });
});
