/** On MongoDB, a run must fit into one document: what cannot fit is told as soon as it can be known. */
import { expect } from "chai";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { openTestNodes, type TestNodes } from "../support/nodes.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
const AXIS = Array.from({ length: 1_000 }, (_, at) => at);
const job = (name: string, values: unknown) => ({
  name,
  matrix: { axes: { n: values } },
  concurrency: { group: "one" },
  steps: [{ uses: "shell", args: { script: "true" } }],
});
/** Five matrices of 1,000 cells, each with a place in a group. */
const TOO_LARGE = {
  jobs: [job("first", [1, 2]), ...["b", "c", "d", "e"].map((name) => job(name, AXIS)), job("f", AXIS.slice(2))],
};
const BY_VARIABLES = {
  variables: { values: "[1]" },
  jobs: ["a", "b", "c", "d", "e"].map((name) => job(name, "${{ fromJSON(variables.values) }}")),
};

interface Told {
  readonly code: string;
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

describe("a definition whose runs cannot fit into a document of MongoDB", function () {
  this.timeout(60_000);
  let nodes: TestNodes;
  let pipeline: string;

  before(async () => {
    nodes = await openTestNodes({ shards: 4 });
    const { url } = await startTestMongo();
    const node = await nodes.start("edge", {
      MONGODB_URL: url,
      MONGODB_DATABASE: freshDatabase(),
      MILLRACE_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
      MILLRACE_MASTER_KEY: "0123456789abcdef".repeat(4),
      MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
    });
    pipeline = `http://${node.http}/api/v1/pipelines`;
    const { body } = await post("", { name: "large" });
    pipeline += `/${body.detail.pipelineId}`;
  });
  after(() => nodes.close());

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function post(path: string, body: unknown): Promise<{ readonly status: number; readonly body: any }> {
    const headers = { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" };
    const answer = await fetch(`${pipeline}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  }

  function expectRefusal(told: readonly Told[]): void {
    expect(told.map(({ code }) => code)).to.deep.equal(["snapshot-limit"]);
    const [{ pointer, line, column, message }] = told as [Told];
    expect(pointer).to.equal("/jobs/1");
    expect(line).to.be.above(1);
    expect(column).to.be.above(1);
    expect(message).to.match(
      /may take \d{8} bytes, and the store holds runs of up to 14680064 bytes; the job "b" takes/,
    );
  }

  it("is refused when it is validated, saved and planned, with the figures and the place in the text", async () => {
    const validated = await post("/spec/validate", { spec: TOO_LARGE });
    expect(validated.status).to.equal(200);
    expect(validated.body.detail.valid).to.equal(false);
    const errors = validated.body.detail.diagnostics.filter(
      ({ severity }: { severity: string }) => severity === "error",
    );
    expectRefusal(errors);
    const saved = await post("/spec/save", { spec: TOO_LARGE });
    expect(saved.status).to.equal(400);
    expect(saved.body.reason).to.equal("invalid_definition");
    expectRefusal(saved.body.errors);
    const planned = await post("/plan", { spec: TOO_LARGE });
    expect(planned.status).to.equal(400);
    expectRefusal(planned.body.errors);
    // The place is the same in all three answers.
    for (const { line, column } of [saved.body.errors[0], planned.body.errors[0]]) {
      expect({ line, column }).to.deep.equal({ line: errors[0].line, column: errors[0].column });
    }
  });

  it("is refused by the trigger alone when the variables of the trigger make it too large", async () => {
    expect((await post("/spec/validate", { spec: BY_VARIABLES })).body.detail.valid).to.equal(true);
    expect((await post("/spec/save", { spec: BY_VARIABLES })).status).to.equal(200);
    const refused = await post("/trigger", { variables: { values: JSON.stringify(AXIS) } });
    expect(refused.body.errors.map(({ code }: Told) => code)).to.deep.equal(["snapshot-limit"]);
    expect((await post("/trigger", { variables: {} })).status).to.be.within(200, 202);
  });
});
