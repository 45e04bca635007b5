/** The editor of a definition in Git in a real browser, with a real Git server and a small server of Gitea's API. */
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { BareRepository } from "../support/bare-repository.ts";
import { startBrowser } from "../support/browser-program.ts";
import { DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";
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
  this.timeout(60_000);
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
});
