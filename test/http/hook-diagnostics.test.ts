/** Event triggers that no hook of their project can start. */
import { expect } from "chai";
import { getSpec } from "../../src/app/catalogue/definitions.ts";
import { authenticate } from "../../src/app/identity/access.ts";
import { DefinitionWork } from "../../src/definition-work/definition-work.ts";
import { asId, type PipelineId } from "../../src/domain/ids.ts";
import { DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";

class CountedWork extends DefinitionWork {
  checks = 0;
  override check(...given: Parameters<DefinitionWork["check"]>) {
    this.checks++;
    return super.check(...given);
  }
}

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

  it("cost a reader one check of the definition", async () => {
    const projectId = await project();
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    const spec = {
      triggers: { event: [{ provider: "github", event: "push" }] },
      jobs: [{ name: "j", steps: [{ uses: "shell", args: { script: "true" } }] }],
    };
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
    const work = new CountedWork(null);
    const context = { ...git.edge.context, definitions: work };
    const caller = await authenticate(context, git.edge.adminToken);
    const view = await getSpec(context, caller, { pipelineId: asId<PipelineId>(pipelineId) });
    expect(view.diagnostics.map(({ code }) => code)).to.deep.equal(["no-hook"]);
    expect(work.checks).to.equal(1);
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
