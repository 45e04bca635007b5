/** Event triggers that no hook of their project can start. */
import { expect } from "chai";
import { DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";

describe("event triggers and the hooks of their project over HTTP", () => {
  let git: GitEdge;
  before(async () => {
    git = await GitEdge.open();
  });
  after(() => git.close());

  async function call(method: string, path: string, body?: unknown) {
    const answer = await git.edge.call(method, `/api/v1${path}`, body === undefined ? {} : { body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  let made = 0;
  async function project(): Promise<string> {
    const { projectId } = await call("POST", "/projects", { name: `heard ${made++}` });
    for (const name of ["HOOK_KEY", "OTHER_KEY"]) {
      await call("POST", `/projects/${projectId}/secrets`, { name, value: "swordfish-and-more" });
    }
    return projectId;
  }
  const addHook = (projectId: string, secret: string) =>
    call("POST", `/projects/${projectId}/hooks`, { name: `code ${secret}`, kind: "github", secret });
  const pointersIn = ({ diagnostics }: { diagnostics: Record<string, string>[] }) =>
    diagnostics.map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`);

  it("draw a warning at validation and in the definition until there is a hook with their secret", async () => {
    const projectId = await project();
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    const spec = {
      triggers: { event: [{ provider: "github", event: "push", secret: "HOOK_KEY" }] },
      jobs: [{ name: "j", steps: [{ uses: "shell", args: { script: "true" } }] }],
    };
    const validated = async () => {
      const found = await call("POST", `/pipelines/${pipelineId}/spec/validate`, { spec });
      expect(found.valid).to.equal(true);
      return pointersIn(found);
    };
    const read = async () => pointersIn(await call("GET", `/pipelines/${pipelineId}/spec`));
    expect(await validated()).to.deep.equal(["warning no-hook /triggers/event/0/provider"]);
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
    expect(await read()).to.deep.equal(["warning no-hook /triggers/event/0/provider"]);
    await addHook(projectId, "OTHER_KEY");
    expect(await validated()).to.deep.equal(["warning no-hook /triggers/event/0/secret"]);
    expect(await read()).to.deep.equal(["warning no-hook /triggers/event/0/secret"]);
    await addHook(projectId, "HOOK_KEY");
    expect(await validated()).to.deep.equal([]);
    expect(await read()).to.deep.equal([]);
  });

  it("draw it for a definition in Git, too", async () => {
    const projectId = await project();
    const { user, password } = git.world.server.expected!;
    await call("POST", `/projects/${projectId}/secrets`, { name: "CODE", value: `${user}:${password}` });
    const { origin, repository } = git.world.newRepository();
    origin.commit({
      [DEFINITION_PATH]: `triggers: { event: [{ provider: github, event: push }] }\n${textOf("echo 1")}`,
    });
    const place = { repoUrl: repository.remote.url, repoCredential: "CODE" };
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId, ...place });
    expect(pointersIn(await call("GET", `/pipelines/${pipelineId}/spec`))).to.deep.equal([
      "warning no-hook /triggers/event/0/provider",
    ]);
    await addHook(projectId, "HOOK_KEY");
    expect(pointersIn(await call("GET", `/pipelines/${pipelineId}/spec`))).to.deep.equal([]);
  });
});
