/** What the pages show while the server answers slowly, or answers a part of what a page asks for with an error. */
import { expect } from "chai";
import type { Page, Route } from "playwright-core";
import { Showcase, shell } from "./showcase.ts";

const LONG = "deploy-of-everything-".repeat(9);

describe("a page whose answers are slow or missing", function () {
  this.timeout(120_000);
  let showcase: Showcase;
  let page: Page;
  let pipelineId: string;
  let runId: string;

  before(async () => {
    showcase = await Showcase.start();
    ({ pipelineId } = await showcase.call("POST", "/pipelines", { name: "long names" }));
    const spec = { jobs: [{ name: LONG, steps: [shell("step", "exit 1")] }] };
    await showcase.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec, format: "json" });
    ({ runId } = await showcase.call("POST", `/pipelines/${pipelineId}/trigger`, {}));
    page = await showcase.page();
  });

  after(() => showcase?.end());

  afterEach(async () => {
    await page.unrouteAll();
    expect(showcase.problems.splice(0), "errors of the page").to.deep.equal([]);
  });

  const loading = () => page.getByRole("status", { name: "Loading" });

  it("says that it loads while the server does not say who the reader is", async () => {
    await page.route("**/api/v1/whoami", () => {});
    await page.goto("/runs");
    await loading().waitFor();
    const { x } = (await loading().boundingBox())!;
    expect(x).to.be.greaterThan(8);
  });

  it("shows the head of a run whose jobs are still on their way, and then the jobs", async () => {
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    await page.routeWebSocket("**/api/v1/ws", (socket) => {
      const server = socket.connectToServer();
      server.onMessage(async (message) => {
        if (String(message).includes('"snapshotDone"')) await held;
        socket.send(message);
      });
    });
    await page.goto(`/runs/${runId}`);
    await page.getByRole("heading", { level: 1, name: /^Run / }).waitFor();
    await page.locator("header").getByText("Failed", { exact: true }).waitFor();
    await loading().waitFor();
    expect(await page.getByText("This run has no jobs yet").count()).to.equal(0);
    letGo();
    await page.getByRole("region", { name: "What failed" }).waitFor();
    await loading().waitFor({ state: "detached" });
  });

  it("has a margin around what loads, and a heading above it", async () => {
    await page.route(`**/api/v1/pipelines/${pipelineId}`, () => {});
    await page.goto(`/pipelines/${pipelineId}/edit`);
    expect(await page.locator("main h1").innerText()).to.include("Edit");
    await loading().waitFor();
    const main = (await page.locator("main").boundingBox())!;
    expect((await loading().boundingBox())!.x - main.x).to.be.greaterThan(8);
  });

  it("of a run leads to the pipeline also when the name of the pipeline cannot be read", async () => {
    await page.route(`**/api/v1/pipelines/${pipelineId}`, (route) => route.abort());
    await page.goto(`/runs/${runId}`);
    const link = page.locator("main").getByRole("link", { name: "Pipeline", exact: true });
    await link.waitFor();
    expect(await link.innerText()).to.equal("Pipeline");
  });

  it("breaks the long name of a job that has failed beside its mark", async () => {
    await page.goto(`/runs/${runId}`);
    const item = page.getByRole("region", { name: "What failed" }).getByRole("listitem").first();
    const name = (await item.getByRole("link").first().boundingBox())!;
    const mark = (await item.locator("svg").first().boundingBox())!;
    expect(name.y).to.be.below(mark.y + mark.height);
    expect(name.x).to.be.greaterThan(mark.x + mark.width - 1);
  });

  const calls = async (pattern: string, answer: (route: Route) => unknown) => {
    const made: string[] = [];
    await page.route(pattern, (route) => {
      made.push(route.request().postData() ?? "");
      return answer(route);
    });
    return made;
  };

  it("starts one run, and makes one pipeline, however often the button or the key is pressed meanwhile", async () => {
    const triggers = await calls(`**/api/v1/pipelines/${pipelineId}/trigger`, () => {});
    await page.goto(`/pipelines/${pipelineId}/trigger`);
    const start = page.getByRole("button", { name: "Start the run" });
    await start.dblclick();
    await page.keyboard.press("Control+Enter");
    expect(await start.isDisabled()).to.equal(true);
    const made = await calls("**/api/v1/pipelines", (route) =>
      route.request().method() === "GET" ? route.continue() : undefined,
    );
    await page.goto("/pipelines/new");
    await page.getByLabel("Name").fill("twice");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Create the pipeline" }).and(page.locator(":disabled")).waitFor();
    expect([triggers.length, made.filter((body) => body !== "").length]).to.deep.equal([1, 1]);
  });

  it("goes on with the pipeline that it has made when the example could not be saved", async () => {
    let isAway = true;
    await page.route("**/spec/save", (route) => (isAway ? route.abort() : route.continue()));
    await page.goto("/pipelines/new");
    await page.getByLabel("Name").fill("begun");
    await page.getByRole("button", { name: "Create the pipeline" }).click();
    await page.getByRole("status").filter({ hasText: "does not answer" }).waitFor();
    isAway = false;
    await page.getByRole("button", { name: "Create the pipeline" }).click();
    await page.waitForURL(({ pathname }) => /^\/pipelines\/pl_\w+\/trigger$/.test(pathname));
  });

  it("repeats a run once for two presses of Enter in the dialog", async () => {
    const reruns = await calls(`**/api/v1/pipelines/${pipelineId}/runs/${runId}/rerun`, () => {});
    await page.goto(`/runs/${runId}`);
    await page.getByRole("button", { name: "Run again" }).click();
    await page
      .getByRole("dialog")
      .getByRole("radio", { name: /Failed jobs/ })
      .focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Run again" }).and(page.locator(":disabled")).waitFor();
    expect(reruns).to.have.length(1);
  });

  it("tells what has failed inside the dialog that is open, where it can be read and closed", async () => {
    const body = JSON.stringify({
      code: 403,
      errMsg: "olga needs a role",
      path: "",
      timestamp: 1,
      reason: "forbidden",
      errors: [],
    });
    await page.route(`**/runs/${runId}/rerun`, (route) =>
      route.fulfill({ status: 403, contentType: "application/json", body }),
    );
    await page.goto(`/runs/${runId}`);
    await page.getByRole("button", { name: "Run again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Run again" }).click();
    const told = page.getByRole("status").filter({ hasText: "olga needs a role" });
    await told.waitFor();
    expect(await told.count()).to.equal(1);
    await told.getByRole("button", { name: "Close" }).click({ timeout: 2_000 });
    await told.waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Run again" }).click();
    await told.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await told.waitFor();
    expect(await told.count(), "behind the dialog").to.equal(1);
  });
});
