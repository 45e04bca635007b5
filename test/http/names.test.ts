import { expect } from "chai";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const UNFIT = ["\u0001", "\u0000", "\n", "\u007f", "\u009b", "\u2028", "\u202e", "\u2066"];

describe("names over HTTP", () => {
  let edge: TestEdge;
  let at: string;
  before(async () => {
    edge = await openTestEdge();
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "names" } })).body.detail;
    at = `/api/v1/pipelines/${pipelineId}`;
  });
  after(() => edge.close());

  const withName = (job: object, step: object = {}) => ({
    jobs: [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" }, ...step }], ...job }],
  });

  /** Calls with a name, whose other members are right. */
  function callsWithName(): readonly (readonly [string, string, (name: string) => object])[] {
    return [
      ["POST", "/api/v1/pipelines", (name) => ({ name })],
      ["POST", "/api/v1/pipelines", (name) => ({ name: "a", metadata: { [name]: "x" } })],
      ["POST", "/api/v1/pipelines", (name) => ({ name: "a", createdBy: name })],
      ["PUT", at, (name) => ({ name })],
      ["PUT", at, (name) => ({ defaultBranch: name })],
      ["POST", "/api/v1/users", (name) => ({ name, role: "viewer" })],
      ["POST", "/api/v1/users/me/tokens", (name) => ({ name })],
      ["POST", "/api/v1/agents/registration-tokens", (name) => ({ name })],
      ["POST", `${at}/secrets`, (name) => ({ name, value: "a long value" })],
      ["POST", `${at}/spec/save`, (name) => ({ spec: withName({}), editor: name })],
      ["POST", `${at}/trigger`, (triggeredBy) => ({ triggeredBy })],
    ];
  }

  it("of pipelines, tokens and people hold no control characters and no marks that reorder text", async () => {
    for (const [method, path, bodyOf] of callsWithName()) {
      for (const character of UNFIT) {
        for (const name of [character, `a${character}b`]) {
          const { status, body } = await edge.call(method, path, { body: bodyOf(name) });
          const what = `${path} ${JSON.stringify(bodyOf(name))}: ${JSON.stringify(body)}`;
          expect([status, body.reason], what).to.deep.equal([400, "malformed_request"]);
        }
      }
    }
  });

  it("are bounded in length, in bodies and in paths", async () => {
    const areas: readonly (readonly [string, string, (name: string) => object])[] = [
      ["POST", "/api/v1/projects", (name) => ({ name })],
      ["POST", "/api/v1/projects", (slug) => ({ name: "a", slug })],
      ["POST", "/api/v1/tenants", (name) => ({ name })],
      ["POST", "/api/v1/tenants/default/teams", (name) => ({ name })],
      ["POST", "/api/v1/tenants/default/service-accounts", (name) => ({ name })],
      ["POST", "/api/v1/invitations", (name) => ({ name, role: "viewer" })],
    ];
    for (const [method, path, bodyOf] of [...callsWithName(), ...areas]) {
      const { status, body } = await edge.call(method, path, { body: bodyOf("x".repeat(5_000)) });
      const what = `${method} ${path} ${Object.keys(bodyOf("")).join()}: ${JSON.stringify(body).slice(0, 300)}`;
      expect([status, body.code], what).to.deep.equal([400, 400]);
    }
    // In a path, too, where it is no longer than the bound of the target.
    for (const name of ["x".repeat(2_000), "..%2f".repeat(300), "%00"]) {
      const answer = await edge.call("GET", `/api/v1/projects/${name}`);
      expect([answer.status, answer.body.code], name.slice(0, 20)).to.be.deep.oneOf([
        [404, 404],
        [400, 400],
      ]);
    }
  });

  it("in definitions neither", async () => {
    const specs: readonly ((name: string) => object)[] = [
      (name) => withName({ name }),
      (name) => withName({}, { name }),
      (name) => ({ stages: [{ name, ...withName({}) }] }),
      (name) => withName({ matrix: { axes: { a: [name] } } }),
      (name) => withName({ matrix: { axes: { [name]: ["a"] } } }),
      (name) => withName({ concurrency: { group: name } }),
      (name) => withName({ agentSelector: { matchLabels: { [name]: "a" } } }),
      (name) => withName({ approval: { requiredApprovers: [name] } }),
      (name) => withName({}, { artifacts: [{ name, paths: ["a"] }] }),
    ];
    for (const specOf of specs) {
      const good = await edge.call("POST", `${at}/spec/validate`, { body: { spec: specOf("a") } });
      expect(good.body.detail.valid, JSON.stringify(good.body)).to.equal(true);
      for (const character of UNFIT) {
        const { body } = await edge.call("POST", `${at}/spec/validate`, { body: { spec: specOf(`a${character}b`) } });
        expect(body.detail.valid, JSON.stringify(specOf(`a${character}b`))).to.equal(false);
      }
    }
  });

  it("of steps lose them where they come from a variable", async () => {
    const spec = withName({}, { name: "greet ${{ variables.who }}" });
    const body = { spec, variables: { who: "a\u001b[31m\u202eb" } };
    const answer = await edge.call("POST", `${at}/plan`, { body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(JSON.stringify(answer.body.detail)).to.include("greet a [31m b");
  });
});
