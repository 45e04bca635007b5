import { expect } from "chai";
import { definitionJsonSchema } from "../../src/definition/json-schema.ts";
import { ProcessWorld } from "../support/processes.ts";

describe("schema", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => {
    world = await ProcessWorld.create();
  });
  after(() => world.end());

  it("prints the JSON Schema of definitions and nothing else", async () => {
    const program = world.start(["schema"]);
    const { code } = await program.exited;
    expect({ code, stderr: program.stderr }).to.deep.equal({ code: 0, stderr: "" });
    expect(JSON.parse(program.stdout)).to.deep.equal(definitionJsonSchema());
  });
});
