/** An approval that needs two people, on the pages of the one who has approved it. */
import { expect } from "chai";
import type { Page } from "playwright-core";
import { Showcase, shell } from "./showcase.ts";

describe("an approval that the reader has given, and another has not", function () {
  this.timeout(120_000);
  let showcase: Showcase;
  let page: Page;
  let runId: string;

  before(async () => {
    showcase = await Showcase.start();
    const pipelineId = await showcase.installation.pipeline("two eyes", [
      { name: "ship", approval: { count: 2, message: "Ship it?" }, steps: [shell("ship", "echo ok")] },
    ]);
    runId = await showcase.trigger(pipelineId);
    page = await showcase.page();
  });

  after(() => showcase?.end());

  const button = (name: string) => page.locator("main").getByRole("button", { name, exact: true });

  it("waits for the reader no more, who may still reject it", async () => {
    await page.goto(`/runs/${runId}`);
    await button("Approve").click();
    await page.getByText("olga has approved. 1 approval missing").waitFor();
    await button("Approve").waitFor({ state: "detached" });
    expect(await button("Reject").count()).to.equal(1);
    const approvals = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /^Approvals/ });
    await approvals.and(page.getByRole("link", { name: "Approvals", exact: true })).waitFor();
    await approvals.click();
    await page.getByText("approved by olga · 1 approval missing").waitFor();
    expect([await button("Approve").count(), await button("Reject").count()]).to.deep.equal([0, 1]);
    await page.goto("/");
    await page.getByRole("heading", { name: "Running and waiting" }).waitFor();
    expect(await page.getByRole("heading", { name: "Waiting for your approval" }).count()).to.equal(0);
  });
});
