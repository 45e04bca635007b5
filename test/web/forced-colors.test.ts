/** The pages with the colours of the reader in place of their own, as in the contrast themes of Windows. */
import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { Showcase, shell } from "./showcase.ts";

describe("the pages in forced colours", function () {
  this.timeout(120_000);
  let showcase: Showcase;
  let page: Page;
  let runId: string;

  before(async () => {
    showcase = await Showcase.start();
    const pipelineId = await showcase.installation.pipeline("colours", [
      { name: "job", steps: [shell("talk", "seq 1 9")] },
    ]);
    runId = await showcase.trigger(pipelineId);
    page = await showcase.page("olga", { forcedColors: "active" });
  });

  after(() => showcase?.end());

  const colorOf = (of: Locator, name: "background-color" | "outline-style") =>
    of
      .first()
      .evaluate(
        (element, property) => element.ownerDocument.defaultView!.getComputedStyle(element).getPropertyValue(property),
        name,
      );

  it("show how long a job waited and ran", async () => {
    await page.goto(`/runs/${runId}?view=waterfall`);
    await page.locator("header").getByText("Success", { exact: true }).waitFor();
    const bar = page.locator("[data-kind=run][data-status=success]");
    await bar.waitFor();
    const ground = await colorOf(page.locator("html"), "background-color");
    expect(await colorOf(bar, "background-color")).to.not.equal(ground);
  });

  it("mark what is chosen: the view, the filter, the line", async () => {
    const views = page.getByRole("navigation", { name: "Views of the run" });
    const outlines = async (one: Locator, other: Locator) => [
      await colorOf(one, "outline-style"),
      await colorOf(other, "outline-style"),
    ];
    expect(
      await outlines(views.getByRole("link", { name: "Waterfall" }), views.getByRole("link", { name: "Table" })),
    ).to.deep.equal(["solid", "none"]);
    await page.goto("/runs?status=success");
    const filter = (name: string) => page.getByRole("button", { name, exact: true });
    await filter("Success").waitFor();
    expect(await outlines(filter("Success"), filter("Failed"))).to.deep.equal(["solid", "none"]);
    const { jobs } = await showcase.call("GET", `/pipelines/runs/${runId}`);
    await page.goto(`/runs/${runId}/steps/${jobs[0].steps[0].stepRunId}#L4`);
    const line = (n: number) => page.locator(`[data-line='${n}']`);
    await line(4).waitFor();
    expect(await outlines(line(4), line(5))).to.deep.equal(["solid", "none"]);
  });
});
