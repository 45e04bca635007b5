/** The editor of a definition in Git in a real browser, with a real Git server and a small server of Gitea's API. */
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { seriousProblems } from "../support/accessibility.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { startBrowser } from "../support/browser-program.ts";
import { DEFINITION_PATH, fileOf, GitEdge, textOf } from "../support/git-edge.ts";
import { buildProgram } from "../support/processes.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";

const PASSWORD = "correct horse battery";
const INCLUDED = "checks/jobs.yaml";
/** It warns of a value from outside in a script. */
const CHECKS = `jobs:
  - name: lint
    steps:
      - uses: shell
        args: { script: "echo \${{ trigger.ref }}" }
`;

describe("the editor of a definition in Git", function () {
  this.timeout(120_000);
  let git: GitEdge;
  let host: ProviderServer;
  let origin: BareRepository;
  let browser: Browser;
  let page: Page;
  let pipelineId = "";

  before(async () => {
    await buildProgram();
    git = await GitEdge.open();
    host = await new ProviderServer("gitea").start();
    git.world.server.intercept = (request, response) => {
      if (!host.isMine(request)) return false;
      void host.answer(request, response);
      return true;
    };
    await git.edge.call("POST", "/api/v1/projects/default/secrets", { body: { name: "API", value: TOKEN } });
    await git.edge.call("POST", "/api/v1/users", { body: { name: "olga", role: "owner", password: PASSWORD } });
    origin = new BareRepository(git.world.folder, "team/app");
    origin.commit({ [DEFINITION_PATH]: `include: [${INCLUDED}]\n${textOf("echo 1")}`, [INCLUDED]: CHECKS });
    const created = await git.create({
      repoUrl: `${git.world.server.origin}/team/app.git`,
      repoProvider: "gitea",
      repoCredential: "CODE",
      repoApiCredential: "API",
    });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    pipelineId = created.body.detail.pipelineId;
    browser = await startBrowser();
    page = await (await browser.newContext({ baseURL: git.edge.origin })).newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(`/login?next=${encodeURIComponent(`/pipelines/${pipelineId}/edit`)}`);
    await page.fill("[name=name]", "olga");
    await page.fill("[name=password]", PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(({ pathname }) => pathname.endsWith("/edit"));
  });

  after(async () => {
    await browser?.close();
    await git?.close();
    await host?.stop();
  });

  const dialog = () => page.getByRole("dialog");

  it("opens an included file at the place of its problem", async () => {
    await page.getByRole("button", { name: new RegExp(`${INCLUDED}:5:`) }).click();
    const marked = dialog().locator("[aria-current=location]");
    expect(await marked.innerText()).to.include("echo ${{ trigger.ref }}");
    await dialog().getByText("The file as it is at").waitFor();
    expect(await dialog().getByRole("link").getAttribute("href")).to.include("/team/app.git");
    await page.keyboard.press("Escape");
  });

  it("lets one save choose a pull request where the others are commits", async () => {
    const head = origin.tip();
    const write = async (text: string, mode: RegExp) => {
      await page.locator("[data-editor] .cm-content").click();
      await page.keyboard.press("Control+End");
      await page.keyboard.insertText(text);
      await page.keyboard.press("Control+s");
      await dialog().getByLabel(mode).check();
      await dialog().getByLabel("What the change is for").fill("a change");
      await page.keyboard.press("Enter");
      await dialog().waitFor({ state: "detached" });
    };
    await write("# proposed\n", /A pull request for main/);
    await page.getByText("The change is proposed from").waitFor();
    expect(host.pulls.map(({ target, title }) => ({ target, title }))).to.deep.equal([
      { target: "main", title: "a change" },
    ]);
    expect(origin.tip()).to.equal(head);
  });

  it("takes over what another has pushed meanwhile, and loses neither change", async () => {
    await page.goto(`/pipelines/${pipelineId}/edit`);
    await page.locator("[data-editor] .cm-line").first().waitFor();
    await page.locator("[data-editor] .cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText("# mine\n");
    const theirs = `# theirs\n${fileOf(origin)}`;
    origin.commit({ [DEFINITION_PATH]: theirs }, { message: "say more" });
    const save = async (message: string) => {
      await page.keyboard.press("Control+s");
      await dialog().getByLabel("What the change is for").fill(message);
      await dialog()
        .getByLabel(/A commit on main/)
        .check();
      await dialog().getByRole("button", { name: "Save", exact: true }).click();
    };
    await save("my words");
    await dialog().getByText("+# theirs").waitFor();
    await dialog()
      .getByText(/tester has saved.*say more/)
      .waitFor();
    await dialog().getByRole("button", { name: "Take over" }).click();
    await save("both");
    await page.getByText("The definition is saved").last().waitFor();
    await dialog().waitFor({ state: "detached" });
    expect(fileOf(origin)).to.equal(`${theirs}# mine\n`);
    expect(origin.git(["log", "--format=%s|%an", "-2", "main"]).split("\n")).to.deep.equal([
      "both|olga",
      "say more|tester",
    ]);
  });

  it("tells what the trigger of another branch would run", async () => {
    const other = fileOf(origin).replace("name: build", "name: build-the-feature");
    origin.commit({ [DEFINITION_PATH]: other }, { branch: "feature", onto: origin.tip()! });
    await page.goto(`/pipelines/${pipelineId}/trigger`);
    const plan = page.getByRole("region", { name: "What will run" });
    await plan.getByText("build", { exact: true }).waitFor();
    await page.getByLabel("Branch, tag or commit").fill("feature");
    await plan.getByText("build-the-feature", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(({ pathname }) => pathname.startsWith("/runs/run_"));
    const runId = new URL(page.url()).pathname.split("/").at(-1)!;
    const run = await git.edge.call("GET", `/api/v1/pipelines/runs/${runId}`);
    expect(run.body.detail).to.include({ commitSha: origin.tip("feature") });
  });

  it("begins with the definitions that a repository has, changes them, and says what a credential lacks", async () => {
    origin.commit({ ".millrace/nightly.yaml": textOf("echo 2"), ".millrace/broken.yaml": "jobs: 7\n" });
    await page.goto("/pipelines/new?from=git");
    await page.getByLabel("Repository").fill(`${git.world.server.origin}/team/app.git`);
    await page.getByLabel(/^Credential/).selectOption("CODE");
    await page.getByRole("button", { name: "Find definitions" }).click();
    const files = page.getByRole("region", { name: "Definitions" }).getByRole("listitem");
    await files.filter({ hasText: "broken.yaml" }).getByText(/1:/).waitFor();
    await files.filter({ hasText: DEFINITION_PATH }).getByText("is the pipeline").waitFor();
    expect(await page.getByRole("checkbox").count()).to.equal(1);
    expect(await seriousProblems(page)).to.deep.equal([]);
    await page.getByRole("button", { name: "Make the pipeline" }).click();
    await page.getByRole("heading", { name: "nightly" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Check the repository" }).click();
    await page.getByText("May push").waitFor();
    await page.getByText("Nothing is missing").waitFor();
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await dialog().getByLabel("A save is").selectOption("pr");
    await dialog().getByRole("button", { name: "Change" }).click();
    await dialog()
      .getByRole("alert")
      .getByText(/repoProvider/)
      .waitFor();
    await dialog().getByLabel(/^Host/).selectOption("gitea");
    await dialog().getByLabel("Credential for the API").fill("API");
    await dialog().getByLabel("Description").fill("Every night");
    await dialog().getByRole("button", { name: "Change" }).click();
    await dialog().waitFor({ state: "detached" });
    await page.locator("dd").getByText("a pull request", { exact: true }).waitFor();
    const madeId = new URL(page.url()).pathname.split("/")[2]!;
    const { detail } = (await git.edge.call("GET", `/api/v1/pipelines/${madeId}`)).body;
    expect(detail).to.include({
      saveMode: "pr",
      description: "Every night",
      pipelineFilePath: ".millrace/nightly.yaml",
    });
    await page.getByRole("button", { name: "Take out of Git" }).click();
    await dialog().getByRole("button", { name: "Take out of Git" }).click();
    await page.getByText("Held by millrace").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog()
      .getByLabel(/^Type .* to confirm/)
      .fill(detail.name);
    await dialog().getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(({ pathname }) => pathname === "/pipelines");
  });
});
