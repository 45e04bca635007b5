/** All pages in a real browser, on one started installation that has something on each. */
import { expect } from "chai";
import type { Page, Response } from "playwright-core";
import { seriousProblems } from "../support/accessibility.ts";
import { packageOf } from "../support/plugin-packages.ts";
import { dragReplay, narrowRun, offlineAndBack, reducedMotion, severalAtOnce, singleKeys } from "./by-hand.ts";
import { addAgent, teamsAndAccounts } from "./access-by-hand.ts";
import { runByKeys } from "./run-by-keys.ts";
import { Showcase, shell } from "./showcase.ts";

const HOSTILE = "<img src=x onerror=document.title='broken'>";
const FIRST_LOAD_BYTES = 150_000;
const FIRST_LOAD_REQUESTS = 40;

describe("the pages", function () {
  this.timeout(120_000);
  let showcase: Showcase;
  let page: Page;

  before(async () => {
    showcase = await Showcase.start();
    await showcase.fill();
    page = await showcase.page();
  });

  after(() => showcase?.end());

  afterEach(() => {
    expect(showcase.problems.splice(0), "errors of the page").to.deep.equal([]);
  });

  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  const dialog = () => page.getByRole("dialog");

  for (const part of [0, 1, 2]) {
    it(`open without a violation of the policy, and are accessible in both themes (${part + 1} of 3)`, async () => {
      const found: string[] = [];
      const left = showcase.pages().filter((_, at) => at % 3 === part);
      const look = async (at: Page) => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const [name, address] = next;
          await at.emulateMedia({ colorScheme: "light" });
          await at.goto(address);
          await showcase.settled(at);
          if (name !== "no-page") {
            expect(await at.locator("main [role=alert]").allInnerTexts(), `problems of ${address}`).to.deep.equal([]);
          }
          found.push(...(await seriousProblems(at)).map((problem) => `${name}: ${problem}`));
          await at.emulateMedia({ colorScheme: "dark" });
          // The other rules do not depend on colours.
          found.push(...(await seriousProblems(at, ["color-contrast"])).map((problem) => `${name}, dark: ${problem}`));
        }
      };
      const second = await page.context().newPage();
      second.setDefaultTimeout(20_000);
      showcase.watch(second);
      await Promise.all([page, second].map(look));
      await second.close();
      expect(found).to.deep.equal([]);
      await page.emulateMedia({ colorScheme: null });
    });
  }

  it("load within 150 kB and few requests at first", async () => {
    const fresh = await showcase.page("maria");
    const storageState = await fresh.context().storageState();
    for (const address of ["/", `/runs/${showcase.runs.success}`]) {
      // A context of its own has nothing in its cache.
      const context = await showcase.browser.newContext({ baseURL: showcase.origin, storageState });
      const cold = await context.newPage();
      const responses: Response[] = [];
      cold.on("response", (response) => responses.push(response));
      await cold.goto(address);
      await showcase.settled(cold);
      await cold.waitForLoadState("networkidle");
      const sizes = await Promise.all(responses.map((response) => response.request().sizes()));
      const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
      expect(bytes, `bytes of ${address}`).to.be.within(10_000, FIRST_LOAD_BYTES);
      expect(responses.length, `requests of ${address}`).to.be.below(FIRST_LOAD_REQUESTS);
      expect(responses.filter((one) => !one.url().startsWith(showcase.origin))).to.deep.equal([]);
      await context.close();
    }
    await fresh.context().close();
  });

  it("compare a failed run with the last success, down to the lines of the step that failed", async () => {
    const { failed, success } = showcase.runs;
    await page.goto(`/runs/${failed}`);
    await page.getByRole("link", { name: "Compare" }).waitFor();
    await page.keyboard.press("c");
    await page.waitForURL(`**/runs/${failed}/compare/${success}`);
    const runs = page.getByRole("table", { name: "Runs" });
    await runs.waitFor();
    expect(await runs.getByRole("row").allInnerTexts()).to.satisfy((rows: string[]) =>
      rows.some((text) => /Variable broken\s+yes\s+–/.test(text)),
    );
    await page.getByRole("link", { name: "counts the price" }).waitFor();
    await page.getByText("Both runs have the same revision").waitFor();
    const jobs = page.getByRole("table", { name: "Jobs and steps" });
    expect(await jobs.getByRole("row").filter({ hasText: "units" }).innerText()).to.match(/0 → 1/);
    const log = page.getByRole("table", { name: /different line/ });
    await log.getByText("::error title=cart::expected 12 but got 11").waitFor();
    // The line with the time of day differs in each run, and counts as equal.
    await page.getByRole("button", { name: /Show \d+ equal lines/ }).click();
    await log.getByText("test 15 of the cart has passed").first().waitFor();
    expect(await log.locator("[data-kind=varies], [data-kind=same]").count()).to.be.above(25);
    await page.keyboard.press("s");
    await page.waitForURL(`**/runs/${success}/compare/${failed}`);
    await page.goto(`/runs/${success}/compare`);
    await page.getByText("No run to compare with").waitFor();
  });

  it("hold the secrets of a pipeline, and show what starts it", async () => {
    const base = `/pipelines/${showcase.pipelineId}`;
    await page.goto(`${base}/secrets`);
    await page.getByRole("button", { name: "Set a secret" }).first().click();
    await dialog().getByLabel("Name").fill("SHOP_KEY");
    await dialog().getByLabel("Value").fill("the-value-of-the-shop");
    await dialog().getByRole("button", { name: "Set", exact: true }).click();
    await row("SHOP_KEY").waitFor();
    await row("SHOP_KEY").getByRole("button", { name: "Delete" }).click();
    await dialog().getByRole("button", { name: "Delete" }).click();
    await row("SHOP_KEY").waitFor({ state: "detached" });
    await page.goto(base);
    const starts = page.getByRole("table", { name: "What starts it" });
    await starts.getByText("Users and programs").waitFor();
    await starts.getByText("release at generic").waitFor();
    await starts.getByText("30 2 * * *").waitFor();
    await starts.getByRole("button", { name: "Pause" }).click();
    await starts.getByText("Paused", { exact: true }).waitFor();
    await starts.getByRole("button", { name: "Resume" }).click();
  });

  it("manage a project: members, secrets, variables and settings", async () => {
    const base = `/projects/${showcase.projectId}`;
    await page.goto(`${base}/secrets`);
    await page.getByRole("button", { name: "Set a secret" }).first().click();
    await dialog().getByLabel("Name").fill("DEPLOY_KEY");
    await dialog().getByLabel("Value").fill("the-value-of-the-key");
    await dialog().getByRole("button", { name: "Set", exact: true }).click();
    await row("DEPLOY_KEY").waitFor();
    expect(await page.content()).to.not.include("the-value-of-the-key");
    await row("DEPLOY_KEY").getByRole("button", { name: "Delete" }).click();
    await dialog().getByRole("button", { name: "Delete" }).click();
    await row("DEPLOY_KEY").waitFor({ state: "detached" });

    await page.goto(`${base}/variables`);
    await row("region").getByRole("button", { name: "Change" }).click();
    await dialog().getByLabel("Value").fill("eu-south");
    await dialog().getByRole("button", { name: "Set", exact: true }).click();
    await row("eu-south").waitFor();
    expect((await showcase.call("GET", `${base}/variables/region`)).value).to.equal("eu-south");

    await page.goto(`${base}/members`);
    await page.getByLabel("Role of maria").selectOption("admin");
    await page.getByText("The member has the role").waitFor();
    expect((await showcase.call("GET", `${base}/members/maria`)).role).to.equal("admin");
    await page.getByRole("button", { name: "Add a member" }).click();
    await dialog().getByLabel("Name").fill("a-name-without-a-user");
    await dialog().getByRole("button", { name: "Add" }).click();
    await dialog().getByRole("alert").waitFor();
    await page.keyboard.press("Escape");

    await page.goto(`${base}/settings`);
    await row("log.lines").getByRole("button", { name: "Change" }).click();
    await dialog().getByLabel("Value").fill("150000");
    await dialog().getByRole("button", { name: "Set", exact: true }).click();
    await row("log.lines").getByText("150,000").waitFor();
    const own = (await showcase.call("GET", `${base}/settings`)).settings.filter((one: { own: boolean }) => one.own);
    expect(own.map((one: { name: string }) => one.name)).to.have.members(["log.lines", "retention.runs"]);
    await row("log.lines").getByRole("button", { name: "Inherit" }).click();
    await row("log.lines").getByText("set here").waitFor({ state: "detached" });
  });

  it("show what was sent and received: deliveries with tries, bodies and verdicts", async () => {
    const base = `/projects/${showcase.projectId}`;
    await page.goto(`${base}/webhooks/${showcase.webhookId}`);
    await page
      .getByRole("button", { name: /svc\.pipeline/ })
      .first()
      .click();
    await dialog().getByText(/204/).first().waitFor();
    expect(await dialog().getByRole("heading", { name: "Body" }).count()).to.equal(1);
    await dialog().getByRole("button", { name: "Deliver again" }).click();
    await page.getByText("The delivery is owed again").waitFor();
    await page.goto(`${base}/hooks/${showcase.hookId}`);
    await page.locator("tbody [data-row-link]").first().click();
    await dialog().getByText("refs/heads/main").first().waitFor();
    await dialog()
      .getByText(/No pipeline of the project listens|shop/)
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
  });

  it("invite, disable and enable a user, and make a link for a new password", async () => {
    await page.goto("/admin/users");
    await page.getByRole("button", { name: "Invite a user" }).click();
    await dialog().getByLabel("Name").fill("jan");
    await dialog().getByRole("button", { name: "Invite a user" }).click();
    await dialog()
      .getByText(/\/invitation\?/)
      .waitFor();
    await page.keyboard.press("Escape");
    await row("jan").getByRole("button", { name: "Disable" }).click();
    await dialog().getByRole("button", { name: "Disable" }).click();
    await row("jan").getByRole("button", { name: "Enable" }).click();
    await row("jan").getByRole("button", { name: "Disable" }).waitFor();
    // A service account has no password: a link for a new one would be refused.
    await row("deployer").getByText("Service account").waitFor();
    expect(await row("deployer").getByRole("button").allTextContents()).to.deep.equal(["Change", "Disable"]);
    await row("maria").getByRole("button", { name: "Reset link" }).click();
    await dialog().getByRole("button", { name: "Reset link" }).click();
    await dialog()
      .getByText(/\/reset\?/)
      .waitFor();
    await page.keyboard.press("Escape");
    await page.goto("/admin/audit?operation=invite");
    await row("invite").getByText("Done").first().waitFor();
    const exported = await page.request.get("/api/v1/audit/export?operation=invite");
    expect((await exported.text()).trim().split("\n")).to.have.length(2);
  });

  it("make teams and service accounts, show a token once, and take rights back", () =>
    teamsAndAccounts(showcase, page));

  it("add an agent by a token that is shown once, and take the token back", () => addAgent(showcase, page));

  it("push a package of a plugin, and show what is wrong with another one", async () => {
    await page.goto("/plugins");
    await page.getByRole("button", { name: "Push a package" }).click();
    const file = dialog().getByLabel("Package");
    await file.setInputFiles({ name: "bad.tgz", mimeType: "application/gzip", buffer: Buffer.from("no package") });
    await dialog().getByRole("button", { name: "Push" }).click();
    await dialog().getByRole("alert").waitFor();
    const buffer = Buffer.from(await packageOf("1.3.0"));
    await file.setInputFiles({ name: "greet.tgz", mimeType: "application/gzip", buffer });
    await dialog().getByRole("button", { name: "Push" }).click();
    await page.waitForURL("**/plugins/team/greet");
    await page.getByText("team/greet@1.3.0 can be used now").waitFor();
    await row("1.3.0").first().waitFor();
    const args = page.getByRole("table", { name: "Arguments of greet" });
    expect(await args.getByRole("row").nth(1).innerText()).to.match(/to\s+required\s+string/);
    await args.getByText("integer, 1 or more").waitFor();
  });

  it("let a user choose what is told by e-mail, once the account has an address", async () => {
    const other = await showcase.page("maria");
    await other.goto("/me");
    await other.getByText("Nothing is sent to m@shop.example").waitFor();
    await other.getByRole("button", { name: "Tell me about a project" }).click();
    const form = other.getByRole("dialog");
    await form.getByLabel("Project").selectOption({ label: "Web shop" });
    await form.getByLabel("A run waits for long").check();
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").waitFor();
    await form.getByLabel("Waits longer than").fill("30m");
    await form.getByRole("button", { name: "Save" }).click();
    const choices = other.getByRole("table", { name: "E-mail about runs" });
    await choices.getByText("failure, waiting (30m)").waitFor();
    await choices.getByRole("button", { name: "Delete" }).click();
    await other.getByText("Nothing is sent to m@shop.example").waitFor();
    await other.context().close();
    await page.goto("/me");
    await page.getByText("Your account has no e-mail address").waitFor();
  });

  it("offer a reader what the roles permit, and say so elsewhere", async () => {
    const other = await showcase.page("maria");
    await other.getByRole("link", { name: "Projects" }).waitFor();
    expect(await other.getByRole("link", { name: "Cluster" }).count()).to.equal(0);
    for (const address of ["/admin/users", "/projects/default/secrets", "/projects/default/accounts"]) {
      await other.goto(address);
      await other.getByText("Your role does not permit this part.").waitFor();
    }
    await other.goto("/cluster");
    await other.getByText("You may not see this").waitFor();
    await other.goto("/projects/prj_nothing");
    await other.getByText("This is not here").waitFor();
    await other.context().close();
  });

  it("are dimmed behind a dialog up to their edge", async () => {
    await page.goto("/me");
    await page.getByRole("button", { name: "Log out" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    const { width, height } = page.viewportSize()!;
    const pixelAt = async (x: number) =>
      (await page.screenshot({ clip: { x, y: height - 10, width: 1, height: 1 } })).toString("base64");
    expect(await pixelAt(width - 1)).to.equal(await pixelAt(width - 40));
    await page.keyboard.press("Escape");
  });

  it("lead to every place also on a narrow page", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto("/runs");
    await showcase.settled(page);
    await page.getByRole("button", { name: "All places" }).click();
    expect(await seriousProblems(page)).to.deep.equal([]);
    const names = await dialog().getByRole("link").allInnerTexts();
    expect(names.map((name) => name.split("\n")[0])).to.include.members(["Projects", "Plugins", "Cluster", "Account"]);
    await dialog().getByRole("link", { name: "Cluster" }).click();
    await page.waitForURL("**/cluster");
    await dialog().waitFor({ state: "detached" });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("keep a filter under a name, in the list and in the palette", async () => {
    await page.goto("/runs?status=success");
    await page.getByRole("button", { name: "Save the filter" }).click();
    await dialog().getByLabel("Name").fill("Good ones");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Good ones" }).waitFor();
    await page.goto("/agents");
    await showcase.settled(page);
    await page.keyboard.press("Control+k");
    await page.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.type("good ones");
    await page.getByRole("option", { name: /Good ones/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/runs?status=success");
    await page.getByRole("button", { name: "Forget the filter Good ones" }).click();
    await page.getByRole("link", { name: "Good ones" }).waitFor({ state: "detached" });
  });

  it("show hostile names, values and files as text", async () => {
    const { projectId } = await showcase.call("POST", "/projects", { name: HOSTILE, description: HOSTILE });
    await showcase.call("PUT", `/projects/${projectId}/variables/evil`, { value: HOSTILE });
    const { pipelineId } = await showcase.call("POST", "/pipelines", { name: HOSTILE, projectId });
    const file = "<img src=x onerror=alert(1)>.html";
    const spec = {
      jobs: [
        {
          name: "keep",
          steps: [
            shell("write", `mkdir out; echo '<script>1</script>' > "out/${file}"; printf 'a\\033[2Jb\\n'`, {
              artifacts: [{ name: "evil", paths: ["out"] }],
            }),
          ],
        },
      ],
    };
    await showcase.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec, commitMessage: HOSTILE });
    const first = await showcase.trigger(pipelineId, { evil: HOSTILE });
    const second = await showcase.trigger(pipelineId);
    await Promise.all([first, second].map((runId) => showcase.waitFor(runId, "success")));
    for (const address of [
      `/projects/${projectId}`,
      `/projects/${projectId}/variables`,
      "/projects",
      `/pipelines/${pipelineId}`,
      `/runs/${first}/compare/${second}`,
      "/admin/audit",
    ]) {
      await page.goto(address);
      await showcase.settled(page);
      await page.locator("main").getByText(HOSTILE).first().waitFor();
      expect(await page.locator("main img").count(), address).to.equal(0);
      expect(await page.title()).to.not.equal("broken");
    }
    await page.goto(`/runs/${first}?view=artifacts`);
    await page.getByRole("button", { name: "Files" }).click();
    await page.getByText(file).waitFor();
    expect(await page.locator("main img").count()).to.equal(0);
    const { list } = await showcase.call("GET", `/pipelines/runs/${first}/artifacts`);
    const content = await page.request.get(
      `/api/v1/pipelines/runs/${first}/artifacts/${list[0].artifactId}/content/out/${encodeURIComponent(file)}`,
    );
    expect(content.status()).to.equal(200);
    expect(content.headers()["content-security-policy"]).to.include("sandbox");
    expect(content.headers()["content-disposition"]).to.match(/^attachment/);
    await showcase.call("DELETE", `/projects/${projectId}?force=true`);
  });

  it("lead from the login over the editor to the repeat of a run with a failed test, by keyboard alone", () =>
    runByKeys(showcase));

  it("stop several runs of a list at once, and start them again", () => severalAtOnce(showcase, page));

  it("replay a run while its place is dragged", () => dragReplay(showcase, page));

  it("move nothing for a reader who wants reduced motion", () => reducedMotion(showcase, page));

  it("show the table of a run and a log on a page of 360 px", () => narrowRun(showcase, page));

  it("have single keys, which can be switched off", () => singleKeys(showcase, page));

  it("go on after the network was away, and keep the rest when a part fails", () => offlineAndBack(showcase, page));

  it("pause, resume and reject a run, and show its artifacts", async () => {
    const { waiting, success } = showcase.runs;
    await page.goto(`/runs/${waiting}`);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator("header").getByText("Paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator("header").getByText("Running", { exact: true }).waitFor();
    await page.locator("[data-approval]").getByRole("button", { name: "Reject" }).click();
    await page.locator("header").getByText("Failed", { exact: true }).waitFor();
    await page.goto(`/runs/${success}?view=artifacts`);
    await page.getByText("site").first().waitFor();
    expect(await page.getByRole("button", { name: "Files" }).count()).to.equal(4);
  });
});
