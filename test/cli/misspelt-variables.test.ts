import { expect } from "chai";
import { misspeltVariables } from "../../src/cli/misspelt-variables.ts";
import { KNOWN_VARIABLES } from "../../src/settings/config.ts";
import { ProcessWorld } from "../support/processes.ts";

const set = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "x"]));

describe("the variables of the environment", function () {
  this.timeout(30_000);

  it("that are near a setting and are none are named, with the setting", () => {
    expect(misspeltVariables(set("MILLRACE_ROLE", "MILLRACE_HTTP_ADRESS", "PATH"))).to.deep.equal([
      "the variable MILLRACE_ROLE is no setting: did you mean MILLRACE_ROLES?",
      "the variable MILLRACE_HTTP_ADRESS is no setting: did you mean MILLRACE_HTTP_ADDRESS?",
    ]);
  });

  it("are not named when they are settings, or what steps and the command line have", () => {
    const others = [
      "URL",
      "TOKEN",
      "WORKSPACE",
      "OUTPUT",
      "SUMMARY",
      "EVENTS",
      "RUN_ID",
      "RUN_ATTEMPT",
      "JOB_ID",
      "REF",
    ];
    const more = ["JOB_NAME", "STEP_NAME", "STEP_RUN_ID", "PIPELINE_ID", "PROJECT_ID", "COMMIT_SHA", "STEP_MARK"];
    const names = [...others, ...more].map((name) => `MILLRACE_${name}`);
    expect(misspeltVariables(set(...KNOWN_VARIABLES, ...names))).to.deep.equal([]);
  });

  it("are named in the log of an agent", async () => {
    const world = await ProcessWorld.create();
    try {
      const env = { MILLRACE_DATA_DIR: world.folder, MILLRACE_AGENT_SLOT: "4" };
      const agent = world.start(["agent", "--gateway", "127.0.0.1:1"], { env });
      await agent.exited;
      expect(agent.stderr).to.include("did you mean MILLRACE_AGENT_SLOTS?");
    } finally {
      await world.end();
    }
  });
});
