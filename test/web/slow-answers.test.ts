/** What the pages show while the server answers slowly, or answers a part of what a page asks for with an error. */
import { expect } from "chai";
import type { Page } from "playwright-core";
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
});
