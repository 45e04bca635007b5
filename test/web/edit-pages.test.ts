/** The login by token, the editor of definitions and the trigger in a real browser, on the real program. */
import { join } from "node:path";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { seriousProblems } from "../support/accessibility.ts";
import { startBrowser } from "../support/browser-program.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";

const FIRST = `# what we build
jobs:
  - name: build   # the only one
    steps:
      - uses: shell
        args: { script: echo one }
`;

describe("the pages that change a pipeline", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let browser: Browser;
  let page: Page;
  let token = "";
  const problems: string[] = [];

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "node"));
    await installation.agent("one");
    browser = await startBrowser();
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      baseURL: `http://${installation.node.http}`,
    });
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/i.test(message.text())) problems.push(message.text());
    });
    token = await newToken();
  });

  after(async () => {
    await browser?.close();
    await world?.end();
  });

  afterEach(() => {
    expect(problems.splice(0), "errors of the page").to.deep.equal([]);
  });

  const call = async (method: string, path: string, body?: object) =>
    (await installation.call(method, path, body)).body.detail;
  const newToken = async (): Promise<string> => (await call("POST", "/users/me/tokens", { name: "page" })).token;
  const enterToken = async (text: string): Promise<void> => {
    await page.fill("[name=token]", text);
    await page.keyboard.press("Enter");
  };
  const editor = () => page.locator("[data-editor] .cm-content");
  const write = async (text: string): Promise<void> => {
    await editor().click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(text);
  };
  const save = async (message: string): Promise<void> => {
    await page.keyboard.press("Control+s");
    await page.getByRole("dialog").getByLabel("What the change is for").fill(message);
    await page.keyboard.press("Enter");
  };
  const head = (pipelineId: string) => call("GET", `/pipelines/${pipelineId}/spec`);
  let pipelineId = "";

  it("lead a newcomer with a token from the login to the end of the first run", async () => {
    await page.goto("/");
    await page.waitForURL("**/login?next=%2F");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousProblems(page), colorScheme).to.deep.equal([]);
    }
    await page.emulateMedia({ colorScheme: null });
    expect(await page.locator(":focus").getAttribute("name"), "an administrator has a token at first").to.equal(
      "token",
    );
    await enterToken("wrong");
    await page.getByText("the token is unknown").waitFor();
    await page.fill("[name=token]", token);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === "/");
    await page.getByRole("link", { name: "Make the first pipeline" }).click();
    await page.getByLabel("Name").fill("First");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/trigger");
    await page.getByText("2 jobs, 2 steps").waitFor();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL("**/runs/run_*");
    await page.locator("header").getByText("Success", { exact: true }).waitFor();
  });

  it("say what the next run has otherwise than the last one, who can take its jobs, and which secret is missing", async () => {
    const jobs = [
      {
        name: "greet",
        steps: [{ name: "say", uses: "shell", env: { T: "${{ secrets.deploy }}" }, args: { script: "echo hello" } }],
      },
    ];
    const triggers = { manual: { inputs: { who: { default: "you" } } } };
    const { pipelineId: id } = await call("POST", "/pipelines", { name: "Compared" });
    await call("POST", `/pipelines/${id}/spec/save`, { spec: { triggers, jobs } });
    await call("PUT", `/pipelines/${id}/secrets/deploy`, { value: "a secret" });
    await call("POST", `/pipelines/${id}/trigger`, { variables: { who: "olga" } });
    await call("DELETE", `/pipelines/${id}/secrets/deploy`);
    await page.goto(`/pipelines/${id}/trigger`);
    const last = page.getByRole("region", { name: "Against the last run" });
    await last.getByText("was olga").waitFor();
    expect(await last.innerText()).to.match(/who you was olga/);
    await page.getByLabel("who").fill("olga");
    await last.getByText("are those of the last run").waitFor();
    await call("POST", `/pipelines/${id}/spec/save`, { spec: { triggers, jobs, description: "changed" } });
    await page.reload();
    await last.getByText("The definition has changed since").waitFor();
    const plan = page.getByRole("region", { name: "What will run" });
    await plan.getByText("Missing secrets: deploy").waitFor();
    expect(await plan.innerText()).to.match(/1 agent matches: \S+/);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousProblems(page), colorScheme).to.deep.equal([]);
    }
    await page.emulateMedia({ colorScheme: null });
  });

  it("show each problem at its place as one types, suggest keys, plan, and save the text as it was typed", async () => {
    await page.goto("/pipelines/new");
    await page.getByLabel("Name").fill("Edited");
    await page.getByRole("button", { name: "Create and write the definition" }).click();
    await page.waitForURL("**/edit");
    pipelineId = new URL(page.url()).pathname.split("/")[2]!;
    await page.getByText("No problem", { exact: true }).waitFor();
    await page.getByText("2 jobs, 2 steps").waitFor();

    await write(FIRST.replace("uses: shell", "uses: shell\n        tiemout: 3s"));
    await page.getByRole("button", { name: /6:9 .*tiemout/ }).waitFor();
    await page.locator("[data-editor] .cm-lintRange-error", { hasText: "tiemout" }).waitFor();
    await write("jobs: [\n");
    await page
      .getByRole("button", { name: /^Error/ })
      .first()
      .waitFor();
    await write(`${FIRST}    ti`);
    await page.keyboard.press("Control+Space");
    await page.getByRole("option", { name: "timeout", exact: false }).first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousProblems(page), colorScheme).to.deep.equal([]);
    }
    await page.emulateMedia({ colorScheme: null });
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect(await page.evaluate("document.activeElement.tagName"), "Esc leaves the editor").to.equal("BUTTON");

    await write(FIRST);
    await page.getByText("No problem", { exact: true }).waitFor();
    await save("the first");
    await page.getByText("The definition is saved").last().waitFor();
    expect(await head(pipelineId)).to.include({ text: FIRST, commitMessage: "the first" });
  });

  it("ask before changes are left, and keep them over the end of the session", async () => {
    const typed = FIRST.replace("echo one", "echo typed");
    await write(typed);
    let asked = 0;
    page.once("dialog", (dialog) => {
      asked++;
      void dialog.dismiss();
    });
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    expect(asked).to.equal(1);
    expect(page.url()).to.include("/edit");
    // The page before was opened in this tab, so the way back leaves no page of the browser.
    const address = page.url();
    await page.evaluate("history.pushState(null, '', '/runs'), dispatchEvent(new PopStateEvent('popstate'))");
    await page.getByText("This tab keeps it").waitFor();
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(address)}), dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByText("This text was not saved").waitFor();
    await page.locator("[data-editor]").getByText("echo typed").waitFor();
    const { list } = await call("GET", "/users/me/tokens");
    for (const { tokenId, name } of list) if (name === "page") await call("DELETE", `/users/me/tokens/${tokenId}`);
    await editor().click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText("# more\n");
    await page.getByText("Your session has ended. Your text is kept").waitFor();
    await page.getByRole("region", { name: "Problems" }).getByText("Your session has ended: log in again").waitFor();
    await page.keyboard.insertText("# and more\n");
    await page.getByRole("button", { name: "Log in again" }).click();
    await page.waitForURL("**/login?next=*");
    await enterToken(await newToken());
    await page.waitForURL("**/edit");
    await page.getByText("This text was not saved").waitFor();
    await save("after the login");
    await page.getByText("The definition is saved").last().waitFor();
    expect((await head(pipelineId)).text).to.equal(`${typed}# more\n# and more\n`);
  });

  it("show what another has saved meanwhile, and take it over into the text", async () => {
    const before = (await head(pipelineId)).text as string;
    await write(`${before}# mine\n`);
    const theirs = before.replace("# what we build", "# what they build");
    const { spec } = await head(pipelineId);
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec, layout: theirs, commitMessage: "theirs" });
    await save("mine");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("+# what they build").waitFor();
    await dialog.getByRole("button", { name: "Take over" }).click();
    await save("both");
    await page.getByText("The definition is saved").last().waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await head(pipelineId)).text).to.equal(`${theirs}# mine\n`);
  });

  it("restore an earlier revision from the history", async () => {
    await page.getByRole("button", { name: "History" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /the first/ }).click();
    await dialog.getByText("+# what we build").waitFor();
    await dialog.getByRole("button", { name: "Restore" }).click();
    await page.getByText("The revision is restored").waitFor();
    expect((await head(pipelineId)).text).to.equal(FIRST);
    await page.locator("[data-editor]").getByText("echo one").waitFor();
  });

  it("load the editor apart, and little besides", async () => {
    const bytes = async (path: string): Promise<{ readonly bytes: number; readonly names: readonly string[] }> => {
      const context = await browser.newContext({
        baseURL: `http://${installation.node.http}`,
        storageState: await page.context().storageState(),
      });
      const fresh = await context.newPage();
      const sizes: (readonly [string, number])[] = [];
      fresh.on("requestfinished", async (request) => {
        const { responseBodySize } = await request.sizes();
        sizes.push([new URL(request.url()).pathname, responseBodySize]);
      });
      await fresh.goto(path, { waitUntil: "networkidle" });
      await context.close();
      const files = sizes.filter(([name]) => !name.startsWith("/api/"));
      return { bytes: files.reduce((sum, [, size]) => sum + size, 0), names: files.map(([name]) => name) };
    };
    const home = await bytes("/");
    expect(home.bytes, home.names.join()).to.be.within(20_000, 150_000);
    expect(home.names.join()).not.to.include("edit-page");
    const edit = await bytes(`/pipelines/${pipelineId}/edit`);
    expect(edit.names.join()).to.include("edit-page");
  });
});
