/** The pages of a run and of a log in a real browser, on the real program. */
import { join } from "node:path";
import { expect } from "chai";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { seriousProblems } from "../support/accessibility.ts";
import { startBrowser } from "../support/browser-program.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const PASSWORD = "correct horse battery";
const HOSTILE = "<img src=x onerror=document.title='broken'>";

const shell = (name: string, script: string) => ({ name, uses: "shell", args: { script } });

describe("the pages of a run", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const problems: string[] = [];

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "node"));
    await installation.agent("one");
    await installation.call("POST", "/users", { name: "olga", role: "operator", password: PASSWORD });
    browser = await startBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, baseURL: origin() });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/i.test(message.text())) problems.push(message.text());
    });
    await page.goto("/login?next=/runs");
    await page.fill("[name=name]", "olga");
    await page.fill("[name=password]", PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(({ pathname }) => pathname === "/runs");
  });

  after(async () => {
    await browser?.close();
    await world?.end();
  });

  afterEach(() => {
    expect(problems.splice(0), "errors of the page").to.deep.equal([]);
  });

  const origin = (): string => `http://${installation.node.http}`;

  async function trigger(name: string, jobs: readonly object[]): Promise<string> {
    const pipelineId = await installation.pipeline(name, jobs);
    const { body } = await installation.call("POST", `/pipelines/${pipelineId}/trigger`, {});
    return body.detail.runId as string;
  }

  async function run(runId: string) {
    return (await installation.call("GET", `/pipelines/runs/${runId}`)).body.detail;
  }

  const status = (word: string) => page.locator("header").getByText(word, { exact: true });

  it("follow a run from its wait to its end, and repeat it, by keyboard alone", async () => {
    const runId = await trigger("gated", [
      { name: "prepare", steps: [shell("copy", "echo copied")] },
      { name: "ship", needs: ["prepare"], approval: { message: "Ship it?" }, steps: [shell("send", "echo sent")] },
    ]);
    await page.goto(`/runs/${runId}`);
    await page.getByText("ship waits for approval").waitFor();
    await page.getByRole("button", { name: "Why?" }).click();
    await page.getByRole("region", { name: "Why nothing runs" }).waitFor();
    await page.keyboard.press("a");
    await page.keyboard.type("looks good");
    await page.keyboard.press("Enter");
    await status("Success").waitFor();
    expect(await page.getByRole("region", { name: "Why nothing runs" }).count(), "reasons of an ended run").to.equal(0);
    const { approvals } = (await installation.call("GET", `/pipelines/runs/${runId}/approvals`)).body.detail.list[0];
    expect(approvals[0]).to.include({ name: "olga", comment: "looks good" });

    for (const [key, view] of [
      ["2", "table"],
      ["3", "waterfall"],
      ["4", "timeline"],
      ["5", "tests"],
      ["6", "artifacts"],
    ]) {
      await page.keyboard.press(key!);
      await page.waitForURL(`**/runs/${runId}?view=${view}`);
    }
    await page.keyboard.press("r");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Tab");
    await page.getByRole("dialog").getByRole("button", { name: "Run again" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname.startsWith("/runs/run_") && !url.pathname.endsWith(runId));
    await page.getByText("ship waits for approval").waitFor();
    const again = page.url().split("/").at(-1)!;
    expect((await run(again)).retryOf).to.equal(runId);
    await page.keyboard.press("x");
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).press("Enter");
    await status("Cancelled").waitFor();
  });

  it("say why a job waits: the failing clause, the agents, and the nearest one", async () => {
    const runId = await trigger("waits", [
      { name: "train", agentSelector: { matchLabels: { gpu: "yes" } }, steps: [shell("train", "echo")] },
    ]);
    await page.goto(`/runs/${runId}`);
    await page.getByRole("button", { name: "Why?" }).click();
    const panel = page.getByRole("region", { name: "Why nothing runs" });
    await panel.getByText("Nearest agent").waitFor();
    expect(await panel.innerText()).to.match(/gpu=yes.*1 agent fails it/s);
    await installation.call("POST", `/pipelines/${(await run(runId)).pipelineId}/runs/${runId}/stop`, {});
  });

  it("show hostile names, lines, annotations and summaries as text, accessible in both themes", async () => {
    const script = [
      `echo "${HOSTILE}"`,
      `printf '\\033]0;title\\007\\033[31mred\\033[0m\\n'`,
      `echo "::error title=${HOSTILE}::${HOSTILE}"`,
      `echo "${HOSTILE} <script>document.title='broken'</script>" >> "$MILLRACE_SUMMARY"`,
      "exit 3",
    ].join("\n");
    const runId = await trigger("hostile", [
      { name: "bad", steps: [shell(HOSTILE, script)] },
      { name: "cells", matrix: { axes: { of: ["1", "2", "3"] } }, steps: [shell("run", "echo")] },
    ]);
    await page.goto(`/runs/${runId}`);
    await status("Failed").waitFor();
    await page.getByRole("region", { name: "Summaries" }).waitFor();
    expect(await page.locator("main img").count()).to.equal(0);
    expect(await page.title()).to.not.include("broken");
    await page.keyboard.press("f");
    await page.locator("[data-line='3']").getByText("Error: ").first().waitFor();
    const lines = await page.locator("[data-line]").allInnerTexts();
    expect(lines.map((text) => text.replace(/^\d+\s*/, ""))).to.deep.equal([HOSTILE, "red", `Error: ${HOSTILE}`]);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousProblems(page), colorScheme).to.deep.equal([]);
    }
    await page.emulateMedia({ colorScheme: null });
  });

  it("show 1,000 jobs in fewer than 3,000 nodes, in each view", async () => {
    const jobs = Array.from({ length: 1_000 }, (_, at) => ({
      name: `job ${at}`,
      agentSelector: { matchLabels: { gpu: "yes" } },
      steps: [shell("run", "echo")],
    }));
    const runId = await trigger("thousand", jobs);
    await page.goto(`/runs/${runId}`);
    await page.locator("main [data-status=queued]").first().waitFor();
    for (const view of ["graph", "table", "waterfall", "timeline"]) {
      if (view !== "graph") await page.getByRole("link", { name: new RegExp(view, "i") }).click();
      await page.waitForTimeout(300);
      expect(await page.evaluate("document.querySelectorAll('*').length"), view).to.be.below(3_000);
    }
    await installation.call("POST", `/pipelines/${(await run(runId)).pipelineId}/runs/${runId}/stop`, {});
  });

  it("open a long log at its end, search all of it, and link to its lines", async () => {
    const runId = await trigger("long", [{ name: "count", steps: [shell("seq", "seq -f 'line %.0f' 1 20000")] }]);
    await page.goto(`/runs/${runId}`);
    await status("Success").waitFor();
    const { stepRunId } = (await run(runId)).jobs[0].steps[0];
    await page.goto(`/runs/${runId}/steps/${stepRunId}`);
    await page.locator("[data-line='20000']").getByText("line 20000", { exact: true }).waitFor();
    await page.keyboard.press("Control+f");
    await page.keyboard.type("line 11234");
    await page.locator("[data-line='11234'][data-current='true'] mark").waitFor();
    await page.goto(`/runs/${runId}/steps/${stepRunId}#L7000-L7002`);
    const linked = page.locator("[data-line='7001'][data-chosen='true']").getByText("line 7001");
    await linked.waitFor();
    await page.goto(`/runs/${runId}/steps/${stepRunId}#L3`);
    await page.locator("[data-line='3'][data-chosen='true']").waitFor();
    await page.goBack();
    await linked.waitFor();
    await page.reload();
    await linked.waitFor();
    expect(await page.locator("[data-line]").count()).to.be.below(200);
  });

  it("show each line of a live log once, although the node is killed meanwhile", async () => {
    const script = "for i in $(seq 1 60); do echo live $i; sleep 0.1; done";
    const runId = await trigger("live", [{ name: "talk", steps: [shell("say", script)] }]);
    await page.goto(`/runs/${runId}`);
    await page.locator("main [data-status=running]").first().waitFor();
    const { stepRunId } = (await run(runId)).jobs[0].steps[0];
    await page.goto(`/runs/${runId}/steps/${stepRunId}`);
    await page.locator("[data-line='5']").waitFor();
    const address = installation.node.http!;
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(join(world.folder, "node"), { MILLRACE_HTTP_ADDRESS: address });
    await page.locator("[data-line='60']").getByText("live 60", { exact: true }).waitFor({ timeout: 40_000 });
    const path = `/pipelines/${(await run(runId)).pipelineId}/runs/${runId}/steps/${stepRunId}/logs?limit=1000`;
    const stored = (await installation.call("GET", path)).body.detail.list.map(
      (entry: { readonly line_number: number; readonly content: string }) => `${entry.line_number} ${entry.content}`,
    );
    const region = page.getByRole("region", { name: "60 lines" });
    const seen = new Set<string>();
    // On a busy machine a place to which the page is scrolled may show its lines only the next time.
    await until("each place showed its lines", async () => {
      for (const top of [0, 300, 600, 900]) {
        await region.evaluate((element, to) => void (element.scrollTop = to), top);
        await page.waitForTimeout(150);
        for (const text of await page.locator("[data-line]").allInnerTexts()) seen.add(text.replace(/\s+/, " "));
      }
      return seen.size >= stored.length;
    });
    const byLine = [...seen].toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    expect(byLine).to.deep.equal(stored);
    expect(stored).to.have.length(60);
  });
});
